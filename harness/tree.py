# SPDX-License-Identifier: GPL-2.0-only
"""The overlaid source tree: a kernel without the files we replace, with ours.

The folder .kp/ of a tree records the overlay: the original of each file that we patched
(.kp/kernel/), and each file that we wrote with a digest of it.  An update computes every such
file again and writes only those that differ, so that unchanged files are not rebuilt.  A file
that somebody has edited in the tree is not overwritten: ./kp pull takes the edit.

What differs between the versions of Linux is in a folder of base/ for each that we know.
"""
import fcntl
import fnmatch
import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import packages, ui
from .paths import CACHE, REPO, log_file

UNPACKED = 2    # GB, size of a source tree
LOCK = []       # the open lock file, while we hold the lock
FOLDERS = ["include", "kernel", "arch", "lib", "samples", "Documentation", "tools"]
SELFTESTS = "tools/testing/selftests/kprobes"

# The kernel's own implementation.  It is deleted unread, because ours is independent of it.
REPLACED = [
    "kernel/kprobes.c",
    "arch/x86/kernel/kprobes/*",
    "arch/arm64/kernel/probes/*",
    "arch/riscv/kernel/probes/*",
    "arch/x86/include/asm/kprobes.h",
    "arch/arm64/include/asm/kprobes.h",
    "arch/riscv/include/asm/kprobes.h",
    "include/linux/kprobes.h",
    "include/asm-generic/kprobes.h",
    "samples/kprobes/*",
    "lib/test_kprobes.c",
    "Documentation/trace/kprobes.rst",
]
KEPT = ["arch/arm64/kernel/probes/uprobes.c", "arch/riscv/kernel/probes/uprobes.c"]


def replaced(path):
    return path not in KEPT and any(fnmatch.fnmatchcase(path, p) for p in REPLACED)


# --- the kernel ---

def kernel():
    wanted = packages.kernel_wanted()
    return packages.source(wanted) if packages.is_version(wanted) else Path(wanted).resolve()


def kernel_key():
    """A name for the kernel, so that each one has a tree of its own."""
    path = kernel()
    if not path.exists():
        raise ui.Failure(f"KP_KERNEL: {path} does not exist")
    stat = path.stat()
    fact = f"{path} {stat.st_size} {stat.st_mtime_ns}" if path.is_file() else str(path)
    return hashlib.sha256(fact.encode()).hexdigest()[:8]


@functools.cache
def makefile(path):
    """The kernel's top one."""
    if path.is_dir():
        return (path / "Makefile").read_text()
    argv = ["tar", "-xOf", path, "--wildcards", "--no-wildcards-match-slash", "--occurrence=1", "*/Makefile"]
    return subprocess.run(argv, stdout=subprocess.PIPE, text=True).stdout


def version():
    """That of the kernel, as a list of its numbers."""
    wanted = packages.kernel_wanted()
    if packages.is_version(wanted):
        return list(map(int, wanted.split(".")))
    found = re.findall(r"^(?:VERSION|PATCHLEVEL|SUBLEVEL) = (\d+)$", makefile(kernel()), re.M)[:3]
    if len(found) < 3:
        raise ui.Failure(f"{kernel()} is no Linux")
    return list(map(int, found))


def order(numbers):
    """After 6.19 came 7.0."""
    return 20 * numbers[0] + numbers[1]


def our_base():
    """The folder of the version in base/ that is nearest to the kernel's."""
    wanted = order(version())
    return min((REPO / "base").glob("[0-9]*"),
               key=lambda folder: abs(order(list(map(int, folder.name.split(".")))) - wanted))


def is_known():
    return our_base().name == "{}.{}".format(*version())


def options():
    """Options of harness/kconfig -> their names in this version, none or several."""
    path = our_base() / "options"
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(line.partition(" ")[::2] for line in lines if not line.startswith("#"))


def renamed(text):
    """A configuration whose options have the names of this version.

    What this version adds to an option may be there without it.
    """
    for old, new in options().items():
        text = re.sub(rf"^{old}=(.*\n)", lambda line, names=new.split(): "".join(
            f"{name}={line[1]}" for name in names[:1 if line[1] == "n\n" else None]), text, flags=re.M)
    return text


def delete_replaced(tree):
    for pattern in REPLACED:
        for path in sorted(tree.glob(pattern)):
            if replaced(str(path.relative_to(tree))):
                path.unlink()


def unpack(tree, step, whole=False):
    """Unpacks the kernel without the files that we replace, unless @whole."""
    source = kernel()
    if source.is_dir():
        def ignore(folder, names):
            rel = os.path.relpath(folder, source)
            return [n for n in names if n == ".git" or not whole and replaced(os.path.normpath(f"{rel}/{n}"))]
        if (source / ".config").exists() or (source / "include/config").exists():
            raise ui.Failure(f"{source} holds a build: run make mrproper there first")
        if (source / ".kp").exists():
            raise ui.Failure(f"{source} has these kprobes already: KP_KERNEL takes a tree without")
        shutil.copytree(source, tree, symlinks=True, ignore=ignore)
    else:
        tree.mkdir(parents=True)
        ui.run(["tar", "-xf", source, "-C", tree, "--strip-components=1"], log_file("unpack"), step)
    if not whole:
        delete_replaced(tree)


def ensure_kernel(tree, whole=False):
    """Unpacks the kernel into @tree unless it is there; an incomplete one is removed."""
    mark = tree / ".kp" / "key"
    if mark.exists():
        if mark.read_text() != kernel_key():
            raise ui.Failure(f"{tree} was made from another kernel: remove it first")
        return
    if tree.exists() and any(tree.iterdir()):
        raise ui.Failure(f"{tree} is not empty, and not a tree that kp made")
    part = tree.with_name(tree.name + ".part")
    tree.parent.mkdir(parents=True, exist_ok=True)
    ui.need_space(tree.parent, UNPACKED, "the source tree")
    with ui.Step(f"unpack {kernel().name}") as step:
        if part.exists():
            shutil.rmtree(part)
        unpack(part, step, whole)
        (part / ".kp").mkdir()
        (part / ".kp/key").write_text(kernel_key())
        if tree.exists():
            tree.rmdir()
        part.rename(tree)


# --- the overlay ---

def our_files():
    """Path in the tree -> file in the repository."""
    files = {"Kconfig.kprobes": REPO / "Kconfig.kprobes"}
    for top in (REPO, our_base()):
        for folder in FOLDERS:
            for path in (top / folder).rglob("*"):
                if path.is_file():
                    files[str(path.relative_to(top))] = path
    return {name: path for name, path in sorted(files.items()) if path.exists()}


def patches():
    """The edits that all versions have in common, and those of this one."""
    found = [path for top in (REPO, our_base()) for path in (top / "patches").glob("*.patch")]
    return sorted(found, key=lambda path: path.name)


def patched_files():
    names = set()
    for patch in patches():
        names.update(re.findall(r"^(?:---|\+\+\+) [ab]/(\S+)", patch.read_text(), re.M))
    return names


def splice_maintainers(text, entry):
    """Puts our files into the kernel's KPROBES entry; keeps its people and lists."""
    files = entry.split("\n", 1)[1].rstrip("\n") + "\n"
    new, count = re.subn(r"^(KPROBES\n(?:[^F\n].*\n)+)(?:F:.*\n)+", lambda found: found[1] + files,
                         text, flags=re.M)
    if count != 1:
        raise ui.Failure(f"MAINTAINERS: {count} entries named KPROBES, expected one")
    return new


def maintainers_entry():
    path = REPO / "MAINTAINERS"
    if not path.exists():
        return None
    return "".join(line for line in path.read_text().splitlines(True) if not line.startswith("#"))


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def section(name, before, after):
    """The part of a patch about one file, from two files."""
    argv = ["diff", "-up", "--label", f"a/{name}", "--label", f"b/{name}", before, after]
    return subprocess.run(argv, capture_output=True, text=True).stdout


def with_section(patch, name, text):
    """A patch whose part about the file @name is @text."""
    parts = re.split(r"^(?=--- (?:a/\S+|/dev/null)\n\+\+\+ )", patch, flags=re.M)
    return "".join(text if re.match(rf"--- a/{re.escape(name)}\n", part) else part for part in parts)


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def rejected(patch, output):
    """The files that a patch does not apply to, by what patch says; all if it says nothing of them."""
    parts = re.split(r"^patching file ", output, flags=re.M)[1:]
    return [part.split("\n", 1)[0] for part in parts if re.search("FAILED|ignored", part)] or \
        re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(), re.M)


class Overlay:
    """Makes one tree match the repository."""

    def __init__(self, tree):
        self.tree, self.originals = tree, tree / ".kp/kernel"
        self.state = tree / ".kp/owned.json"
        known = json.loads(self.state.read_text()) if self.state.exists() else {}
        self.owned = known if isinstance(known, dict) else dict.fromkeys(known, "")     # name -> digest
        self.changed = []

    def original(self, name):
        """The kernel's own text of a file, saved before we change it the first time."""
        kept, here = self.originals / name, self.tree / name
        if name not in self.owned and here.exists() and not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(here, kept)
        return kept.read_bytes() if kept.exists() else None

    def patched(self):
        """Applies the patches to copies of the originals; returns path -> (content, mode)."""
        result, wrong = {}, []
        with tempfile.TemporaryDirectory() as folder:
            names = patched_files()
            for name in names:
                text = self.original(name)
                if text is not None:
                    path = Path(folder, name)
                    write(path, text)
                    path.chmod((self.originals / name).stat().st_mode)
            for patch in patches():
                argv = ["patch", "-p1", "--batch", "--forward", "--no-backup-if-mismatch", "-i", str(patch)]
                done = subprocess.run(argv, cwd=folder, capture_output=True, text=True)
                if done.returncode:
                    wrong.append(f"{patch.relative_to(REPO)} does not apply to {' '.join(rejected(patch, done.stdout))}")
            if wrong:
                raise ui.Failure("\n  ".join([f"Linux {'.'.join(map(str, version()))} differs:", *wrong]))
            for name in names:
                path = Path(folder, name)
                result[name] = (path.read_bytes(), path.stat().st_mode) if path.exists() else None
        return result

    def wanted(self):
        """Path -> (content, mode), or None for a file that must not exist."""
        files = self.patched()
        entry = maintainers_entry()
        if entry:
            text = self.original("MAINTAINERS").decode()
            files["MAINTAINERS"] = (splice_maintainers(text, entry).encode(), 0o644)
        for name, path in our_files().items():
            if self.original(name) is not None:
                raise ui.Failure(f"{name} is a file of the kernel's: change it by a patch")
            files[name] = (path.read_bytes(), path.stat().st_mode)
        return files

    def put(self, name, content):
        path = self.tree / name
        now = path.read_bytes() if path.is_file() else None
        if content is None:
            if now is not None:
                path.unlink()
                self.changed.append(name)
            return
        data, mode = content
        if now != data:
            write(path, data)
            self.changed.append(name)
        if path.stat().st_mode & 0o111 != mode & 0o111:
            path.chmod(mode & 0o777)

    def edited(self):
        """The files that are no more as we wrote them."""
        return [name for name, wrote in sorted(self.owned.items())
                if wrote and (self.tree / name).is_file() and digest(self.tree / name) != wrote]

    def update(self):
        files = self.wanted()
        edits = [name for name in self.edited()
                 if not files.get(name) or (self.tree / name).read_bytes() != files[name][0]]
        if edits:
            raise ui.Failure("\n  ".join([f"edited in {self.tree}; ./kp pull takes them into the project:", *edits]))
        gone = self.owned.keys() - files.keys()
        # Write the list first, so that it is complete even if the update is interrupted.
        self.save(dict.fromkeys([*self.owned, *files], ""))
        for name, content in files.items():
            self.put(name, content)
        for name in gone:
            kept = self.originals / name
            self.put(name, (kept.read_bytes(), kept.stat().st_mode) if kept.exists() else None)
            kept.unlink(missing_ok=True)
        self.save({name: content and hashlib.sha256(content[0]).hexdigest() for name, content in files.items()})
        return self.changed

    def save(self, owned):
        self.state.write_text(json.dumps(dict(sorted(owned.items())), indent=0))

    def pull(self):
        """Takes edits into the project; returns the names of the files, and of those that it cannot take."""
        files, taken, left = self.wanted(), [], []
        for name in self.edited():
            touching = [p for p in patches() if f"\n+++ b/{name}\n" in f"\n{p.read_text()}"]
            both = not files.get(name) or hashlib.sha256(files[name][0]).hexdigest() != self.owned[name]
            if both or name == "MAINTAINERS" or len(touching) > 1:
                left.append(name)
                continue
            taken.append(name)
            if touching:
                text = section(name, self.originals / name, self.tree / name)
                touching[0].write_text(with_section(touching[0].read_text(), name, text))
            else:
                our_files()[name].write_bytes((self.tree / name).read_bytes())
        return taken, left


def pull(tree):
    """Takes what was edited in a tree into the project, as far as the project has not changed there, too."""
    if not (tree / ".kp/owned.json").exists():
        raise ui.Failure(f"{tree} is not a tree that kp made")
    taken, left = Overlay(tree).pull()
    ui.say("\n  ".join([f"{len(taken)} files taken", *taken]))
    if left:
        raise ui.Failure("\n  ".join(["changed in the project as well, or by several patches; take by hand:", *left]))


def update(tree):
    ensure_kernel(tree)
    if not is_known():
        ui.say(f"Linux {'.'.join(map(str, version()))} has no folder in base/: trying that of {our_base().name}")
    with ui.Step(f"overlay {tree}"):
        changed = Overlay(tree).update()
    if changed and len(changed) < 10:
        ui.say("         changed: " + " ".join(sorted(changed)))
    return tree


def base():
    """The folder in the cache for the tree and the builds of the current kernel."""
    return CACHE / f"linux-{kernel_key()}"


def lock():
    """Lets only one kp at a time use the cache; the lock ends with the process."""
    if LOCK:
        return
    LOCK.append(open(base() / "lock", "w"))
    try:
        fcntl.flock(LOCK[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        ui.say(f"another kp is at work in {base()}: waiting for it")
        fcntl.flock(LOCK[-1], fcntl.LOCK_EX)


def cached():
    """The tree in the cache."""
    base().mkdir(parents=True, exist_ok=True)
    lock()
    return update(base() / "tree")


def pristine():
    """The unchanged kernel with its own kprobes: built for comparison, never read."""
    base().mkdir(parents=True, exist_ok=True)
    lock()
    ensure_kernel(base() / "pristine", whole=True)
    return base() / "pristine"


def release():
    """Lets another kp use the cache, when only a guest is left to run."""
    LOCK.pop().close()
