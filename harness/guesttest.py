# SPDX-License-Identifier: GPL-2.0-only
"""The tests that run in a booted guest."""
import errno
import itertools
import os
import re
import shutil
import subprocess
from collections import defaultdict

from . import examples, faults, ktap, packages, qemu, tree, ui
from .build import Build, rivals
from .paths import HARNESS, REPO, log_file
from .results import Results

# Data races are ours if they involve functions of these objects in the build folder.
OUR_OBJECTS = ["kernel/kprobes.o", "kernel/kprobes/*.o", "arch/*/kernel/kprobes/*.o",
               "arch/*/kernel/probes/*.o", "lib/test_kprobes/kp_*.o", "lib/test_kprobes/*/*.o"]
RACE = re.compile(r".*BUG: KCSAN: [\w: -]+? in (.*)")

QUIET = ["kunit.enable=0"]      # KUnit has a boot of its own
# Probes from the command line, which at_boot.sh removes.
AT_BOOT = ["kprobe_event=p:at_boot,vfs_read;r:at_boot_return,vfs_read;p:at_boot_fork,kernel_clone;"
           "p:at_boot_end,ftrace_free_init_mem"]
LEAKS = ["kmemleak=on"]         # for nomem.sh
# The emulator forgets its translations whenever page tables change, as with isolated ones at each system call.
CHEAP_PROGRAMS = ["mitigations=off"]
LONG_LOG = ["log_buf_len=4M"]   # with room for a line for each refused address
FUZZ = "fuzz.sh"                # takes its duration as an argument
TRAPS = "traps.sh"              # as well; for x86 only
# These have a boot of their own: the first two need more CPUs; the third takes long, and may
# crash the guest; the others test probes beside other users of the same functions.
RACING = ["toggle.sh", "torture.sh"]
SWEEP = "sweep.sh"
# These measure, see bench.py, run all of them, or send the machine to sleep and to another kernel.
BY_NAME = ["bench.sh", "report.sh", "sleep.sh", "kexec.sh"]
BESIDE = ["at_boot.sh", "clients.sh", "counts.sh", "fuzz.sh", "inject.sh", "kgdb.sh", "livepatch.sh",
          "nomem.sh", "pidns.sh", "static.sh"]
SCALE = (2, 64)                 # CPUs
SCALE_PROBES = 10000
# What jobs/refused says of what cannot be probed, and the names of the errors.
REFUSED = re.compile(r"refused -(\d+|E\w+) (\S+) (\S+) (.*)")
NAMES = {**errno.errorcode, errno.EOPNOTSUPP: "EOPNOTSUPP"}
# Lines of KTAP: of a test, and of the number of tests. A script that was not for this kernel has none.
TEST = re.compile(r"(ok|not ok) \d+ ([^#]*?)\s*(?:# (.*?)\s*)?")
PLAN = re.compile(r"1\.\.(\d+)(?: # SKIP (.*))?")
TOTALS = re.compile(r"Totals: .*")
# The selftests that tell of faults of the kernel's own kprobes.
FAULTY_THEIRS = {"bad_events.sh", "clients.sh", "inject.sh", "static.sh"}
SKIPPED = 4                     # the exit status of such a script
TRIED = re.compile(r"entries: tried (\d+) accepted (\d+)")
SHOWN = 40                      # hits that ./kp probe prints
# Of events of fprobes, and of those at tracepoints, which are among their users.
NEEDS_FPROBES = re.compile(r"""^# requires:.*["'][ft]\[:""", re.M)
LOOP_SLACK = 500                # instructions, for what else differs
# Memory for the kernel that follows a crash, and what the first one says of that.
CRASH_KERNEL = "crashkernel=160M"
CRASHED = "Kernel panic - not syncing: sysrq triggered crash"
SELFTEST_LIMIT = 120            # seconds for one .tc, on the fastest configuration

# ftrace selftests that cannot pass here, with the reasons.  All others must pass.
NOT_RUN = {
    **{f"dynevent/{name}.tc": "needs BTF, which the configurations leave out"
       for name in ("add_remove_btfarg", "btf_probe_event", "btf_typecast_accepted")},
    "dynevent/add_remove_tprobe_module.tc":
        "the kernel's trace_fprobe.c oopses: it unregisters an fprobe twice when a module went",
}


def build(config, source):
    return Build(config.label, source, config.fragments, config.arch.name,
                 "" if config.llvm else config.arch.cross, config.llvm,
                 (config.arch.cross + "gcc", *config.arch.cflags), config.extras, base=config.base(), config=config)


def our_functions(folder):
    objects = [str(path) for pattern in OUR_OBJECTS for path in folder.glob(pattern)]
    listed = subprocess.run(["nm", *objects], stdout=subprocess.PIPE, text=True, check=True)
    return set(re.findall(r"^[0-9a-f]+ [tT] (\S+)$", listed.stdout, re.M))


def is_others_race(complaint, ours):
    """Whether a complaint is about a data race of the kernel that does not involve our code."""
    race = RACE.match(complaint)
    return bool(race) and not {re.split(r"[+ ]", f)[0] for f in race[1].split(" / ")} & ours


def boot(made, what, order, limit, **more):
    with ui.Step(f"boot {made.config.label} {what}") as step:
        outcome = qemu.boot(made, what, order, limit, step=step, **more)
    if any(RACE.match(line) for line in outcome.complaints):
        ours = our_functions(made.folder)
        outcome.complaints = [c for c in outcome.complaints if not is_others_race(c, ours)]
    return outcome


def judge(config, what, outcome, results):
    """Checks that hold for every boot."""
    name = f"{config.label} {what}"
    why = "ran out of time" if outcome.timed_out else "the guest died"
    results.check(f"{name}: runs to its end", outcome.finished and not outcome.timed_out,
                  f"{why}; {outcome.end}")
    results.check(f"{name}: the kernel has no complaint", not outcome.complaints,
                  f"in {outcome.log}:\n    " + "\n    ".join(outcome.complaints[:10]))
    if config.sign:
        results.check(f"{name}: the kernel says: {config.sign}", ui.contains(outcome.log, config.sign), f"see {outcome.log}")


def our_suites(made):
    """The suites of our test files, as far as they were built."""
    names = [n for n in tree.our_files() if re.search(r"(_test|_kunit)\.c$|/test_kprobes[./]", n)
             and (made.folder / n).with_suffix(".o").exists()]
    return ktap.suites_in(made.source / n for n in names)


def kunit_boot(made, what, args, results, cpu=""):
    """Counts the cases of one boot; returns its suites."""
    outcome = boot(made, what, [], 900, args=args, cpu=cpu)
    judge(made.config, what, outcome, results)
    seen = set()
    why = ktap.skipped(outcome.log)
    for suite, case, status in ktap.cases(made.source, outcome.log):
        name = f"{made.config.label} {what} {suite}.{case}"
        seen.add(suite)
        if status == "SKIPPED":
            results.skip(name, why.get(case, "no reason given"))
        else:
            results.check(name, status == "SUCCESS", f"{status}, see {outcome.log}")
    return seen


def kunit(made, results):
    seen = kunit_boot(made, "kunit", [], results)
    for what, cpu, words, sign in made.config.mitigations:
        kunit_boot(made, what, [*words.split(), "kunit.filter_glob=kprobes_*"], results, cpu)
        log = log_file(f"{made.config.label}-{what}")
        results.check(f"{made.config.label} {what}: the kernel says so",
                      ui.contains(log, sign or "Mitigation: ") == bool(sign), f"{sign or 'there are mitigations'}: see {log}")
    due = our_suites(made) | set(made.config.arch.suites) - set(made.config.without)
    for suite in sorted(due - seen):
        results.fail(f"{made.config.label} kunit {suite}", "the suite never ran")


def output(lines):
    """The output of a failing test, which follows its line."""
    return list(itertools.takewhile(lambda line: not TEST.fullmatch(line), lines))[:40]


def label_of(script):
    return script.removeprefix("jobs/").removesuffix(".sh")


def count_lines(config, outcome, script, results):
    """Counts the ok and not ok lines of one guest script; returns their number."""
    lines, _ = outcome.script(script)
    label = label_of(script)
    counted = 0
    for i, line in enumerate(lines):
        word = TEST.fullmatch(line)
        if not word:
            continue
        counted += 1
        kind, test, note = word.groups()
        name = f"{config.label} {label} {test}"
        if note == "SKIP":
            results.skip(*name.rsplit(": ", 1))
        elif kind == "ok":
            results.ok(name)
        else:
            results.fail(name, "\n    ".join([f"{note or ''} see {outcome.log}", *output(lines[i + 1:])]))
    return counted


def count_script(config, outcome, script, results):
    """Counts the lines of a script that must also come to its end, where it tells how many they are."""
    counted = count_lines(config, outcome, script, results)
    lines, status = outcome.script(script)
    plan = next(filter(None, map(PLAN.fullmatch, lines)), None)
    if plan and plan[2] and status == SKIPPED:
        results.skip(f"{config.label} {label_of(script)}", plan[2])
    elif status not in (0, 1) or not counted or not plan or int(plan[1]) != counted:
        why = f"status {status}, {counted} results, see {outcome.log}"
        results.fail(f"{config.label} {label_of(script)}: the script ends well", "\n    ".join([why, *lines[-30:]]))


def run_scripts(made, results, what, order, limit, args=(), **more):
    """Boots a guest for these lines of scripts and arguments, and counts what the scripts report."""
    outcome = boot(made, what, order, limit, args=[*QUIET, *args], **more)
    judge(made.config, what, outcome, results)
    for line in order:
        count_script(made.config, outcome, line.split()[0], results)
    return outcome


def told(made, what, line, limit, args=(), partly=False, **more):
    """Boots a guest for one script, which must end well; returns the lines that it says.

    @partly: those until the time is over will do as well.
    """
    outcome = boot(made, what, [line], limit, args=[*QUIET, *args], **more)
    lines, status = outcome.script(line.split()[0])
    if partly and outcome.timed_out and lines:
        ui.say(f"  {what} took too long, the rest is left out: see {outcome.log}")
        status = 0
    if status != 0 or outcome.complaints:
        raise ui.Failure(f"{what}: see {outcome.log}\n  " + "\n  ".join(outcome.complaints[:10]))
    return lines


def repeat(seconds):
    """The duration, @seconds by default, and the seed of a random test."""
    try:
        return int(os.environ.get("KP_SECONDS") or seconds), int(os.environ.get("KP_SEED") or 1)
    except ValueError as error:
        raise ui.Failure("KP_SECONDS and KP_SEED are numbers") from error


def scripts(made, results):
    alone = [*RACING, SWEEP, *BY_NAME, *BESIDE]
    order = sorted(p.name for p in (REPO / tree.SELFTESTS).glob("*.sh")
                   if os.access(p, os.X_OK) and p.name not in alone)
    seconds, start = repeat(15)
    lines = [f"{script} {seconds} {start}" if script == TRAPS else script for script in order]
    run_scripts(made, results, "scripts", lines, 600 + seconds)


def beside(made, results):
    """Runs the scripts with users of all kinds, shared functions, and failing allocations."""
    seconds, start = repeat(10)
    lines = [f"{script} {seconds} {start}" if script == FUZZ else script for script in BESIDE]
    # Threads as in race(): fuzz.sh changes text for long, and hits would get lost.
    run_scripts(made, results, "beside", lines, 600 + seconds, AT_BOOT + LEAKS,
                threads=made.config.arch.race_threads)


def alone(made, script, seconds, start, results):
    """Runs only FUZZ, random lines for kprobe_events, or TRAPS, random traps; see beside()."""
    run_scripts(made, results, label_of(script), [f"{script} {seconds} {start}"], 120 + seconds,
                quiet=seconds, threads=made.config.arch.race_threads)


def boot_with_returns(made, seed, results):
    """Return probes on all functions while the guest works and shuts down, with slab checks."""
    run_scripts(made, results, "returns", [f"{SWEEP} returns {seed}"], 300, [*LONG_LOG, "slab_debug=FZPU"], cpus=2)


def run_sweep(made, results, line, limit):
    """Boots a guest for SWEEP, with threads as in race(): a CPU that changes text waits for the others."""
    run_scripts(made, results, "sweep", [line], limit, LONG_LOG, cpus=2, threads=made.config.arch.race_threads)


def sweep(made, results, seed=None, dense=None):
    """Probes on the whole kernel at once, and on instructions chosen by @seed, or KP_SEED.

    @dense: the number of functions with a probe at each instruction, if not the usual one.
    """
    seed = repeat(0)[1] if seed is None else seed
    order = f"{SWEEP} {seed} {dense or ''}".rstrip()
    run_sweep(made, results, order, 3600 if dense else 1800)


def sweep_every(made, results, seed):
    """Every instruction of the kernel, by ranges of functions; where that is too much, those that @seed chooses."""
    run_sweep(made, results, f"{SWEEP} every {seed}", 5400)


def by_reason(lines):
    """The output of jobs/refused, as (kind of probe, errno, reason) -> functions."""
    found = defaultdict(list)
    for refused in filter(None, map(REFUSED.fullmatch, lines)):
        number, kind, function, reason = refused.groups()
        found[kind, NAMES[int(number)] if number.isdigit() else number, reason].append(re.sub(r"\+0x.*", "", function))
    return found


def refused(made):
    """Lists the functions that cannot be probed, with the reasons."""
    lines = told(made, "refused", "jobs/refused", 600, LONG_LOG, cpus=2)
    found = sorted(by_reason(lines).items(), key=lambda item: -len(item[1]))
    for (kind, error, reason), functions in found:
        ui.say(f"\n{kind}, -{error}, {reason}:")
        ui.say("\n".join(f"  {name}" for name in sorted(functions)))
    ui.say(f"\n{'functions':>9}  {'probe':6}  {'error':11}  reason")
    for (kind, error, reason), functions in found:
        ui.say(f"{len(functions):9}  {kind:6}  -{error:10}  {reason}")
    for tried in filter(None, map(TRIED.fullmatch, lines)):
        ui.say(f"of {tried[1]} functions {tried[2]} can be probed")
    return 0


def race(made, what, seconds, seed, results):
    """Probes that change while four CPUs hit them; @seconds: duration for each script.

    Mostly the CPUs share one thread of the emulator: with a thread each, one CPU may
    continue with its translation of text that another changed during the translation.
    Then hits get lost, and a slot may seem to have its former contents.
    """
    order = [f"{script} {length} {seed}" for script, length in seconds.items()]
    run_scripts(made, results, what, order, 300 + 2 * sum(seconds.values()), cpus=4,
                threads=made.config.arch.race_threads)


def toggle(made, results):
    """Runs each script of RACING for KP_SECONDS with the seed KP_SEED."""
    lengths = {script: repeat(length)[0] for script, length in zip(RACING, made.config.racing)}
    race(made, "toggle", lengths, repeat(0)[1], results)


def scale(made, results):
    """The same probes with few and with many CPUs; prints their costs by the number of CPUs."""
    for cpus in SCALE:
        # The CPUs would calibrate their clocks while others delay them.
        outcome = run_scripts(made, results, f"scale-{cpus}", [f"jobs/scale {SCALE_PROBES}"], 900,
                              ["lpj=4000000"], cpus=cpus)
        lines, _ = outcome.script("jobs/scale")
        ui.say(f"  {made.config.label}, {cpus} CPUs: " + ", ".join(
            line.removeprefix("scale ") for line in lines if line.startswith("scale ")))


def debians(made, results):
    """Runs Debian's programs, in a kernel with all options that they need."""
    run_scripts(made, results, "clients", ["jobs/perf", "jobs/bpftrace", "jobs/document"], 1200,
                folders=[("debian-root", packages.root()), ("build", made.folder)])


def sleep(made, results):
    """Sends the machine to sleep in every way, also with an image on a disk."""
    run_scripts(made, results, "sleep", ["sleep.sh /dev/vda"], 900, LONG_LOG, disk=True,
                threads=made.config.arch.race_threads)


def kexec(made, results):
    """Starts the same kernel once more, from one that is full of probes; that one has probes as well."""
    arch, following = made.config.arch, qemu.pack(made, "kexec-next", ["debugfs.sh"])
    extra = [("kexec/kernel", made.folder / (arch.elf or arch.kernel)), ("kexec/initramfs", following)]
    # An ELF file starts after a crash only: in order, RISC-V's kernel hangs, with or without probes.
    for crash, knob in itertools.product((True,) if arch.elf else (False, True), (0, 1)):
        how = f"{'crash' if crash else 'kexec'}-{'jumps' if knob else 'breakpoints'}"
        order = f"kexec.sh /kexec/kernel /kexec/initramfs {knob}" + crash * " crash"
        outcome = boot(made, how, [order], 600, args=[*QUIET, *crash * [CRASH_KERNEL]], extra=extra,
                       threads=arch.race_threads)
        outcome.complaints = [line for line in outcome.complaints if not (crash and CRASHED in line)]
        judge(made.config, how, outcome, results)
        # The first script never ends: what the second kernel says follows.
        count_lines(made.config, outcome, "kexec.sh", results)
        results.check(f"{made.config.label} {how}: the next kernel works", "end debugfs.sh 0" in outcome.lines, outcome.end)


def torture(made, results, seconds, start):
    race(made, "torture", {"torture.sh": seconds}, start, results)


def selftests(made, results):
    order = [f"jobs/selftests {SELFTEST_LIMIT * made.config.slow} {' '.join(made.config.selftests)}"]
    folder = made.source / "tools/testing/selftests/ftrace"
    extra = [("kp/ftrace/ftracetest", folder / "ftracetest"),
             ("kp/ftrace/test.d/functions", folder / "test.d/functions")]
    tests = [f"{name}/{path.name}" for name in made.config.selftests
             for path in sorted((folder / "test.d" / name).glob("*.tc"))]
    not_run = {tc: "not on this architecture" for tc in made.config.arch.unsupported} | NOT_RUN
    fprobes = "CONFIG_FPROBE=y" in (made.folder / ".config").read_text()
    for tc in tests:
        text = (folder / "test.d" / tc).read_text()
        if "which readelf" in text:
            not_run[tc] = "needs readelf; see uprobes.sh"
        elif not fprobes and NEEDS_FPROBES.search(text):
            not_run[tc] = "this kernel has no fprobes"
    extra += [(f"kp/ftrace/test.d/{tc}", folder / "test.d" / tc) for tc in tests if tc not in not_run]
    for tc, why in not_run.items():
        if tc in tests:
            results.skip(f"{made.config.label} selftests {tc}", why)
    # They start thousands of programs, one after the other.
    run_scripts(made, results, "selftests", order, 1800, CHEAP_PROGRAMS, extra=extra, cpus=1)


def run_tar(made, results, what, kernel):
    """The selftests as they run elsewhere: from the kernel's tar, by its script. Each script is one test here."""
    installed = made.folder / "kselftest/kselftest_install"
    # The makefiles leave there what was once installed.
    shutil.rmtree(installed, ignore_errors=True)
    with ui.Step(f"pack {made.config.label} kselftest") as step:
        made.selftests(step, "gen_tar")
    tar = installed / "kselftest-packages/kselftest.tar.gz"
    run_scripts(kernel, results, what, ["jobs/kselftest"], 3600, LONG_LOG, extra=[("kselftest.tar.gz", tar)],
                cpus=4, threads=made.config.arch.race_threads)


def kselftest(made, results):
    run_tar(made, results, "kselftest", made)


def kselftest_theirs(made, results):
    """The same tar on the kernel's own kprobes, where it fails only where these are at fault."""
    theirs = dict(rivals(made.config))["theirs"]
    theirs.out_of_tree = ()
    theirs.kernel()
    with ui.Step(f"build {theirs.label} modules") as step:
        theirs.tests(step)
    theirs.modules = []
    found = Results()
    run_tar(made, found, "kselftest-theirs", theirs)
    failed = {name.split()[-1] for name in found.failures}
    # An override by BPF may come before its probe has become a jump.
    results.check(f"{theirs.label} kselftest: only {', '.join(sorted(FAULTY_THEIRS))} fail",
                  found.passed and failed <= FAULTY_THEIRS, f"these failed: {found.failures}")


def faulty_handlers(made, results):
    """Handlers that fault. After a kernel panic the guest is booted again for the other cases."""
    script = "jobs/faults"
    left = [case for case in faults.CASES if not case.endswith(made.config.impossible)]
    while left:
        what = f"faults {left[0]}"
        outcome = boot(made, re.sub("[ :]", "-", what), [f"{script} {' '.join(left)}"], 300, args=QUIET)
        logged = faults.sections(outcome.log)
        for case, lines in logged.items():
            bad = faults.wrong(case, lines)
            results.check(f"{made.config.label} faults {case}: the kernel tells where", not bad,
                          f"{'; '.join(bad)}, see {outcome.log}")
        if outcome.finished:
            count_script(made.config, outcome, script, results)
        else:
            count_lines(made.config, outcome, script, results)
            results.check(f"{made.config.label} {what}: ends as it should", faults.end_is_due(logged),
                          outcome.end)
        left = [case for case in left if case not in logged] if logged else []


def costs(lines):
    """The output of jobs/loops by breakpoint and by jump: place -> (hits, cost), and the places with a jump."""
    found, jumps, jump = ({}, {}), set(), False
    for word in map(str.split, lines):
        if word[0] == "knob":
            now = found[int(word[1])]
        elif word[0] == "jump":
            jump = True
        elif word[:2] == ["bench", "place"]:
            now[word[2]] = (int(word[3]), int(word[4]))
            jumps |= {word[2]} if jump else set()
            jump = False
    return *found, jumps


def loops(made, results):
    """A jump costs code that does not pass its probe nothing, and other code no more than the breakpoint would."""
    outcome = run_scripts(made, results, "loops", ["jobs/loops"], 900, cpus=1, threads="single", count=True)
    name = f"{made.config.label} loops"
    breaks, jumped, jumps = costs(outcome.script("jobs/loops")[0])
    for function in sorted({place.split("+")[0] for place in breaks}):
        places = [place for place in breaks if place.split("+")[0] == function]
        bad = [f"{place}: {jumped.get(place)} (hits, instructions), by breakpoint {breaks[place]}"
               for place in places if place not in jumped or jumped[place][0] != breaks[place][0] or
               jumped[place][1] > breaks[place][1] + LOOP_SLACK]
        results.check(f"{name}: a jump in {function} costs no more than a breakpoint, at {len(places)} places",
                      not bad, "\n    ".join(["", *bad]))
    results.check(f"{name}: of {len(breaks)} places {len(jumps)} have a jump", 2 * len(jumps) > len(breaks) > 200,
                  "too few")


# The examples take no guest.
PARTS = {"examples": examples.build, "kunit": kunit, "scripts": scripts, "beside": beside,
         "sweep": sweep, "toggle": toggle, "faults": faulty_handlers, "selftests": selftests,
         "scale": scale, "loops": loops, "clients": debians, "sleep": sleep, "kexec": kexec}


def run(made):
    """Shows probes firing; returns the exit status."""
    outcome = boot(made, "run", ["samples.sh"], 120, args=QUIET)
    lines, status = outcome.script("samples.sh")
    bad = [line for line in lines if line.startswith("not ok")] + outcome.complaints
    ui.say()
    for line in lines:
        if not any(kind.fullmatch(line) for kind in (TEST, PLAN, TOTALS)):
            ui.say(line)
    if not outcome.finished or status != 0 or bad:
        raise ui.Failure("\n  ".join(["the probes did not do as they should:", *bad[:20]]) +
                         f"\n{outcome.end}")
    ui.say("\nBoth probes fired.")
    return 0


class Echo:
    """Prints the output of a guest script while it runs, in place of a step's line."""

    def __init__(self, log, words):
        self.log, self.words, self.seen = log, words, 0
        log.unlink(missing_ok=True)

    def tick(self, _=""):
        lines = qemu.read(self.log).lines if self.log.exists() else []
        for line in lines[self.seen:]:
            word, _, text = line.partition(" ")
            if word in self.words:
                ui.say(f"  {text}")
        self.seen = len(lines)


def probe(made, place, ret, seconds):
    """Shows the hits of one probe as they occur; returns the exit status."""
    echo = Echo(log_file(f"{made.config.label}-probe"), ["hit"])
    ui.say(f"boot {made.config.label}, probe {place} for {seconds} seconds:")
    order = [f"jobs/probe {'r' if ret else 'p'} {place} {SHOWN} {seconds}"]
    outcome = qemu.boot(made, "probe", order, 60 + seconds, args=QUIET, step=echo, quiet=seconds)
    echo.tick()
    said = dict(line.split(" ", 1) for line in outcome.lines if line.startswith(("point ", "count ")))
    refused = [line.removeprefix("refused ") for line in outcome.lines if line.startswith("refused ")]
    if "refused" in outcome.lines:
        raise ui.Failure("\n  ".join([f"{place} cannot be probed:", *(refused or ["no reason given"])]))
    if not outcome.finished or "count" not in said or outcome.complaints:
        raise ui.Failure("\n  ".join(["the guest did not come to its end:", *outcome.complaints[:5]]) +
                         f"\n{outcome.end}")
    hits, missed = map(int, said["count"].split())
    _, where, state, *_, = said["point"].split()
    reason = said["point"].split(" ", 5)[5]
    ui.say(f"{hits} hits, {missed} missed" + (f", of which {SHOWN} are shown" if hits > SHOWN else ""))
    jump = reason == "-" or reason.startswith("jump at")
    ui.say(f"{where} is {state}" + ("" if jump else f", no jump: {reason}"))
    return 0
