# SPDX-License-Identifier: GPL-2.0-only
"""The kernels we boot: fragments of harness/kconfig/, and the purpose of each."""
from dataclasses import dataclass

from . import packages
from .paths import HARNESS


LLVM = ("clang-19", "lld-19", "llvm-19")

# BTF, and the root of what uses it; see packages.root().
CLIENTS_PACKAGES = ("mmdebstrap", "pahole")

def gcc(cross):
    """The package of the compiler whose programs have this prefix."""
    return (f"gcc-{cross.removesuffix('-')}",) if cross else ()


@dataclass(frozen=True)
class Arch:
    name: str
    kernel: str             # the file to boot, in the build folder
    console: str
    qemu: tuple
    elf: str = ""           # the file for kexec, if not that to boot
    args: tuple = ()        # for the kernel's command line
    family: str = ""        # a fragment that it shares, with another architecture or a port
    cross: str = ""
    cflags: tuple = ()      # more for programs that run in the guest
    suites: tuple = ()      # KUnit suites of the kernel's own that must run as well
    unsupported: tuple = () # ftrace selftests that cannot pass there
    debian: str = ""        # Debian's name, when programs for the guest are not the host's
    releases: tuple = ("",)     # of Debian that have this architecture, when the host's has not
    packages: tuple = ("qemu-system-x86",)      # the emulator, and more for the compiler
    boots: int = 1          # tries, until the kernel says anything at all
    race_threads: str = "single"    # of the emulator, when text changes all the time


@dataclass(frozen=True)
class Config:
    arch: Arch
    name: str
    memory: int = 512       # MiB
    cpus: int = 2
    slow: int = 1           # factor on every time limit
    # The parts of guesttest that run.
    parts: tuple = ("kunit", "scripts", "toggle", "selftests")
    daily: tuple = ()       # of the parts, those of ./kp test without WHAT
    racing: tuple = (15,)       # seconds for each of guesttest.RACING, or the first
    selftests: tuple = ("kprobe", "dynevent")       # folders of ftrace selftests
    impossible: tuple = ()  # of faults.CASES, by how they end
    options: str = "kprobes"        # the fragment that says what is built of kprobes' users
    more: tuple = ()        # fragments that it shares with others
    own: str = ""           # its last fragment, if not one of its name
    qemu: tuple = ()        # more for the command line, and for the machine
    args: tuple = ()        # for the kernel's
    threads: str = "multi"      # of the emulator, for the guest's CPUs
    llvm: str = ""          # built by the clang of this suffix
    without: tuple = ()     # of the architecture's suites
    # More KUnit boots: of each its name, the processor if it is another, words for the command line,
    # and what the kernel says then: nothing if it tells of no mitigation.
    mitigations: tuple = ()
    distribution: str = ""      # the flavour of Debian's configuration that is under the fragments
    rust: bool = False          # built where there is Rust, see packages.inside_rust()
    bochs: str = ""             # the processor, if it runs in Bochs, see bochs.py
    sign: str = ""              # what the kernel must say in each boot

    @property
    def packages(self):
        """The packages that building and booting it needs."""
        return (self.arch.packages + gcc(self.arch.cross) + (LLVM if self.llvm else ()) +
                # The modules of a distribution are signed.
                ((*packages.config_packages(self.arch.debian), "openssl") if self.distribution else ()) +
                (CLIENTS_PACKAGES if "clients" in self.parts else ()) +
                (("mmdebstrap",) if self.bochs or self.rust else ()))

    def base(self):
        """The distribution's configuration, or none."""
        return packages.config(self.distribution, self.arch.debian, self.arch.releases) if self.distribution else ""

    @property
    def label(self):
        return f"{self.arch.name}:{self.name}"

    @property
    def extras(self):
        """Whether its tests need modules and programs."""
        return self.parts != ("kunit",)

    @property
    def fragments(self):
        clients = [] if {"beside", "clients"}.isdisjoint(self.parts) else ["kprobes-clients"]
        core = ["kprobes-core"] if self.options == "kprobes" else []
        family = [self.arch.family] if self.arch.family else []
        own = self.own or f"{self.arch.name}-{self.name}"
        tests = ["selftests"] if self.extras else []
        names = ["guest", "ftrace", *core, self.options, *tests, *clients, *family, self.arch.name,
                 *self.more, own]
        return [HARNESS / "kconfig" / f"{name}.config" for name in names]


# With several sockets the kernel expects a clock in each; the emulator has one for all. It also
# expects timer ticks within milliseconds, for which a busy host may be too slow.
CLOCKS = ("tsc=reliable", "no_timer_check")

X86_64 = Arch("x86_64", "arch/x86/boot/bzImage", "ttyS0",
              ("qemu-system-x86_64", "-cpu", "max"), args=CLOCKS, family="x86",
              suites=("fprobe_test", "longest-symbol"))

# The CPU model "max" would be a 32-bit AMD processor, and the kernel supports none with SMP.
I386 = Arch("i386", "arch/x86/boot/bzImage", "ttyS0",
            ("qemu-system-i386", "-cpu", "max,vendor=GenuineIntel"), args=CLOCKS, family="x86",
            suites=("fprobe_test", "longest-symbol"), debian="i386",
            unsupported=("kprobe/kprobe_opt_types.tc",),
            # The headers of <asm/> are those of 64 bits, which serve both.
            cflags=("-m32", "-idirafter", "/usr/include/x86_64-linux-gnu"),
            packages=("qemu-system-x86", "libc6-dev-i386", "lib32gcc-12-dev"))

ARM64 = Arch("arm64", "arch/arm64/boot/Image", "ttyAMA0",
             ("qemu-system-aarch64", "-M", "virt"), cross="aarch64-linux-gnu-",
             suites=("longest-symbol",), debian="arm64",
             # Probes the start of the shell's file, which here is no code. See uprobes.sh.
             unsupported=("dynevent/add_remove_uprobe.tc",),
             packages=("libc6-dev-arm64-cross", "qemu-system-arm"))

RISCV = Arch("riscv", "arch/riscv/boot/Image", "ttyS0",
             ("qemu-system-riscv64", "-M", "virt"), elf="vmlinux", cross="riscv64-linux-gnu-",
             suites=("longest-symbol",), debian="riscv64", releases=("trixie", "forky", "sid"),
             # Probes the start of the shell's text, where this one has its ELF header.
             unsupported=("dynevent/add_remove_uprobe.tc",),
             packages=("libc6-dev-riscv64-cross", "qemu-system-misc", "qemu-system-data"),
             # While text is written, all CPUs wait and translate nothing. With one thread for
             # all of them, each would wait for a tenth of a second.
             race_threads="multi",
             # The firmware sometimes starts the second CPU at the entry of the first one, which
             # clears the memory that the first one uses.
             boots=3)

# The kernel's own ports, which keep their files. Little is known here of their guests.
ARM = Arch("arm", "arch/arm/boot/zImage", "ttyAMA0", ("qemu-system-arm", "-M", "virt"),
           family="port-arm", cross="arm-linux-gnueabihf-", debian="armhf",
           packages=("qemu-system-arm",))

POWERPC = Arch("powerpc", "vmlinux", "hvc0", ("qemu-system-ppc64", "-M", "pseries"),
               family="port-powerpc64le", cross="powerpc64le-linux-gnu-", debian="ppc64el",
               packages=("qemu-system-ppc",))

S390 = Arch("s390", "arch/s390/boot/bzImage", "ttysclp0", ("qemu-system-s390x", "-cpu", "max"),
            family="port-s390", cross="s390x-linux-gnu-", debian="s390x",
            packages=("qemu-system-misc",))

MIPS = Arch("mips", "vmlinux", "ttyS0", ("qemu-system-mipsel", "-M", "malta", "-cpu", "24Kf"),
            family="port-mips", cross="mipsel-linux-gnu-", debian="mipsel",
            packages=("qemu-system-mips",))

ALL = ("kunit", "scripts", "beside", "sweep", "toggle", "faults", "selftests")

# Mitigations of x86 by what they rewrite at boot.
CALL_DEPTH = ("call-depth", "Skylake-Server", "retbleed=stuff spectre_v2=retpoline", "Mitigation: Stuffing")
ITS = ("its", "", "indirect_target_selection=force", "Mitigation: Aligned branch/return thunks")

CONFIGS = [
    Config(X86_64, "none", parts=("examples", *ALL, "loops"), daily=("kunit", "toggle", "selftests"),
           racing=(15, 10), more=("x86-hardened", "network"),
           # Returns that stand bare in the upper half of a cache line only.
           mitigations=(ITS,)),
    Config(X86_64, "debug", memory=1024, slow=4, racing=(15, 30), selftests=("kprobe",),
           parts=("kunit", "scripts", "toggle", "faults", "selftests"), more=("checkers", "rt")),
    Config(X86_64, "kcsan", memory=1024, slow=4, racing=(15, 30), parts=("toggle",),
           options="kprobes-core"),
    Config(I386, "preempt", slow=2, parts=("kunit", "scripts", "sweep", "toggle", "selftests"),
           racing=(15, 10), more=("x86-hardened",)),
    Config(ARM64, "none", slow=2, parts=ALL, daily=("kunit",), racing=(15, 10), qemu=("-cpu", "cortex-a57")),
    # Interrupts are masked by their priority. The kernel has no landing pads when gcc compiles it.
    Config(ARM64, "rt", memory=1024, slow=4, racing=(15, 30), qemu=("-M", "gic-version=3", "-cpu", "max,pauth-impdef=on"),
           args=("irqchip.gicv3_pseudo_nmi=1",), parts=("kunit", "scripts", "toggle", "faults", "sweep"),
           # Entries are landing pads, which keep their breakpoints, and a call by a lost pointer
           # ends in the check of its type.
           impossible=(":jump", "lost:break"), options="kprobes-core", llvm="-19",
           more=("checkers", "rt")),
    Config(RISCV, "none", slow=3, parts=ALL, daily=("kunit",), racing=(15, 10)),
    # The ftrace of this architecture is for kernels without preemption only. What gcc inlines, clang
    # may leave in functions of their own, which the entry of traps calls.
    Config(RISCV, "rt", memory=1024, slow=4, racing=(15, 30), qemu=("-cpu", "rv64,v=true"), llvm="-19",
           parts=("kunit", "scripts", "sweep", "toggle"), more=("checkers", "rt", "riscv-preemptible")),
]


def port(arch, **more):
    return Config(arch, "none", slow=2, parts=("kunit",), options="kprobes-core", own="none",
                  threads="single", **more)


# Tested only by name: 32 bits with lockdep, KUnit on our core with the kernel's own
# ports, code that only some compilers generate, fault handlers in the detours of RISC-V, and
# Debian's configuration, which takes three times as long to build.
BY_NAME = [Config(I386, "voluntary", slow=3, racing=(15, 10), parts=("kunit", "scripts", "toggle"),
                  more=("x86-hardened", "checkers")),
           port(ARM), port(POWERPC), port(S390), port(MIPS, cpus=1),
           Config(X86_64, "cfi", parts=("kunit", "sweep", "toggle"), options="kprobes-core", llvm="-19",
                  without=("longest-symbol",), mitigations=(("fineibt", "", "cfi=fineibt", "Using FineIBT CFI"),)),
           Config(X86_64, "kmsan", memory=2048, slow=6, racing=(15, 10), parts=("kunit", "toggle"),
                  options="kprobes-core", llvm="-19", without=("fprobe_test",)),
           Config(RISCV, "fault", slow=3, parts=("kunit", "faults")),
           Config(X86_64, "preempt", racing=(15, 10), parts=("kunit", "scripts", "toggle", "faults", "selftests")),
           Config(X86_64, "rt", memory=1024, slow=3, racing=(15, 30), more=("checkers", "rt"),
                  parts=("kunit", "scripts", "toggle", "faults", "selftests", "sweep")),
           Config(ARM64, "preempt", slow=4, racing=(15, 30), more=("checkers",),
                  parts=("kunit", "scripts", "toggle", "faults", "sweep"), qemu=("-cpu", "max,pauth-impdef=on")),
           Config(RISCV, "preempt", slow=4, racing=(15, 30), qemu=("-cpu", "rv64,v=true"),
                  parts=("kunit", "scripts", "toggle"), more=("checkers", "riscv-preemptible")),
           *(Config(arch, "sleep", slow=slow, qemu=qemu, more=("sleep",), parts=("sleep", "kexec"), options="kprobes-core")
             for arch, slow, qemu in ((X86_64, 1, ()), (ARM64, 2, ("-cpu", "cortex-a57")), (RISCV, 3, ()))),
           Config(RISCV, "clang", slow=3, racing=(15, 10), parts=("kunit", "scripts", "sweep", "toggle"), llvm="-19"),
           # Entries in Rust have no ftrace sites.
           Config(X86_64, "rust", racing=(15, 10), parts=("kunit", "scripts", "sweep", "toggle"),
                  more=("x86-hardened",), rust=True),
           # Debian's programs that use probes, in a file system of their own.
           Config(X86_64, "clients", memory=2048, parts=("clients",), more=("x86-hardened", "network")),
           Config(X86_64, "debian", memory=2048, slow=2, parts=("examples", *ALL, "scale", "clients"),
                  distribution="amd64_none_amd64", more=("debian",), without=("longest-symbol",), mitigations=(CALL_DEPTH,)),
           Config(X86_64, "debian-rt", memory=2048, slow=3, parts=ALL, distribution="amd64_rt_amd64",
                  more=("debian",), own="x86_64-debian", without=("longest-symbol",)),
           Config(ARM64, "debian", memory=1024, slow=3, parts=ALL, distribution="arm64_none_arm64", more=("debian",),
                  qemu=("-cpu", "max,pauth-impdef=on")),
           Config(ARM64, "debian-16k", memory=1024, slow=3, parts=("kunit", "scripts", "toggle", "sweep"),
                  distribution="arm64_none_arm64-16k", more=("debian",), own="arm64-debian",
                  qemu=("-cpu", "max,pauth-impdef=on")),
           Config(RISCV, "debian", memory=1024, slow=4, parts=ALL, distribution="riscv64_none_riscv64", more=("debian",)),
           # Hosts of virtual machines: the sweep's workload runs one. An older processor of arm64 has the
           # kernel leave the level of the hypervisor.
           Config(X86_64, "kvm", parts=("kunit", "sweep"), more=("x86-hardened", "kvm"), llvm="-19",
                  without=("longest-symbol",), sign="kvm_amd: Nested Paging enabled"),
           *(Config(ARM64, name, slow=2, parts=("kunit", "sweep"), more=("kvm",), own="arm64-kvm",
                    qemu=("-M", "virtualization=on,gic-version=3", "-cpu", cpu), sign=sign)
             for name, cpu, sign in (("kvm", "max,pauth-impdef=on", "VHE mode initialized successfully"),
                                     ("nvhe", "cortex-a57", "Hyp nVHE mode initialized successfully"))),
           Config(RISCV, "kvm", slow=3, parts=("kunit", "sweep"), more=("kvm",), qemu=("-cpu", "rv64,h=true"),
                  sign="hypervisor extension available"),
           # A landing pad that a jump has taken from an indirect branch is a fault there.
           Config(X86_64, "ibt", slow=10, parts=("kunit", "sweep"), more=("x86-hardened", "x86_64-none"), cpus=1,
                  bochs="arrow_lake", without=("longest-symbol",), sign="CET detected: Indirect Branch Tracking enabled"),
           # Each way in which returns and indirect calls are rewritten at boot.
           Config(X86_64, "mitigations", parts=("kunit",), more=("x86-hardened",), options="kprobes-core", mitigations=(
               CALL_DEPTH, ITS,
               ("off", "", "mitigations=off", ""),
               ("retpolines", "", "spectre_v2=retpoline retbleed=off", "Mitigation: Retpolines"),
               ("lfence", "", "spectre_v2=retpoline,lfence retbleed=off", "Vulnerable: LFENCE"),
               ("untrained", "EPYC-Rome", "retbleed=unret", "Mitigation: untrained return thunk"),
               ("srso", "EPYC-Milan", "spec_rstack_overflow=safe-ret", "Safe RET")))]

# Kernels for comparing costs with the kernel's own kprobes, see bench.py.
BENCH = [
    Config(X86_64, "bench-none", options="bench", own="none"),
    Config(X86_64, "bench-preempt", options="bench", own="preempt"),
    Config(ARM64, "bench-none", options="bench", own="none", qemu=("-cpu", "cortex-a57")),
    Config(ARM64, "bench-preempt", options="bench", own="preempt", qemu=("-cpu", "cortex-a57")),
    # With a newer privileged architecture this emulator's cycle counter stands still.
    Config(RISCV, "bench-none", options="bench", own="none",
           qemu=("-cpu", "rv64,priv_spec=v1.10.0")),
    Config(RISCV, "bench-preempt", options="bench", qemu=("-cpu", "rv64,priv_spec=v1.10.0")),
]


def named(word):
    """Those of an architecture, or the one of that label."""
    return next(filter(None, ([c for c in some if word in (c.arch.name, c.label)]
                              for some in (CONFIGS, BY_NAME))), [])


def default(arch):
    """The configuration that run and shell use: the first of its architecture."""
    return next((c for c in CONFIGS if c.arch.name == arch), None)
