# SPDX-License-Identifier: GPL-2.0-only
"""Builds Debian packages of a kernel with these kprobes and of its tests, to install on a machine."""
import lzma
import re
import shutil
import time
from pathlib import Path

from . import packages, tree, ui
from .build import Build
from .paths import log_file

SPACE = 15      # GB, for all modules of a distribution
PACKAGES = ("cpio", "debhelper", "dpkg-dev", "openssl", "rsync")
# The suffix of the kernel's release lets it be installed beside the distribution's kernel.
# All that tests and measures is a module, and loaded by nobody else.
OURS = """\
CONFIG_KPROBES=y
CONFIG_LOCALVERSION="-kprobes"
CONFIG_DEBUG_FS=y
CONFIG_DEBUG_KERNEL=y
CONFIG_RUNTIME_TESTING_MENU=y
CONFIG_KUNIT=m
CONFIG_KPROBES_SANITY_TEST=m
CONFIG_TEST_KPROBES_MODULES=m
CONFIG_KPROBES_TORTURE_TEST=m
CONFIG_KPROBES_BENCHMARK=m
"""
# We do not have the distribution's keys, and debug information takes more space than the rest.
WITHOUT = """\
CONFIG_MODULE_SIG_KEY="certs/signing_key.pem"
CONFIG_SYSTEM_TRUSTED_KEYS=""
CONFIG_SYSTEM_REVOCATION_KEYS=""
CONFIG_DEBUG_INFO_NONE=y
"""
CONTROL = """\
Package: kprobes-tests
Version: {version}
Architecture: amd64
Maintainer: root <root@localhost>
Section: kernel
Priority: optional
Depends: linux-image-{release}, kmod, procps, util-linux
Description: tests of the kernel's kprobes
 The command kprobes-tests runs them on this machine, and reports on one page.
"""


def read(path):
    opened = lzma.open if path.suffix == ".xz" else open
    try:
        with opened(path, "rt") as f:
            text = f.read()
    except (OSError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise ui.Failure(f"{path}: {error}") from error
    if not re.search("^CONFIG_X86_64=y$", text, re.M):
        raise ui.Failure(f"{path} is no configuration of an x86_64 kernel")
    return text


def builder(source):
    """kbuild puts the packages beside the build folder."""
    made = Build("deb", source, [])
    made.folder = tree.base() / "deb/build"
    made.folder.mkdir(parents=True, exist_ok=True)
    # The package of headers compiles the programs of the build again if CC is another compiler.
    made.args.append("HOSTCC=ccache gcc")
    # PACKAGES suffice; Linux 7.3 asks for libdw as well, which only debug information needs.
    made.args.append("DPKG_FLAGS=-d")
    return made


def configure(made, text):
    """Options that the configuration does not name get the kernel's defaults."""
    with ui.Step("configure deb") as step:
        (made.folder / ".config").write_text(text + OURS + WITHOUT)
        made.make("config", "olddefconfig", step=step)
        made.verify(OURS)


def tests(made, step):
    """Packs the selftests; the modules that they load are in the kernel's package."""
    release = (made.folder / "include/config/kernel.release").read_text().strip()
    root = made.folder / "kp-tests"
    shutil.rmtree(root, ignore_errors=True)
    made.selftests(step, f"KSFT_INSTALL_PATH={root}/usr/lib/kprobes-tests", "install")
    (root / "usr/sbin").mkdir(parents=True)
    (root / "usr/sbin/kprobes-tests").symlink_to("../lib/kprobes-tests/kprobes/report.sh")
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN/control").write_text(CONTROL.format(version=release.removesuffix("-kprobes"), release=release))
    ui.run(["dpkg-deb", "--root-owner-group", "--build", root, made.folder.parent], log_file("deb-tests"), step)


def run(config=None):
    made, start = builder(tree.cached()), time.time()
    text = read(Path(config or packages.config()))
    ui.need_space(made.folder, SPACE, "a kernel with all its modules")
    configure(made, text)
    with ui.Step("build deb") as step:
        made.make("build", "bindeb-pkg", step=step)
        tests(made, step)
    ui.say("\nin " + str(made.folder.parent))
    for path in sorted(made.folder.parent.glob("*.deb")):
        if path.stat().st_mtime >= start:
            ui.say(f"  {path.name} ({path.stat().st_size / 1e6:.1f} MB)")
    return 0
