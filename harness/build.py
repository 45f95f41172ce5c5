# SPDX-License-Identifier: GPL-2.0-only
"""Configures and builds kernels out of tree, in one folder for each configuration."""
import hashlib
import lzma
import os
import re
import shutil
from pathlib import Path

from . import packages, tree, ui
from .paths import CACHE, HARNESS, log_file

# ccache takes the list of read files from the compiler, which saves preprocessing.
CCACHE_ENV = {"CCACHE_DIR": str(CACHE / "ccache"), "CCACHE_DEPEND": "1"}
# These modules use nothing that only our kprobes have.
FOR_BOTH = ("kp_bench", "kp_sweep")


def without_modules(path):
    """A distribution's configuration without its modules: no guest loads a driver."""
    with lzma.open(path, "rt") as f:
        return re.sub("=m$", "=n", f.read(), flags=re.M)


def goal(folder):
    """What kbuild is to make of a folder of modules; one with a file of its name needs no Kbuild."""
    if any((folder / name).exists() for name in ("Kbuild", "Makefile")):
        return f"{folder.name}/"
    if (folder / f"{folder.name}.c").exists():
        return f"{folder.name}/{folder.name}.o"
    raise ui.Failure(f"{folder} has no Kbuild")


class Build:
    """One build folder."""

    def __init__(self, label, source, fragments, arch="x86_64", cross="", llvm="", compiler=(),
                 extras=True, patterns=("*",), base="", config=None):
        self.label, self.source, self.fragments, self.base = label, source, fragments, base
        self.config = config            # of the guests that boot it
        self.compiler = compiler        # for programs that run in the guest
        self.extras = extras            # whether guest scripts are run, which need modules
        self.patterns = patterns        # of the names of these modules
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
        # Programs of the build are the same in each folder, seen from there.
        self.args += [f"CC=ccache {cross}{host}",
                      f"HOSTCC=env CCACHE_NOHASHDIR=1 CCACHE_BASEDIR={tree.base()} ccache {host}"]

    def argv(self, *targets):
        return ["make", "-C", str(self.source), f"O={self.folder}", f"-j{os.cpu_count()}",
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
                found = [f for pattern in self.patterns for f in (HARNESS / "modules").glob(pattern)]
                wanted = [f for f in found if f.is_dir()]
                module_folders = [*sorted(wanted), *module_folders]
                self.programs(step)
            if module_folders:
                self.modules += self.external([Path(folder).resolve() for folder in module_folders], step)

    def programs(self, step):
        """Compiles the programs of guests, statically: guests have no libraries."""
        folder = self.folder / "kp-programs"
        folder.mkdir(exist_ok=True)
        for source in sorted((HARNESS / "programs").glob("*.c")) if self.compiler else ():
            program = folder / source.stem
            if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
                continue
            ui.run([*self.compiler, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-static",
                    "-pthread", "-o", str(program), str(source)],
                   log_file(f"{self.label}-program-{source.stem}"), step)

    def external(self, folders, step):
        """Builds all folders of modules in one go, in copies, because kbuild writes beside the source."""
        objects = "".join(f"obj-m += {goal(folder)}\n" for folder in folders)
        top = self.folder / "kp-modules"
        # Our modules share headers, which are beside their folders.
        for folder in [HARNESS / "modules", *folders]:
            copy = top if folder == HARNESS / "modules" else top / folder.name
            copy.mkdir(parents=True, exist_ok=True)
            for path in folder.iterdir():
                there = copy / path.name
                if path.is_file() and not (there.exists() and there.read_bytes() == path.read_bytes()):
                    shutil.copyfile(path, there)
        names = [folder.name for folder in folders]
        (top / "Kbuild").write_text(objects)
        self.make("modules" if len(names) > 1 else f"module-{names[0]}", f"M={top}", "modules", step=step)
        return sorted(path for name in names for path in (top / name).glob("*.ko"))


def rivals(config):
    """Builds with our kprobes and with the kernel's own, the same otherwise, to compare them."""
    lines = [line for f in config.fragments for line in f.read_text().splitlines(True)]
    fragment = tree.base() / f"rivals-{config.label.replace(':', '-')}.config"
    # Tests differ between the two kernels.
    fragment.write_text("".join(line for line in lines if not line.endswith("_TEST=y\n")))
    return [(name, Build(f"{config.label}-{name}", source, [fragment], config.arch.name, config.arch.cross,
                         patterns=FOR_BOTH, base=config.distribution and packages.config(), config=config))
            for name, source in (("ours", tree.cached()), ("theirs", tree.pristine()))]
