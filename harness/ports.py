# SPDX-License-Identifier: GPL-2.0-only
"""Compiles our core for the kernel's own ports, and our ports without kprobes.

The kernel's ports keep their own files.  These must compile against our headers, and our
core against theirs.  Each port is configured as small as possible, and only these objects
are built; CONFIG_WERROR turns any warning into a failure.
"""
import re
import subprocess
from dataclasses import dataclass

from . import configs, ui
from .build import Build
from .paths import HARNESS

# Our objects that are architecture independent.
CORE = "kernel/kprobes.o kernel/kprobes/"
FTRACE = ("ftrace",)
# What includes linux/kprobes.h in a kernel without kprobes: it must build and link there.
USERS = """
    init/main.o kernel/context_tracking.o kernel/exit.o kernel/extable.o kernel/kallsyms.o
    kernel/notifier.o kernel/printk/printk_safe.o kernel/rcu/tree.o kernel/rcu/update.o
    kernel/sched/core.o kernel/sys.o kernel/trace/bpf_trace.o kernel/trace/fprobe.o
    kernel/trace/ftrace.o kernel/trace/rethook.o kernel/trace/trace_event_perf.o
    kernel/trace/trace_output.o lib/bsearch.o lib/nmi_backtrace.o drivers/misc/lkdtm/core.o
    arch/x86/events/core.o arch/x86/events/amd/ibs.o arch/x86/kernel/alternative.o
    arch/x86/kernel/apic/hw_nmi.o arch/x86/kernel/cpu/common.o
    arch/x86/kernel/cpu/perfctr-watchdog.o arch/x86/kernel/dumpstack.o
    arch/x86/kernel/dumpstack_64.o arch/x86/kernel/ftrace.o arch/x86/kernel/hw_breakpoint.o
    arch/x86/kernel/irqinit.o arch/x86/kernel/nmi.o arch/x86/kernel/process_64.o
    arch/x86/kernel/rethook.o arch/x86/kernel/traps.o arch/x86/mm/extable.o arch/x86/mm/fault.o"""


@dataclass(frozen=True)
class Port:
    name: str
    arch: str
    cross: str
    objects: str            # the port's own files
    core: str = CORE
    llvm: str = ""
    more: tuple = ()        # fragments that it shares with others

    @property
    def label(self):
        return f"ports:{self.name}"

    @property
    def packages(self):
        return configs.LLVM if self.llvm else configs.gcc(self.cross)

    @property
    def fragments(self):
        names = ["port", f"port-{self.name}", *self.more]
        if self.core and (self.cross or self.llvm):
            names += ["kprobes-core", "port-kprobes"]
        return [HARNESS / "kconfig" / f"{name}.config" for name in names]


PORTS = [
    # As little beside kprobes as possible: no modules, no ftrace, no debugfs. One of them shows
    # that it links, and takes longest.
    Port("x86_64-bare", "x86_64", "", "arch/x86/kernel/kprobes/"),
    Port("i386-bare", "i386", "", "arch/x86/kernel/kprobes/ vmlinux"),
    Port("arm", "arm", "arm-linux-gnueabihf-", "arch/arm/probes/ arch/arm/kernel/", more=FTRACE),
    Port("powerpc64le", "powerpc", "powerpc64le-linux-gnu-", "arch/powerpc/kernel/kprobes.o "
         "arch/powerpc/kernel/kprobes-ftrace.o arch/powerpc/kernel/rethook.o", more=FTRACE),
    Port("s390", "s390", "s390x-linux-gnu-", "arch/s390/kernel/kprobes.o "
         "arch/s390/kernel/rethook.o", more=FTRACE),
    Port("mips", "mips", "mipsel-linux-gnu-", "arch/mips/kernel/kprobes.o"),
    Port("sh", "sh", "sh4-linux-gnu-", "arch/sh/kernel/kprobes.o"),
    Port("sparc64", "sparc", "sparc64-linux-gnu-", "arch/sparc/kernel/kprobes.o"),
    Port("parisc", "parisc", "hppa-linux-gnu-", "arch/parisc/kernel/kprobes.o "
         "arch/parisc/kernel/ftrace.o", more=FTRACE),
    Port("arc", "arc", "arc-linux-gnu-", "arch/arc/kernel/kprobes.o"),
    # Debian 12 has no gcc for loongarch, but a clang that is new enough for the kernel.
    Port("loongarch", "loongarch", "", "arch/loongarch/kernel/kprobes.o arch/loongarch/kernel/rethook.o "
         "arch/loongarch/kernel/rethook_trampoline.o", llvm="-19", more=FTRACE),
    # Our port, with options that no guest has.
    Port("riscv32", "riscv", "riscv64-linux-gnu-", "arch/riscv/kernel/probes/"),
    Port("riscv-off", "riscv", "riscv64-linux-gnu-", "arch/riscv/kernel/probes/ arch/riscv/mm/extable.o "
         "arch/riscv/kernel/ftrace.o arch/riscv/kernel/patch.o arch/riscv/kernel/stacktrace.o "
         "arch/riscv/kernel/traps.o", core="", more=FTRACE),
    Port("x86_64-off", "x86_64", "", USERS, core="", more=FTRACE),
    # Uprobes use our decoder, with or without kprobes.
    Port("arm64-off", "arm64", "aarch64-linux-gnu-", "arch/arm64/kernel/probes/ "
         "arch/arm64/kernel/debug-monitors.o arch/arm64/mm/", core=""),
]


def objects_of(port, build):
    """Those of its objects that this version builds: some ports have done without rethook since."""
    rethook = "CONFIG_RETHOOK=y" in (build.folder / ".config").read_text()
    return [name for name in port.objects.split() if rethook or not name.endswith("/rethook.o")]


def needed(port, folder, names):
    """What the objects @names need of kprobes; without them they would not link."""
    objects = [path for name in names
               for path in ([folder / name] if name.endswith(".o") else (folder / name).glob("*.o"))]
    listed = subprocess.run([f"{port.cross}nm", "-g", *objects], stdout=subprocess.PIPE, text=True, check=True)
    found = re.findall(r"(\w) (\w*(?:kprobe|kretprobe|jprobe)\w*)$", listed.stdout, re.M)
    defined = {name for kind, name in found if kind != "U"}
    return sorted({name for kind, name in found} - defined)


def compile(port, source):
    build = Build(port.label, source, port.fragments, port.arch, port.cross, port.llvm)
    build.configure()
    with ui.Step(f"compile {port.label}") as step:
        objects = objects_of(port, build)
        build.make("build", *port.core.split(), *objects, step=step)
    names = [] if port.core else needed(port, build.folder, objects)
    if names:
        raise ui.Failure(f"{port.label} has no kprobes, and needs {' '.join(names)}")
