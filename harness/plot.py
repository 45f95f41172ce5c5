# SPDX-License-Identifier: GPL-2.0-only
"""Plots the figures of bench.py with gnuplot."""
import re
import subprocess
from pathlib import Path

NAMES = [("theirs", "Linux 6.12"), ("ours", "this one")]
SCRIPT = """\
set terminal svg size 800,330 font 'sans,12' background 'white'
set output '{path}'
set logscale x
set format x '10^{{%T}}'
set grid
set xlabel 'probes'
set key top left
set multiplot layout 1,2
set title 'a hit of the oldest, instructions'
set yrange [0:*]
plot {hits}
set title 'registering a batch, instructions each'
set logscale y
set format y '10^{{%T}}'
set yrange [*:*]
set key center right
plot {batches}
"""


def points(figures, pattern):
    """Number of probes and value, for all figures whose name matches."""
    return sorted((int(match[1]), value) for name, value in figures.items()
                  if (match := re.fullmatch(pattern, name)))


def series(found, pattern):
    blocks, data = [], []
    for name, title in NAMES:
        rows = points(found[name], pattern)
        if rows:
            blocks.append(f"'-' with linespoints title \"{title}\"")
            data.append("".join(f"{x} {y}\n" for x, y in rows) + "e\n")
    return ", ".join(blocks) + "\n" + "".join(data)


def tidy(path):
    """Adds a licence and removes trailing white space, as the kernel demands."""
    lines = [line.rstrip() for line in path.read_text().splitlines()]
    lines.insert(1, "<!-- SPDX-License-Identifier: GPL-2.0-only -->")
    path.write_text("\n".join(lines) + "\n")


def draw(path, found):
    # The rounds count the oldest probe as well.
    script = SCRIPT.format(path=path, hits=series(found, r"oldest-(\d+)"),
                           batches=series(found, r"register-(\d*9)"))
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
    tidy(Path(path))
