# SPDX-License-Identifier: GPL-2.0-only
"""Compiles our core for the kernel's own ports, and our ports without kprobes.

The kernel's ports keep their own files.  These must compile against our headers, and our
core against theirs.  Each port is configured as small as possible, and only these objects
are built; CONFIG_WERROR turns any warning into a failure.
"""
from dataclasses import dataclass

from . import ui
from .build import Build
from .paths import HARNESS

# Our objects that are architecture independent.
CORE = ("kernel/kprobes.o", "kernel/kprobes/")


@dataclass(frozen=True)
class Port:
    name: str
    arch: str
    packages: tuple = ()
    cross: str = ""
    llvm: str = ""
    objects: tuple = ()     # the port's own files
    core: tuple = CORE
    options: tuple = ("port",)      # fragments for all that are cross compiled

    @property
    def label(self):
        return f"ports:{self.name}"

    @property
    def fragments(self):
        names = [f"port-{self.name}"] + ([*self.options] if self.cross or self.llvm else [])
        return [HARNESS / "kconfig" / f"{name}.config" for name in names]


PORTS = [
    Port("arm", "arm", ("gcc-arm-linux-gnueabihf",), "arm-linux-gnueabihf-",
         objects=("arch/arm/probes/", "arch/arm/kernel/")),
    Port("powerpc64le", "powerpc", ("gcc-powerpc64le-linux-gnu",), "powerpc64le-linux-gnu-",
         objects=tuple(f"arch/powerpc/kernel/{name}.o" for name in
                       ("kprobes", "kprobes-ftrace", "rethook"))),
    Port("s390", "s390", ("gcc-s390x-linux-gnu",), "s390x-linux-gnu-",
         objects=tuple(f"arch/s390/kernel/{name}.o" for name in
                       ("kprobes", "rethook"))),
    Port("mips", "mips", ("gcc-mipsel-linux-gnu",), "mipsel-linux-gnu-",
         objects=("arch/mips/kernel/kprobes.o",)),
    Port("sh", "sh", ("gcc-sh4-linux-gnu",), "sh4-linux-gnu-", objects=("arch/sh/kernel/kprobes.o",)),
    Port("sparc64", "sparc", ("gcc-sparc64-linux-gnu",), "sparc64-linux-gnu-",
         objects=("arch/sparc/kernel/kprobes.o",)),
    Port("parisc", "parisc", ("gcc-hppa-linux-gnu",), "hppa-linux-gnu-",
         objects=tuple(f"arch/parisc/kernel/{name}.o" for name in ("kprobes", "ftrace"))),
    Port("arc", "arc", ("gcc-arc-linux-gnu",), "arc-linux-gnu-",
         objects=("arch/arc/kernel/kprobes.o",)),
    # Debian 12 has no gcc for loongarch, but a clang that is new enough for the kernel.
    Port("loongarch", "loongarch", ("clang-19", "lld-19", "llvm-19"), llvm="-19",
         objects=tuple(f"arch/loongarch/kernel/{name}.o" for name in
                       ("kprobes", "rethook", "rethook_trampoline"))),
    # Our port, with options that no guest has.
    Port("riscv32", "riscv", ("gcc-riscv64-linux-gnu",), "riscv64-linux-gnu-",
         objects=("arch/riscv/kernel/probes/",)),
    Port("riscv-off", "riscv", ("gcc-riscv64-linux-gnu",), "riscv64-linux-gnu-", options=(),
         objects=("arch/riscv/kernel/probes/", "arch/riscv/mm/extable.o") +
                 tuple(f"arch/riscv/kernel/{name}.o" for name in
                       ("ftrace", "patch", "stacktrace", "traps")), core=()),
    # As little beside kprobes as possible: no modules, no ftrace, no debugfs.
    Port("x86_64-bare", "x86_64", objects=("arch/x86/kernel/kprobes/", "vmlinux")),
    Port("i386-bare", "i386", objects=("arch/x86/kernel/kprobes/", "vmlinux")),
    # All files that include linux/kprobes.h must build and link without kprobes.
    Port("x86_64-off", "x86_64", objects=("vmlinux",), core=()),
    # Uprobes use our decoder, with or without kprobes.
    Port("arm64-off", "arm64", ("gcc-aarch64-linux-gnu",), "aarch64-linux-gnu-",
         objects=("arch/arm64/kernel/probes/", "arch/arm64/kernel/debug-monitors.o",
                  "arch/arm64/mm/"), core=(), options=()),
]


def compile(port, source):
    build = Build(port.label, source, port.fragments, port.arch, port.cross, port.llvm)
    build.configure()
    with ui.Step(f"compile {port.label}") as step:
        build.make("build", *port.core, *port.objects, step=step)
