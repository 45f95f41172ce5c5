# SPDX-License-Identifier: GPL-2.0-only
"""Configures and builds kernels out of tree, in one folder for each configuration."""
import hashlib
import lzma
import os
import re
import shutil
from pathlib import Path

from . import packages, tree, ui
from .paths import CACHE, REPO, log_file

# ccache takes the list of read files from the compiler, which saves preprocessing.
CCACHE_ENV = {"CCACHE_DIR": str(CACHE / "ccache"), "CCACHE_DEPEND": "1"}
TESTS = REPO / "lib/test_kprobes"
# Those of our modules that measure the kernel's own kprobes as well.
MEASURE = (TESTS / "bench", TESTS / "kp_sweep.c")


def without_modules(path):
    """A distribution's configuration without its modules: no guest loads a driver."""
    with lzma.open(path, "rt") as f:
        return re.sub("=m$", "=n", f.read(), flags=re.M)


def goal(folder):
    """What kbuild is to make of a folder of modules, or of a file; one with a file of its name needs no Kbuild."""
    if folder.is_file():
        return f"{folder.stem}.o"
    if any((folder / name).exists() for name in ("Kbuild", "Makefile")):
        return f"{folder.name}/"
    if (folder / f"{folder.name}.c").exists():
        return f"{folder.name}/{folder.name}.o"
    raise ui.Failure(f"{folder} has no Kbuild")


class Build:
    """One build folder."""

    def __init__(self, label, source, fragments, arch="x86_64", cross="", llvm="", compiler=(),
                 extras=True, modules=(), base="", config=None):
        self.label, self.source, self.fragments, self.base = label, source, fragments, base
        self.config = config            # of the guests that boot it
        self.compiler = compiler        # for programs that run in the guest
        self.extras = extras            # whether guest scripts are run, which need modules
        self.out_of_tree = modules      # those that the kernel does not have
        self.modules = []               # their files and the samples', when built
        self.folder = tree.base() / "build" / label.replace(":", "-")
        # kbuild has its own names for some architectures
        self.args = ["ARCH=" + arch]
        if cross:
            self.args.append("CROSS_COMPILE=" + cross)
        if llvm:
            self.args.append(f"LLVM={llvm}")
        # clang compiles for all architectures, so it comes without @cross.
        host = f"clang{llvm}" if llvm else "gcc"
        self.rust = bool(config) and config.rust
        # Programs of the build are the same in each folder, seen from there. Those in Rust are linked
        # by a command of one word.
        ccache = "" if self.rust else f"env CCACHE_NOHASHDIR=1 CCACHE_BASEDIR={tree.base()} ccache "
        # The cache does not see that the piggy.o of 32-bit ARM includes the kernel, so let none have it:
        # -P changes nothing, but the cache leaves files with that option to the compiler.
        self.args += [f"CC=ccache {cross}{host}", f"HOSTCC={ccache}{host}", "AFLAGS_piggy.o=-P"]

    def argv(self, *targets):
        inside = packages.inside_rust() if self.rust else []
        return [*inside, "make", "-C", str(self.source), f"O={self.folder}", f"-j{os.cpu_count()}",
                "--no-print-directory", *self.args, *targets]

    def make(self, what, *targets, step):
        ui.run(self.argv(*targets), log_file(f"{self.label}-{what}"), step, env=CCACHE_ENV)

    def configure(self):
        """Configures again only if our fragments, or Kconfig files that we change, have changed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = tree.renamed("".join(f.read_text() for f in self.fragments))
        base = without_modules(self.base) if self.base else ""
        stamp, digest = self.folder / ".kp-config", self.digest(base + text)
        if stamp.exists() and stamp.read_text() == digest:
            return
        stamp.unlink(missing_ok=True)
        ui.need_space(self.folder, 1, f"a build of {self.label}")
        merged = self.folder / "kp.config"
        merged.write_text(base + text)
        with ui.Step(f"configure {self.label}") as step:
            self.make("config", f"KCONFIG_ALLCONFIG={merged}", "allnoconfig", step=step)
            self.verify(text)
        stamp.write_text(digest)

    def digest(self, text):
        parts = [text, *self.args]
        parts += [p.read_text() for p in tree.patches()]
        parts += [p.read_text() for name, p in tree.our_files().items() if "Kconfig" in name]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def verify(self, text):
        """Reports options that Kconfig has silently dropped."""
        wanted = dict(re.findall(r"^(CONFIG_\w+)=(.*)$", text, re.M))
        got = dict(re.findall(r"^(CONFIG_\w+)=(.*)$", (self.folder / ".config").read_text(), re.M))
        lost = [f"{k}={v}" for k, v in wanted.items() if got.get(k, "n") != v]
        if lost:
            raise ui.Failure(f"{self.label}: the configuration lost {' '.join(lost)}")

    def kernel(self, module_folders=()):
        """Builds everything that goes into a guest."""
        self.configure()
        with ui.Step(f"build {self.label}") as step:
            self.make("build", "all", step=step)
            mods = self.folder / "kp-root"
            shutil.rmtree(mods, ignore_errors=True)
            self.make("modules_install", f"INSTALL_MOD_PATH={mods}", "INSTALL_MOD_STRIP=1",
                      "modules_install", step=step)
            self.modules = sorted(mods.rglob("*probe*.ko"))
            if self.extras:
                module_folders = [*self.out_of_tree, *module_folders]
                self.programs(step)
            if module_folders:
                self.modules += self.external([Path(folder).resolve() for folder in module_folders], step)

    def programs(self, step):
        """Compiles the programs of the selftests, statically: guests have no libraries."""
        folder = self.folder / "kp-selftests"
        folder.mkdir(exist_ok=True)
        if self.compiler:
            ui.run(["make", "-C", str(self.source / tree.SELFTESTS), f"OUTPUT={folder}", f"CC={' '.join(self.compiler)}",
                    "USERCFLAGS=-Werror", "USERLDFLAGS=-static"], log_file(f"{self.label}-selftests"), step)

    def selftests(self, step, *words):
        """Installs or packs the selftests by the kernel's makefiles, as @words say."""
        ui.run(["make", "-C", self.source / "tools/testing/selftests", f"O={self.folder}", "TARGETS=kprobes",
                f"CC={' '.join(self.compiler) or 'gcc'}", "USERLDFLAGS=-static", *words],
               log_file(f"{self.label}-kselftest-pack"), step)

    def tests(self, step):
        """Builds the modules of the selftests out of tree, as for any kernel with its own kprobes."""
        copy = self.folder / "kp-tests"
        shutil.copytree(TESTS, copy, dirs_exist_ok=True)
        for target in ("modules", "modules_install"):
            self.make(f"tests-{target}", f"M={copy}", "CONFIG_TEST_KPROBES_MODULES=m", target,
                      f"INSTALL_MOD_PATH={self.folder / 'kp-root'}", "INSTALL_MOD_STRIP=1", step=step)

    def external(self, folders, step):
        """Builds all folders of modules in one go, in copies, because kbuild writes beside the source."""
        objects = "".join(f"obj-m += {goal(folder)}\n" for folder in folders)
        top = self.folder / "kp-modules"
        # They share headers with the modules of the selftests.
        copies = [(path, top) for path in [TESTS / "common.h", TESTS / "functions.h", *folders] if path.is_file()]
        copies += [(path, top / folder.name) for folder in folders if folder.is_dir() for path in folder.iterdir()]
        for path, copy in copies:
            copy.mkdir(parents=True, exist_ok=True)
            there = copy / path.name
            if path.is_file() and not (there.exists() and there.read_bytes() == path.read_bytes()):
                shutil.copyfile(path, there)
        names = [folder.name for folder in folders]
        (top / "Kbuild").write_text(objects)
        self.make("modules" if len(names) > 1 else f"module-{names[0]}", f"M={top}", "CONFIG_KPROBES_BENCHMARK=m",
                  "modules", step=step)
        return sorted(path for folder in folders for path in
                      ([top / f"{folder.stem}.ko"] if folder.is_file() else (top / folder.name).glob("*.ko")))


def rivals(config):
    """Builds with our kprobes and with the kernel's own, the same otherwise, to compare them."""
    lines = [line for f in config.fragments for line in f.read_text().splitlines(True)]
    fragment = tree.base() / f"rivals-{config.label.replace(':', '-')}.config"
    # Tests differ between the two kernels, and RISC-V's own cannot have histograms.
    differs = re.compile("_TEST=y$|TEST_KPROBES|KPROBES_(BENCHMARK|TORTURE)|HIST_TRIGGERS")
    fragment.write_text("".join(line for line in lines if not differs.search(line)))
    return [(name, Build(f"{config.label}-{name}", source, [fragment], config.arch.name, config.arch.cross,
                         modules=MEASURE, base=config.base(), config=config))
            for name, source in (("ours", tree.cached()), ("theirs", tree.pristine()))]
