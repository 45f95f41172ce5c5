# SPDX-License-Identifier: GPL-2.0-only
"""The patches that turn a kernel into the overlaid tree, in an order to review them.

harness/series/list has a line for each patch: the name of the file beside it with the message,
or a patch of patches/ that has its own.  Indented lines below have the contents of the patch:

  PATTERN               our files that match the fnmatch pattern
  FOLDER: PATTERN...    the same for several of a folder
  PATTERN less NAME...  a Kconfig file without these entries, which a later patch adds
  patches/NAME          edits of the kernel's files, by a patch there or in a folder of base/;
                        one that only other bases have is left out
  - PATTERN             deletes files of the kernel

A Makefile grows by itself with later patches: lines about objects whose files are missing yet
are left out. The entry of a test in a Kconfig file comes with the Makefile's line for the test.
"""
import fnmatch
import itertools
import os
import re
import subprocess
import tempfile
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

from . import check, ports, tree, ui
from .build import Build
from .paths import CACHE, HARNESS, REPO, log_file

FOLDER = HARNESS / "series"
COSTS = re.compile(r"^\| \| x86_64 \|.*\n\|[-|]*\n((?:\|.*\n)+)", re.M)


@dataclass
class Entry:
    name: str
    message: str
    takes: list = field(default_factory=list)
    deletes: list = field(default_factory=list)

    @property
    def subject(self):
        return self.message.split("\n", 1)[0]


def message(path):
    """A commit message, without comments before it and a patch behind it."""
    lines = path.read_text().partition("\n--- ")[0].splitlines(True)
    return "".join(line for line in lines if not line.startswith("#")).strip() + "\n"


def patterns(line):
    """Those of an indented line of the list."""
    folder, colon, names = line.partition(": ")
    return [f"{folder}/{name}" for name in names.split()] if colon else [line]


def paths_of_patches():
    return {f"patches/{path.name}": path for path in tree.patches()}


def elsewhere():
    """The names of the files, as in the list, that only other bases have."""
    names = {str(path.relative_to(base)) for base in (REPO / "base").glob("[0-9]*")
             for path in base.rglob("*") if path.is_file()}
    return names - {*tree.our_files(), *paths_of_patches()}


def entries():
    """Those of the list that the kernel of this base needs."""
    found, others, here = [], elsewhere(), paths_of_patches()
    for line in message(FOLDER / "list").splitlines():
        if line.startswith("\t- "):
            found[-1].deletes.append(line.removeprefix("\t- "))
        elif line.startswith("\t"):
            found[-1].takes += [name for name in patterns(line.strip()) if name not in others]
        elif line in others:
            continue
        elif line.startswith("patches/"):
            found.append(Entry(line, message(here[line]), [line]))
        else:
            found.append(Entry(line, message(FOLDER / line)))
    return found


def candidates():
    """All files that must be in some patch."""
    return [*tree.our_files(), "MAINTAINERS", *paths_of_patches()]


def taken(pattern):
    return [name for name in candidates() if fnmatch.fnmatchcase(name, pattern.partition(" less ")[0])]


def problems(series):
    """The errors in the list of patches."""
    found, owner = [], {}
    for entry in series:
        for pattern in entry.takes:
            names = taken(pattern)
            if not names:
                found.append(f"{entry.name}: no file is named {pattern}")
            for name in names if " less " not in pattern else ():
                if name in owner:
                    found.append(f"{name} is in {owner[name]} and in {entry.name}")
                owner[name] = entry.name
        for line in entry.message.splitlines():
            if len(line) > 75:
                found.append(f"{entry.name}: more than 75 columns: {line}")
    messages = {path.name for path in FOLDER.iterdir()} - {"list", "cover"}
    unused = [name for name in candidates() if name not in owner]
    unused += sorted(messages - {entry.name for entry in series})
    return found + [f"{name} is in no patch of harness/series" for name in unused]


# --- files that grow ---

def object_of(word):
    """The object that a word of a Makefile is about: KASAN_SANITIZE_hit.o is about hit.o."""
    return "_".join(itertools.dropwhile(str.isupper, word.split("_"))) if word.endswith(".o") else None


def grown_makefile(text, folder, names, missing):
    """A Makefile without its lines about files of @names that are @missing, and paragraphs of nothing else."""
    def objects(files):
        return {f"{Path(name).stem}.o" for name in files if os.path.dirname(name) == folder}

    ours, late = objects(names), objects(missing)

    def is_late(line):
        about = ours & set(map(object_of, line.split()))
        if 0 < len(about & late) < len(about):
            raise ui.Failure(f"{folder}/Makefile: files of one line come with several patches: {line}")
        return about & late

    paragraphs = []
    for paragraph in text.split("\n\n"):
        kept = "\n".join(line for line in paragraph.split("\n") if not is_late(line))
        if "=" in kept or "=" not in paragraph:
            paragraphs.append(kept)
    return "\n\n".join(paragraphs).rstrip("\n") + "\n"


def without(text, drop):
    """A Kconfig file without the entries for whose names @drop returns true."""
    parts = re.split(r"^(?=config )", text, flags=re.M)
    return "".join(p for p in parts if not (p.startswith("config ") and drop(p.split()[1])))


class Worktree:
    """A git repository of the kernel's files that the series changes."""

    def __init__(self, folder, pristine):
        self.folder, self.pristine = folder, pristine
        self.files, self.less = {}, {}      # our files that have been added so far
        self.git("init", "-q", "-b", "series")
        for name in changed_files(pristine):
            tree.write(folder / name, (pristine / name).read_bytes())
        self.commit("Linux {}.{}\n".format(*tree.version()))

    def git(self, *argv, **more):
        return git(self.folder, *argv, **more)

    def commit(self, message):
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "-F", "-", input=message)

    def apply(self, entry):
        for pattern in entry.deletes:
            for path in sorted(self.folder.glob(pattern)):
                path.unlink()
        for pattern in entry.takes:
            _, _, less = pattern.partition(" less ")
            for name in taken(pattern):
                self.take(name, less.split())
        self.grow()
        if not self.git("status", "--porcelain"):
            raise ui.Failure(f"{entry.name} changes nothing")
        self.commit(entry.message)

    def take(self, name, less):
        if name.startswith("patches/"):
            argv = ["patch", "-p1", "--batch", "--forward", "--no-backup-if-mismatch", "-i", paths_of_patches()[name]]
            ui.run(argv, log_file("series-patch"), cwd=self.folder)
        elif name == "MAINTAINERS":
            path = self.folder / name
            path.write_text(tree.splice_maintainers(path.read_text(), tree.maintainers_entry()))
        else:
            self.files[name], self.less[name] = tree.our_files()[name], less
            tree.write(self.folder / name, self.files[name].read_bytes())
            (self.folder / name).chmod(self.files[name].stat().st_mode)

    def grow(self):
        missing = set(tree.our_files()) - self.files.keys()
        makefiles = ""
        for name in (n for n in self.files if n.endswith("Makefile")):
            text = grown_makefile(self.files[name].read_text(), os.path.dirname(name), tree.our_files(), missing)
            (self.folder / name).write_text(text)
            makefiles += text
        for name in (n for n in self.files if "Kconfig" in os.path.basename(n)):
            def drop(symbol):
                early = "TEST" in symbol.split("_") and f"CONFIG_{symbol})" not in makefiles
                return early or symbol in self.less[name]
            (self.folder / name).write_text(without(self.files[name].read_text(), drop))


def changed_files(pristine):
    """The kernel's files that the series deletes, replaces or edits."""
    names = {str(p.relative_to(pristine)) for pattern in tree.REPLACED for p in pristine.glob(pattern)}
    return sorted(name for name in {*filter(tree.replaced, names), *tree.patched_files(), "MAINTAINERS"}
                  if (pristine / name).is_file())


def identity():
    """The sender, from git's configuration, or a placeholder for the user to fill in."""
    def config(key, default):
        done = subprocess.run(["git", "-C", str(REPO), "config", key], capture_output=True, text=True)
        return done.stdout.strip() or default
    return config("user.name", "Your Name"), config("user.email", "you@example.org")


def git(folder, *argv, **more):
    name, email = identity()
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
           "GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email,
           "GIT_COMMITTER_NAME": name, "GIT_COMMITTER_EMAIL": email}
    done = subprocess.run(["git", *map(str, argv)], cwd=folder, env=env, text=True, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode:
        raise ui.Failure(f"git {argv[0]}:\n{done.stdout}")
    return done.stdout


# --- the cover letter ---

def costs():
    """The README's table as text, with the first of its cells, "ours / theirs = ratio"."""
    table = COSTS.search((REPO / "README.md").read_text())
    if not table:
        raise ui.Failure("README.md has no table of costs for the cover letter")
    lines = [f"{'':44}" + "".join(f"{head:>10}" for head in ("theirs", "ours", "ratio"))]
    for row in table[1].splitlines():
        name, cell = [cell.strip() for cell in row.strip("|").split("|")][:2]
        ours, theirs, ratio = re.split(" / | = ", cell)
        *before, last = textwrap.wrap(name, 40)
        lines += [f"  {part}" for part in before]
        lines.append(f"  {last:42}{theirs:>10}{ours:>10}{ratio:>10}")
    return "\n".join(lines)


def letter():
    return message(FOLDER / "cover").replace("{costs}", costs())


def is_ours(cover):
    """Whether this is the cover letter of a series that was written here."""
    prefix = message(FOLDER / "cover").partition(":")[0]
    return cover.exists() and bool(re.search(rf"^Subject: \[PATCH 0+/\d+\] {prefix}:", cover.read_text(), re.M))


def write(folder, pristine):
    """Writes the patches into @folder; returns their paths, the cover letter first."""
    series = entries()
    wrong = problems(series)
    if wrong:
        raise ui.Failure("\n".join(["harness/series does not fit:", *wrong]))
    folder.mkdir(parents=True, exist_ok=True)
    before = list(folder.glob("[0-9][0-9][0-9][0-9]-*.patch"))
    if before and not is_ours(folder / "0000-cover-letter.patch"):
        raise ui.Failure(f"{folder} has patches that are not this series: name another folder")
    for old in before:
        old.unlink()
    with ui.Step(f"write {len(series)} patches to {folder}") as step, \
            tempfile.TemporaryDirectory() as scratch:
        work = Worktree(Path(scratch), pristine)
        for entry in series:
            step.tick(entry.subject)
            work.apply(entry)
        work.git("config", "branch.series.description", letter())
        work.git("format-patch", "-q", "--cover-letter", "--cover-from-description=subject",
                 "--numbered", "--no-renames", "-B", "--no-signature", "-o", folder,
                 work.git("rev-list", "--max-parents=0", "HEAD").strip())
    return sorted(folder.glob("[0-9][0-9][0-9][0-9]-*.patch"))


# --- the test ---

def differences(applied, pristine, source):
    """The names of the files that differ from the overlaid tree."""
    names = set(changed_files(pristine)) | set(git(applied, "ls-files").split())
    owned = tree.Overlay(source).owned.keys()
    return [name for name in sorted(names | owned) if content(applied / name) != content(source / name)]


def content(path):
    return (path.read_bytes(), path.stat().st_mode & 0o111) if path.is_file() else None


class Compiler:
    """Compiles the kernel after each patch, in a tree whose other files are links."""

    def __init__(self, applied, pristine):
        self.applied, self.tree = applied, tree.base() / "series"
        self.names = changed_files(pristine)
        if not self.tree.exists():
            with ui.Step("link a tree for the series") as step:
                ui.run(["cp", "-al", pristine, f"{self.tree}.part"], log_file("series-tree"), step)
                Path(f"{self.tree}.part").rename(self.tree)
        bare = next(port for port in ports.PORTS if port.name == "x86_64-bare")
        self.made = Build("series", self.tree, bare.fragments)
        self.made.folder.mkdir(parents=True, exist_ok=True)
        self.options = self.made.folder / "kp.config"
        self.options.write_text(tree.renamed("".join(fragment.read_text() for fragment in bare.fragments)))

    def checkout(self, commit):
        git(self.applied, "checkout", "-q", commit)
        now = set(git(self.applied, "ls-files").split())
        for name in self.names + sorted(now | set(tree.our_files())):
            here, there = self.applied / name, self.tree / name
            if content(here) == content(there):
                continue
            there.unlink(missing_ok=True)       # may be a link to the kernel's own file
            if name in now:
                tree.write(there, here.read_bytes())

    def compile(self, commit, step):
        self.checkout(commit)
        self.made.make("config", f"KCONFIG_ALLCONFIG={self.options}", "allnoconfig", step=step)
        self.made.make("build", "vmlinux", step=step)
        return "CONFIG_KPROBES=y\n" in (self.made.folder / ".config").read_text()


def compile_each(applied, pristine, results):
    compiler = Compiler(applied, pristine)
    probes = False
    commits = git(applied, "log", "--reverse", "--format=%H %s").splitlines()[1:]
    for nr, line in enumerate(commits, 1):
        commit, subject = line.split(" ", 1)
        with ui.Step(f"build after {nr:02}/{len(commits)} {subject}") as step, \
                results.attempt(f"series builds after {subject}"):
            probes = compiler.compile(commit, step)
    results.check("series ends with CONFIG_KPROBES", probes)


def test(results, source, builds):
    """The patches must pass the checks, and give the same tree as the overlay."""
    pristine = tree.pristine()
    with results.attempt("series is written", counted=False):
        paths = write(CACHE / "series", pristine)
        check.each("series checkpatch", paths[1:], check.checkpatch, source, results,
                   lambda path: path.name)
        with results.attempt("series applies", counted=False), \
                tempfile.TemporaryDirectory() as scratch:
            applied = Worktree(Path(scratch), pristine).folder
            git(applied, "am", "-q", *paths[1:])
            wrong = differences(applied, pristine, source)
            results.check("series gives the overlaid tree", not wrong, "not: " + " ".join(wrong))
            if builds:
                compile_each(applied, pristine, results)
