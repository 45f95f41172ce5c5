# SPDX-License-Identifier: GPL-2.0-only
"""Two kernels to compare: with our kprobes, and with the kernel's own.

Both are built from the same kernel with the same configuration and compiler.
"""
from . import tree
from .build import Build

# These modules use nothing that only our kprobes have.
MODULES = ("kp_bench", "kp_sweep")


def fragment(config):
    """The configuration without tests, which differ between the two kernels."""
    lines = [line for f in config.fragments for line in f.read_text().splitlines(True)]
    path = tree.base() / f"rivals-{config.label.replace(':', '-')}.config"
    path.write_text("".join(line for line in lines if not line.endswith("_TEST=y\n")))
    return path


def builds(config):
    trees = {"ours": tree.cached(), "theirs": tree.pristine()}
    return [(name, Build(f"{config.label}-{name}", source, [fragment(config)], config.arch.name,
                         config.arch.cross, patterns=MODULES, base=config.base, config=config))
            for name, source in trees.items()]
