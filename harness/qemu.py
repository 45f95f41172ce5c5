# SPDX-License-Identifier: GPL-2.0-only
"""Packs and boots a guest, and reads its serial log."""
import gzip
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from . import bochs, packages, tree, ui
from .paths import HARNESS, REPO, log_file

STAMP = r"(?:\[\s*\d+\.\d+\](?:\[\s*[TC]\d+\])? )?"
# How the kernel begins to say that something is wrong, whoever caused it.
COMPLAINT = re.compile(STAMP + "(?:" + "|".join([
    r"(?:watchdog: )?BUG\b", r"\[ BUG", r"kernel BUG at", r"WARNING:", r"-+\[ (?:cut here|ftrace bug)",
    r"Oops", r"(?:traps: )?PANIC", r"Kernel panic", r"general protection fault", r"stack segment",
    r"Unable to handle", r"(?:rcu: )?INFO: (?:task|rcu|lockdep|trying)", r"rcu: INFO", r"UBSAN:",
    r"low stack detected",
]) + ")")
# The kernel's return_to_handler calls its own next instruction, and ORC knows no frame for that
# call: an interrupt just behind it that looks at the stack says this, with or without kprobes.
KNOWN = re.compile(STAMP + r"WARNING: stack going in the wrong direction\? at return_to_handler\+")
# Without the mark of KTAP's free lines.
LINE = re.compile(STAMP + r"kp: (?:# )?(.*)")
BANNER = "Linux version"
QUIET = 240     # seconds, times config.slow, for which a guest that works may print nothing
SCRIPT_END = re.compile(r"end (\S+) (\d+)")


@dataclass
class Outcome:
    """What one boot left behind."""
    log: str
    timed_out: bool
    lines: list = field(default_factory=list)       # what guest scripts said
    complaints: list = field(default_factory=list)

    @property
    def finished(self):
        return "done" in self.lines

    @property
    def end(self):
        return f"the end of {self.log}:\n{ui.tail(self.log)}"

    def script(self, name):
        """The lines of one script and its exit status; None when it never ended."""
        lines, inside = [], False
        for line in self.lines:
            end = SCRIPT_END.fullmatch(line)
            if end and end[1] == name:
                return lines, int(end[2])
            if inside:
                lines.append(line)
            inside = inside or line == f"begin {name}"
        return lines, None


def put(path, there):
    """Copies a file or a folder, without links: lib/modules has one to the build folder."""
    there.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.copytree(path, there, dirs_exist_ok=True, ignore=lambda folder, names: [
            name for name in names if Path(folder, name).is_symlink()])
    elif path.is_file():
        shutil.copy(path, there)


def pack(made, what, order, extra=()):
    """Writes the initramfs: busybox, selftests, our guest scripts, modules, and the work order."""
    # sh is a file of its own: the uprobe selftests look for its name in /proc/PID/maps.
    contents = [(f"bin/{name}", packages.busybox(made.config.arch)) for name in ("busybox", "sh")]
    tests = "kp/selftests/kprobes"
    contents += [("kp", HARNESS / "guest"), (tests, REPO / tree.SELFTESTS), (tests, made.folder / "kp-selftests"),
                 (f"{tests}/kprobes.rst", REPO / "Documentation/trace/kprobes.rst"),
                 ("kp/selftests/kselftest", made.source / "tools/testing/selftests/kselftest"),
                 ("lib/modules", made.folder / "kp-root/lib/modules")]
    contents += [(f"lib/kp/{module.name}", module) for module in made.modules]
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        for name, path in [*contents, *extra]:
            put(path, root / name)
        (root / "kp/init").rename(root / "init").chmod(0o755)
        (root / "kp/order").write_text("".join(f"{line}\n" for line in order))
        names = "".join(f"{path.relative_to(root)}\n" for path in sorted(root.rglob("*")))
        packed = subprocess.run(["busybox", "cpio", "-o", "-H", "newc", "-R", "0:0"], cwd=root,
                                input=names.encode(), capture_output=True, check=True)
    # Another guest of this kernel may be starting.
    file = made.folder / f"kp-initramfs-{what}.gz"
    file.write_bytes(gzip.compress(packed.stdout, 1))
    return file


def shared(folders):
    """What the guest mounts by 9p: (tag, folder) of each."""
    return [word for tag, folder in folders for word in (
        "-virtfs", f"local,path={folder},mount_tag={tag},security_model=none,readonly=on")]


def command(made, initramfs, args=(), cpus=None, threads=None, count=False, cpu="", folders=(), disk=None):
    """@cpu: another model. @disk: a file. @count: the guest's clock goes by instructions, one a nanosecond, and takes one CPU."""
    config = made.config
    words = [f"console={config.arch.console}", "panic=-1", "oops=panic", "printk.devkmsg=on",
             *config.arch.args, *config.args, *args]
    if config.bochs:
        return bochs.command(config, made.folder / config.arch.kernel, initramfs, words)
    machine = ["-icount", "shift=0,sleep=off"] if count else []
    machine += [*(["-cpu", cpu] if cpu else []), *shared(folders)]
    machine += ["-drive", f"file={disk},format=raw,if=virtio"] if disk else []
    # The tables of a PC's firmware name one CPU of each socket.
    sockets = cpus or config.cpus
    return [*config.arch.qemu, *config.qemu, "-accel", f"tcg,thread={threads or config.threads}", *machine,
            "-smp", f"{sockets},sockets={sockets}", "-m", str(config.memory),
            "-nographic", "-vga", "none", "-nic", "none", "-no-reboot",
            "-kernel", str(made.folder / config.arch.kernel), "-initrd", str(initramfs), "-append", " ".join(words)]


def boot(made, what, order, limit, args=(), extra=(), step=None, quiet=0, disk=False, **machine):
    """Boots one guest through its work order; @machine goes to command(), with a file for @disk.

    @quiet: seconds for which it may print nothing because of its work. @disk: whether it has an empty one.
    """
    initramfs = pack(made, what, order, extra)
    config, log = made.config, log_file(f"{made.config.label}-{what}")
    if disk:
        machine["disk"] = made.folder / f"kp-disk-{what}"
        with open(machine["disk"], "wb") as f:
            f.truncate(1 << 30)
    argv = command(made, initramfs, ["ignore_loglevel", *args], **machine)
    # A firmware that gets nowhere is not waited for as long as a slow kernel.
    sign = (BANNER, config.slow * (20 if config.arch.boots > 1 else 60))
    for left in reversed(range(config.arch.boots)):
        end = ui.within(limit * config.slow)
        # timeout(1) ends the guest even if we are killed ourselves.
        status = ui.supervise(["timeout", "-k", "5", str(end), *argv], log, step, timeout=end + 20, sign=sign,
                              quiet=config.slow * QUIET + quiet)
        if not left or ui.contains(log, BANNER):
            break
        ui.say(f"  the firmware of {config.arch.name} has not started the kernel: once more")
    return read(log, timed_out=status != 0)


def read(log, timed_out=False):
    out = Outcome(str(log), timed_out)
    with open(log, errors="replace") as f:
        for line in f:
            line = line.rstrip("\r\n")
            ours = LINE.match(line)
            if ours:
                out.lines.append(ours[1])
            elif COMPLAINT.match(line) and not KNOWN.match(line):
                out.complaints.append(line)
    return out


def interactive(made):
    initramfs = pack(made, "shell", ["jobs/shell"])
    tree.release()
    return subprocess.call(command(made, initramfs, ["loglevel=3", "kunit.enable=0"]))
