# SPDX-License-Identifier: GPL-2.0-only
"""The tests that run in a booted guest."""
import itertools
import os
import re
import subprocess

from . import ktap, qemu, tree, ui
from .build import Build
from .paths import HARNESS

# Whose data races are ours: the functions of these objects in the build folder.
OUR_OBJECTS = ["kernel/kprobes.o", "kernel/kprobes/*.o", "arch/*/kernel/kprobes/*.o",
               "arch/*/kernel/probes/*.o", "kp-modules/*/*.o"]
RACE = re.compile(r".*BUG: KCSAN: [\w-]+ in (.*)")

QUIET = ["kunit.enable=0"]      # KUnit has a boot of its own
TOGGLE = "toggle.sh"            # has a boot of its own, with more CPUs
SELFTEST_LIMIT = 120            # seconds for one .tc, on the fastest configuration

# ftrace selftests that cannot pass here, and why that is so.  Any other one must pass.
NOT_RUN = {
    "dynevent/add_remove_btfarg.tc": "needs BTF, which the configurations leave out",
    "dynevent/add_remove_tprobe_module.tc":
        "the kernel's trace_fprobe.c oopses: it unregisters an fprobe twice when a module went",
}


def build(config, source):
    return Build(config.label, source, config.fragments, config.arch.name,
                 "" if config.llvm else config.arch.cross, config.llvm)


def our_functions(folder):
    objects = [str(path) for pattern in OUR_OBJECTS for path in folder.glob(pattern)]
    listed = subprocess.run(["nm", *objects], stdout=subprocess.PIPE, text=True, check=True)
    return set(re.findall(r"^[0-9a-f]+ [tT] (\S+)$", listed.stdout, re.M))


def is_others_race(complaint, ours):
    """The kernel has data races that are none of our business."""
    race = RACE.match(complaint)
    return bool(race) and not {re.split(r"[+ ]", f)[0] for f in race[1].split(" / ")} & ours


def boot(config, made, modules, what, order, limit, **more):
    with ui.Step(f"boot {config.label} {what}") as step:
        outcome = qemu.boot(config, made, modules, what, order, limit, step=step, **more)
    if any(RACE.match(line) for line in outcome.complaints):
        ours = our_functions(made.folder)
        outcome.complaints = [c for c in outcome.complaints if not is_others_race(c, ours)]
    return outcome


def judge(config, what, outcome, results):
    """What every boot must satisfy, whatever it was for."""
    name = f"{config.label} {what}"
    why = "ran out of time" if outcome.timed_out else "the guest died"
    results.check(f"{name}: runs to its end", outcome.finished and not outcome.timed_out,
                  f"{why}; the end of {outcome.log}:\n{ui.tail(outcome.log)}")
    results.check(f"{name}: the kernel has no complaint", not outcome.complaints,
                  f"in {outcome.log}:\n    " + "\n    ".join(outcome.complaints[:10]))


def our_suites(made):
    """The suites of the test files we laid into the tree, as far as they were built."""
    names = [n for n in tree.our_files() if re.search(r"(_test|/test_\w+|_kunit)\.c$", n)
             and (made.folder / n).with_suffix(".o").exists()]
    return ktap.suites_in(made.source / n for n in names)


def kunit(config, made, modules, results):
    outcome = boot(config, made, modules, "kunit", ["jobs/off"], 300)
    judge(config, "kunit", outcome, results)
    seen = set()
    for suite, case, status in ktap.cases(made.source, outcome.log):
        name = f"{config.label} kunit {suite}.{case}"
        seen.add(suite)
        if status == "SKIPPED":
            results.skip(name, "KUnit says so")
        else:
            results.check(name, status == "SUCCESS", f"{status}, see {outcome.log}")
    for suite in sorted((our_suites(made) | set(config.arch.suites)) - seen):
        results.fail(f"{config.label} kunit {suite}", "the suite never ran")


def output(lines):
    """What a failing test printed, which follows its line."""
    return list(itertools.takewhile(lambda line: line.startswith("out: "), lines))[:40]


def count_script(config, outcome, script, results):
    """Counts the ok and not ok lines of one guest script."""
    lines, status = outcome.script(script)
    label = script.removeprefix("jobs/").removesuffix(".sh")
    counted = 0
    for i, line in enumerate(lines):
        word = re.match(r"(ok|not ok|skip) ([^#]*?)\s*(?:# (.*))?$", line)
        if not word:
            continue
        counted += 1
        kind, test, note = word.groups()
        name = f"{config.label} {label} {test}"
        if kind == "ok":
            results.ok(name)
        elif kind == "skip":
            results.skip(name, note or "no reason given")
        else:
            results.fail(name, "\n    ".join([f"{note or ''} see {outcome.log}", *output(lines[i + 1:])]))
    if status != 0 or not counted:
        why = f"status {status}, {counted} results, see {outcome.log}"
        last = [line for line in lines if line.startswith("out: ")][-30:]
        results.fail(f"{config.label} {label}: the script ends well", "\n    ".join([why, *last]))


def scripts(config, made, modules, results):
    order = sorted(p.name for p in (HARNESS / "guest").glob("*.sh") if p.name != TOGGLE)
    outcome = boot(config, made, modules, "scripts", order, 600, args=QUIET)
    judge(config, "scripts", outcome, results)
    for script in order:
        count_script(config, outcome, script, results)


def toggle(config, made, modules, results):
    """Probes that change while four CPUs hit them: KP_SECONDS long, from the seed KP_SEED.

    The CPUs share a thread of the emulator: with threads of their own one may go on
    with its translation of a text that another has changed, and hits get lost.
    """
    seconds = int(os.environ.get("KP_SECONDS") or config.toggle)
    order = [f"{TOGGLE} {seconds} {int(os.environ.get('KP_SEED') or 1)}"]
    outcome = boot(config, made, modules, "toggle", order, 120 + 2 * seconds, args=QUIET,
                   cpus=4, threads="single")
    judge(config, "toggle", outcome, results)
    count_script(config, outcome, TOGGLE, results)


def selftests(config, made, modules, results):
    order = [f"jobs/selftests {SELFTEST_LIMIT * config.slow} {' '.join(config.selftests)}"]
    folder = made.source / "tools/testing/selftests/ftrace"
    extra = [("kp/ftrace/ftracetest", folder / "ftracetest"),
             ("kp/ftrace/test.d/functions", folder / "test.d/functions")]
    tests = [f"{name}/{path.name}" for name in config.selftests
             for path in sorted((folder / "test.d" / name).glob("*.tc"))]
    not_run = {tc: "not on this architecture" for tc in config.arch.unsupported} | NOT_RUN
    extra += [(f"kp/ftrace/test.d/{tc}", folder / "test.d" / tc) for tc in tests if tc not in not_run]
    for tc, why in not_run.items():
        if tc.startswith(config.selftests):
            results.skip(f"{config.label} selftests {tc}", why)
    outcome = boot(config, made, modules, "selftests", order, 600, args=QUIET, extra=extra)
    judge(config, "selftests", outcome, results)
    count_script(config, outcome, "jobs/selftests", results)


def test(config, made, modules, results):
    """Everything for one built configuration."""
    parts = {"kunit": kunit, "scripts": scripts, "toggle": toggle, "selftests": selftests}
    for name in config.parts:
        parts[name](config, made, modules, results)


def run(config, source):
    """Shows probes firing; returns the exit status."""
    made = build(config, source)
    outcome = boot(config, made, made.kernel(), "run", ["samples.sh"], 120, args=QUIET)
    lines, status = outcome.script("samples.sh")
    bad = [line for line in lines if line.startswith(("not ok", "out: "))] + outcome.complaints
    ui.say()
    for line in lines:
        if not line.startswith(("ok ", "not ok ", "mark ", "out: ")):
            ui.say(line)
    if not outcome.finished or status != 0 or bad:
        raise ui.Failure("\n  ".join(["the probes did not do as they should:", *bad[:20]]) +
                         f"\nthe end of {outcome.log}:\n{ui.tail(outcome.log)}")
    ui.say("\nBoth probes fired.")
    return 0
