# SPDX-License-Identifier: GPL-2.0-only
"""Tests that do not fit into ./kp test: the same for longer, and from other seeds."""
import os

from . import configs, guesttest, tree, ui
from .build import CCACHE_ENV
from .paths import log_file
from .results import Results

RANDOM = 300        # seconds of random input
BOOTS = 200         # of each configuration in BOOTED, to find what fails once in a hundred boots
BOOTED = ("i386:preempt", "x86_64:preempt")


def guests():
    """All kernels that are tested, including those by name only."""
    return [*configs.CONFIGS, *configs.BY_NAME]


def line(name, job, results):
    """Prints one line for a boot, which counts as one test here."""
    own = Results()
    with own.attempt(name, counted=False):
        job(own)
    results.check(name, not own.failures and own.passed)
    ui.say(f"  {name}: {own.passed} passed, {len(own.failures)} failed")


def jobs(made, seconds, seed):
    """Yields the name of each boot, and the function of Results that runs it."""
    config = made.config
    if config in configs.BY_NAME:
        yield "kunit", lambda own: guesttest.kunit(made, own)
        if {"sweep", "toggle"}.isdisjoint(config.parts):
            return
    if "toggle" in config.parts:
        yield f"torture, seed {seed}", lambda own: guesttest.torture(made, own, seconds, seed)
    if config.options == "kprobes":
        # The sweep of ./kp test uses seed 1.
        yield f"sweep, seed {seed + 1}", lambda own: guesttest.sweep(made, own, seed + 1)
        yield f"every instruction, seed {seed}", lambda own: guesttest.sweep_every(made, own, seed)
    if config.daily:
        yield "kselftest", lambda own: guesttest.kselftest(made, own)
    if config.label == "x86_64:none":
        yield "the kernel's own kprobes", lambda own: guesttest.kselftest_theirs(made, own)
    if config.label in BOOTED:
        yield f"{BOOTS} boots", lambda own: boots(made, own)
    if "beside" in config.parts:
        yield f"fuzz, seed {seed}", lambda own: guesttest.alone(made, guesttest.FUZZ, RANDOM, seed, own)
    if "scripts" in config.parts and config.arch in (configs.X86_64, configs.I386):
        yield f"traps, seed {seed}", lambda own: guesttest.alone(made, guesttest.TRAPS, RANDOM, seed, own)


def boots(made, results):
    """Boots again and again, with other work each time; keeps the log of the first one that fails."""
    for nr in range(1, BOOTS + 1):
        guesttest.boot_with_returns(made, nr, results)
        if results.failures:
            results.fail(f"boot {nr} of {BOOTS}", f"see {log_file(f'{made.config.label}-returns')}")
            return


def kunit_py(arch, source, results):
    """Runs KUnit by kunit.py, with the architecture's default configuration instead of ours."""
    argv = ["tools/testing/kunit/kunit.py", "run", "--kunitconfig", "kernel/kprobes", "--arch", arch.name,
            "--build_dir", tree.base() / "build" / f"kunit-{arch.name}", "--jobs", os.cpu_count(),
            "--make_options", f"CC=ccache {arch.cross}gcc"]
    if arch.cross:
        argv += ["--cross_compile", arch.cross]
    name = f"kunit.py --arch {arch.name}"
    with results.attempt(name), ui.Step(name) as step:
        ui.run(argv, log_file(f"kunit-{arch.name}"), step, cwd=source, env=CCACHE_ENV)


def run(source, seconds, seed, results):
    for arch in dict.fromkeys(config.arch for config in configs.CONFIGS):
        kunit_py(arch, source, results)
    for config in guests():
        made = guesttest.build(config, source)
        with results.attempt(f"{config.label} builds", counted=False):
            made.kernel()
            for name, job in jobs(made, seconds, seed):
                line(f"{config.label} {name}", job, results)
