# SPDX-License-Identifier: GPL-2.0-only
"""The programs that a step needs, and their Debian packages."""
import contextlib
import os
import platform
import re
import shutil
import subprocess
import time
from pathlib import Path

from . import ui
from .paths import CACHE, REPO, log_file

# A program or file of each package whose name is not a program's.
PROBES = {
    "busybox-static": "busybox", "kmod": "depmod", "xz-utils": "xz", "gnuplot-nox": "gnuplot",
    "debhelper": "dh_listpackages", "dpkg-dev": "dpkg-buildpackage", "python3-sphinx": "sphinx-build",
    "lld-19": "ld.lld-19", "llvm-19": "llvm-nm-19",
    "qemu-system-x86": "qemu-system-x86_64", "qemu-system-arm": "qemu-system-aarch64",
    "qemu-system-misc": "qemu-system-riscv64", "qemu-system-ppc": "qemu-system-ppc64",
    "qemu-system-mips": "qemu-system-mipsel",
    "qemu-system-data": "/usr/share/qemu/opensbi-riscv64-generic-fw_dynamic.bin",
    "libc6-dev": "/usr/include/stdio.h",
    "libc6-dev-i386": "/usr/lib32/libc.a",
    "libc6-dev-arm64-cross": "/usr/aarch64-linux-gnu/lib/libc.a",
    "libc6-dev-riscv64-cross": "/usr/riscv64-linux-gnu/lib/libc.a",
    "lib32gcc-12-dev": "/usr/lib/gcc/x86_64-linux-gnu/12/32/libgcc.a",
    "lib32gcc-14-dev": "/usr/lib/gcc/x86_64-linux-gnu/14/32/libgcc.a",
    "libelf-dev": "/usr/include/gelf.h",
    "libssl-dev": "/usr/include/openssl/opensslv.h",
    "linux-config-6.12": "/usr/src/linux-config-6.12/config.amd64_none_amd64.xz",
    "linux-source-6.12": "/usr/src/linux-source-6.12.tar.xz",
    "python3-yaml": "/usr/lib/python3/dist-packages/yaml/__init__.py",
}
KERNEL = "6.12"     # of the release
# The release that has another kernel, which is taken from there without installing it.
ELSEWHERE = {"7.3": "trixie-backports"}
BUILD = ["bc", "bison", "ccache", "flex", "gcc", "kmod", "libc6-dev", "libelf-dev", "libssl-dev", "make", "perl"]
BOOT = ["busybox-static"]
# Well-known users of probes that are run in a guest.
CLIENTS = ["bpftrace", "linux-perf", "perf-tools-unstable", "trace-cmd"]
# For kernels with Rust, from NEWER because of bindgen.
RUST = ["bindgen", "rust-src", "rustc"]
# Has what Debian 12 has too old a version of.
NEWER = "trixie"
# Packages that replace one of Debian 12, by release.
RENAMED = {"13": {"lib32gcc-12-dev": "lib32gcc-14-dev"}}


def here(package):
    """The name of the package on this machine."""
    try:
        release = platform.freedesktop_os_release().get("VERSION_ID")
    except OSError:
        release = None
    return RENAMED.get(release, {}).get(package, package)


def kernel_wanted():
    """A version, or the path of a tree or tarball."""
    return os.environ.get("KP_KERNEL") or KERNEL


def is_version(wanted):
    return bool(re.fullmatch(r"\d+\.\d+", wanted))


def tree_packages():
    return ["patch", "xz-utils"] + ([f"linux-source-{KERNEL}"] if kernel_wanted() == KERNEL else [])


def config_packages(arch=""):
    """What has the distribution's configuration, if it can be installed: not that of another architecture."""
    return [f"linux-config-{KERNEL}"] if version_of_debian() == KERNEL and not arch else []


def probe(package):
    """What tells that a package is there; in other distributions it has another name."""
    gcc = re.fullmatch("gcc-(.*)", package)
    return f"{gcc[1]}-gcc" if gcc else PROBES.get(package, package)


def present(package):
    there = probe(package)
    return Path(there).exists() if there.startswith("/") else bool(shutil.which(there))


# A mirror may fail for a moment, and the machine may be upgrading itself.
PATIENT = ["apt-get", "-o", "Acquire::Retries=5", "-o", "DPkg::Lock::Timeout=300",
           "-o", "Acquire::http::Timeout=30"]
LOCK_PATIENCE = 300     # seconds
SLOW = 20               # seconds after which the user is told that the mirror is slow
PAUSE = 2
LOCKED = re.compile(r"Could not get lock (\S+?)\.?(?: It is held by (process \d+ \([^)]*\)).*)?$", re.M)


class Slow:
    """Passes output on to a step, and says once that it takes long."""

    def __init__(self, step, what):
        self.step, self.what, self.start, self.told = step, what, time.monotonic(), False

    def tick(self, note=""):
        if not self.told and time.monotonic() - self.start >= SLOW:
            self.told = True
            ui.say(f"  {self.what} takes long, for the mirror is slow or away: {note}")
        self.step.tick(note)


def holder(log):
    """The process that holds the lock that made the command fail, if that is the reason."""
    found = LOCKED.search(log.read_text(errors="replace"))
    return found and (f"{found[2]} has {found[1]}" if found[2] else f"{found[1]} is taken")


def update(step, options=(), name="apt-update"):
    """Runs apt-get update; waits for the lock of the lists, since apt-get waits only for dpkg's."""
    log, end, told = log_file(name), time.monotonic() + LOCK_PATIENCE, False
    while True:
        try:
            return ui.run([*PATIENT, *options, "update"], log, Slow(step, "apt-get update"),
                          env={"LC_ALL": "C"})
        except ui.Failure:
            why = holder(log)
            if not why or time.monotonic() >= end:
                raise
        if not told:
            ui.say(f"  apt-get update waits: {why}")
        told = True
        step.tick(why)
        time.sleep(PAUSE)


def apt(packages):
    with ui.Step("install " + " ".join(packages)) as step:
        # Only the packages matter, which may be there already.
        with contextlib.suppress(ui.Failure):
            update(step)
        ui.run([*PATIENT, "install", "-y", "--no-install-recommends", *packages],
               log_file("apt-install"), step, env={"DEBIAN_FRONTEND": "noninteractive"})


def need(packages):
    missing = sorted({p for p in map(here, packages) if not present(p)})
    if not missing:
        return
    if not shutil.which("apt-get") or os.geteuid():
        raise ui.Failure("these are missing (Debian's package names):\n"
                         f"  as root: apt-get install {' '.join(missing)}")
    apt(missing)
    still = [p for p in missing if not present(p)]
    if still:
        raise ui.Failure("installed, but not found afterwards: " +
                         ", ".join(f"{probe(p)} ({p})" for p in still))


def sources(release, path):
    """Writes a source list for another release, with the mirror of the host."""
    host = platform.freedesktop_os_release()["VERSION_CODENAME"]
    argv = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", f"Codename: {host}"]
    found = subprocess.check_output(argv, text=True).split()
    # An image may lack the package lists that apt has to download first; those that it gets may suffice.
    if not found and not os.geteuid():
        with ui.Step("apt-get update") as step, contextlib.suppress(ui.Failure):
            update(step)
        found = subprocess.check_output(argv, text=True).split()
    if not found:
        raise ui.Failure(f"apt knows no source of {host} to take {release} from: has root called apt-get update?")
    path.write_text(f"deb {found[0]} {release} main\n")


def fetch_from(release, package, arch, folder):
    """Unpacks a package of another architecture, with separate package lists for apt."""
    state = CACHE / f"apt-{arch}"
    for name in ("lists/partial", "archives/partial", "deb"):
        (state / name).mkdir(parents=True, exist_ok=True)
    options = ["-o", f"APT::Architecture={arch}", "-o", f"APT::Architectures={arch}",
               "-o", f"Dir::State::Lists={state}/lists", "-o", f"Dir::Cache={state}"]
    if release:
        sources(release, state / "sources.list")
        options += ["-o", f"Dir::Etc::SourceList={state}/sources.list", "-o", "Dir::Etc::SourceParts=-"]
    with ui.Step(f"download {package}:{arch}") as step:
        # One of several lists may be missing; only the package matters.
        with contextlib.suppress(ui.Failure):
            update(step, options, f"apt-update-{arch}")
        ui.run([*PATIENT, *options, "download", package], log_file(f"apt-download-{arch}"), step,
               cwd=state / "deb")
        newest = max(state.glob(f"deb/{package}_*.deb"), key=lambda path: path.stat().st_mtime)
        ui.run(["dpkg", "-x", newest, folder], log_file(f"dpkg-{arch}"), step)


def fetch(package, arch, releases, folder):
    """Fetches from the first of @releases that has the package: a mirror may lag with one."""
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        raise ui.Failure(f"no apt-get or dpkg: put the files of {package} for {arch} into {folder}")
    for release in releases[:-1]:
        with contextlib.suppress(ui.Failure):
            return fetch_from(release, package, arch, folder)
    return fetch_from(releases[-1], package, arch, folder)


def from_kernel(version, package, file):
    """A file of Debian's package of this kernel: installed, or unpacked in the cache."""
    there = Path("/") / file
    if there.exists() or version == KERNEL:
        return there
    folder = CACHE / f"linux-{version}"
    if not (folder / file).exists():
        if version not in ELSEWHERE:
            raise ui.Failure(f"no Debian that kp knows has {package}: KP_KERNEL=PATH takes a tree or tarball")
        host = subprocess.check_output(["dpkg", "--print-architecture"], text=True).strip()
        ui.need_space(CACHE, 1, package)
        fetch_from(ELSEWHERE[version], package, host, folder)
    return folder / file


def source(version):
    return from_kernel(version, f"linux-source-{version}", f"usr/src/linux-source-{version}.tar.xz")


def version_of_debian():
    """The kernel whose configuration to take: for a tree or tarball that of the release."""
    return kernel_wanted() if is_version(kernel_wanted()) else KERNEL


def config(flavour="amd64_none_amd64", arch="", releases=()):
    """A configuration of Debian's: of amd64 as that of the host, or of the architecture @arch."""
    version = version_of_debian()
    package, file = f"linux-config-{version}", f"usr/src/linux-config-{version}/config.{flavour}.xz"
    if not arch:
        return from_kernel(version, package, file)
    folder = CACHE / f"root-{arch}"
    if not (folder / file).exists():
        fetch(package, arch, (ELSEWHERE[version],) if version in ELSEWHERE else releases, folder)
    return folder / file


def busybox(arch):
    """The busybox of a guest: the host's, or one for the guest's architecture."""
    if not arch.debian:
        return Path(shutil.which("busybox"))
    folder = CACHE / f"root-{arch.debian}"
    # Newer releases have busybox in /usr.
    places = [folder / "bin/busybox", folder / "usr/bin/busybox"]
    if not any(path.exists() for path in places):
        fetch("busybox-static", arch.debian, arch.releases, folder)
    return next(path for path in places if path.exists())


def make_root(release, folder, wanted):
    with ui.Step(f"make a Debian {release} with " + " ".join(wanted)) as step:
        mirrors = folder.with_suffix(".list")
        sources(release, mirrors)
        ui.run(["mmdebstrap", "--variant=minbase", "--include=" + ",".join(wanted), release, folder, mirrors],
               log_file("mmdebstrap"), step)


def debian(name, release, wanted, space=1):
    """A Debian with these packages, of @space GB, in a folder of this name in the cache: made once for a list of them."""
    folder, mark = CACHE / name, CACHE / f"{name}.made"
    listed = " ".join(wanted)
    if not mark.exists() or mark.read_text() != listed:
        mark.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        ui.need_space(CACHE, space, f"a Debian with {listed}")
        make_root(release, folder, wanted)
        mark.write_text(listed)
    return folder


def root():
    """A Debian with CLIENTS, of the release that has this kernel, which a guest mounts."""
    host = platform.freedesktop_os_release()["VERSION_CODENAME"]
    release = ELSEWHERE.get(kernel_wanted(), host).removesuffix("-backports")
    return debian(f"root-{release}", release, CLIENTS)


def inside_rust():
    """What runs a command in a Debian with RUST, where the cache and the project have the paths that they have here."""
    folder = debian("root-rust", NEWER, [*BUILD, *RUST], 2)
    mounts = "".join(f"mkdir -p {folder}{path} && mount --rbind {path} {folder}{path} && "
                     for path in ("/dev", "/proc", CACHE, REPO))
    return ["unshare", "--mount", "sh", "-c", f'{mounts}exec chroot {folder} "$@"', "sh"]
