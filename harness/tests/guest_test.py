# SPDX-License-Identifier: GPL-2.0-only
"""Tests of reading the serial log of a guest."""
import types
import unittest
from pathlib import Path
from unittest import mock

from harness import configs, guesttest, ktap, qemu, ui
from harness.results import Results
from harness.tests import Case

HEALTHY = """\
SeaBIOS (version 1.16)
[    0.000000] Linux version 6.12.1
[    0.000000] Command line: console=ttyS0 panic=-1 oops=panic
[    0.100000] Spectre V2 : WARNING is only a word here
[    1.000000] kp: begin a.sh
[    1.100000] kp: ok 1 one
[    1.100000] kp: # a word
[    1.100000] kp: ok 2 two # 3 s
[    1.100000] kp: 1..2
[    1.200000] kp: end a.sh 0
[    1.300000] kp: done
"""
COMPLAINTS = [
    "[    1.5] WARNING: CPU: 0 PID: 1 at kernel/kprobes.c:1 f+0x1/0x2",
    "[    1.5] BUG: KASAN: slab-use-after-free in f+0x1/0x2",
    "[    1.5] BUG: kernel NULL pointer dereference, address: 0000000000000000",
    "[    1.5] kernel BUG at kernel/kprobes.c:1!",
    "[    1.5] Oops: int3: 0000 [#1] PREEMPT SMP",
    "[    1.5] WARNING: possible circular locking dependency detected",
    "[    1.5] WARNING: suspicious RCU usage",
    "[    1.5] BUG: sleeping function called from invalid context at f.c:1",
    "[    1.5] INFO: task kp:1 blocked for more than 60 seconds.",
    "[    1.5] rcu: INFO: rcu_sched self-detected stall on CPU",
    "[    1.5] watchdog: BUG: soft lockup - CPU#0 stuck for 26s!",
    "[    1.5] Kernel panic - not syncing: Fatal exception",
    "[    1.5] [ BUG: Invalid wait context ]",
    "[    1.5] ------------[ ftrace bug ]------------",
    "[    1.5][    T1] BUG: scheduling while atomic: sh/1/0x00000002",
]


class GuestTest(Case):
    def outcome(self, text):
        return qemu.read(self.log(text))

    def told(self, timed_out, **more):
        outcome = self.outcome(HEALTHY[:HEALTHY.index("[    1.200000]")])
        outcome.timed_out = timed_out
        self.said()
        with mock.patch("harness.guesttest.boot", return_value=outcome):
            return guesttest.told(None, "a", "a.sh", 1, **more)

    def test_a_script_that_takes_too_long_may_do_as_far_as_it_came(self):
        self.assertEqual(self.told(True, partly=True), ["ok 1 one", "a word", "ok 2 two # 3 s", "1..2"])
        for timed_out, more in ((True, {}), (False, {"partly": True})):
            with self.assertRaises(ui.Failure):
                self.told(timed_out, **more)

    def count(self, text, script="a.sh"):
        results = Results()
        self.said()
        guesttest.count_script(configs.CONFIGS[0], self.outcome(text), script, results)
        return results.passed, len(results.failures), len(results.skipped)

    def test_healthy(self):
        out = self.outcome(HEALTHY)
        self.assertTrue(out.finished)
        self.assertEqual(out.complaints, [])
        self.assertEqual(self.count(HEALTHY), (2, 0, 0))

    def test_complaints(self):
        for line in COMPLAINTS:
            with self.subTest(line):
                self.assertEqual(self.outcome(HEALTHY + line + "\n").complaints, [line])

    def test_a_stack_that_turns(self):
        line = "[    1.5] WARNING: stack going in the wrong direction? at {}+0x46/0x50"
        for name, complaints in [("return_to_handler", 0), ("vfs_read", 1)]:
            with self.subTest(name):
                text = HEALTHY + line.format(name) + "\n"
                self.assertEqual(len(self.outcome(text).complaints), complaints)

    def test_a_failing_line(self):
        self.assertEqual(self.count(HEALTHY.replace("ok 1 one", "not ok 1 one # why")), (1, 1, 0))

    def test_a_script_that_fails_at_its_end(self):
        self.assertEqual(self.count(HEALTHY.replace("a.sh 0", "a.sh 2")), (2, 1, 0))

    def test_a_script_that_never_ends(self):
        self.assertEqual(self.count(HEALTHY.split("[    1.2")[0]), (2, 1, 0))

    def test_a_script_that_tests_nothing(self):
        self.assertEqual(self.count(HEALTHY.replace("kp: ok", "ok").replace("1..2", "1..0")), (0, 1, 0))

    def test_a_script_that_loses_a_line(self):
        self.assertEqual(self.count(HEALTHY.replace("kp: ok 1", "ok 1")), (1, 1, 0))

    def test_a_script_that_does_not_count(self):
        self.assertEqual(self.count(HEALTHY.replace("1..2", "Bail out!").replace("a.sh 0", "a.sh 1")), (2, 1, 0))

    def test_a_skipped_line(self):
        results = Results()
        guesttest.count_script(configs.CONFIGS[0], self.outcome(HEALTHY.replace("one", "one: why # SKIP")), "a.sh", results)
        self.assertEqual(results.skipped, ["x86_64:none a one: why"])

    def test_a_skipped_script(self):
        text = HEALTHY.replace("ok 1 one", "1..0 # SKIP why").replace("a.sh 0", "a.sh 4")
        text = "".join(line for line in text.splitlines(True) if " ok 2" not in line and "1..2" not in line)
        self.assertEqual(self.count(text), (0, 0, 1))

    def test_what_a_failing_line_says(self):
        said = self.said()
        guesttest.count_script(configs.CONFIGS[0], self.outcome(HEALTHY.replace("ok 1", "not ok 1")), "a.sh", Results())
        self.assertIn("a word", said.getvalue())
        self.assertNotIn("ok 2 two", said.getvalue())

    def test_another_processor(self):
        made = types.SimpleNamespace(config=configs.CONFIGS[0], folder=Path("/build"))
        for cpu, used in (("", "max"), ("Skylake-Server", "Skylake-Server")):
            words = qemu.command(made, "initrd", cpu=cpu)
            # QEMU uses the last one of several options.
            self.assertEqual([b for a, b in zip(words, words[1:]) if a == "-cpu"][-1], used)


class RaceTest(unittest.TestCase):
    def test_whose(self):
        title = "[    1.5] BUG: KCSAN: data-race in "
        for text, others in [("f / g", True), ("f / point_find", False), ("point_find+0x3/0x8", False),
                             ("point_find / f", False), ("f+0x1/0x2", True)]:
            with self.subTest(text):
                self.assertEqual(guesttest.is_others_race(title + text, {"point_find"}), others)

    def test_another_complaint(self):
        self.assertFalse(guesttest.is_others_race("[    1.5] BUG: KASAN: use in f", {"point_find"}))


class LoopsTest(unittest.TestCase):
    def failed(self, *jumped):
        lines = ["knob 0", "bench place f+0 1 215", "bench place f+4 0 3", "knob 1", *jumped, "ok measured"]
        outcome = types.SimpleNamespace(script=lambda name: (lines, 0))
        results = Results()
        with mock.patch.object(guesttest, "run_scripts", lambda *args, **more: outcome), \
                mock.patch.object(guesttest.ui, "say"):
            guesttest.loops(types.SimpleNamespace(config=configs.CONFIGS[0]), results)
        return [name for name in results.failures if " in f " in name]

    def test_costs(self):
        self.assertEqual(guesttest.costs(["knob 0", "bench place f+0 1 215", "knob 1", "jump", "bench place f+0 1 62", "ok"]),
                         ({"f+0": (1, 215)}, {"f+0": (1, 62)}, {"f+0"}))

    def test_judged(self):
        self.assertEqual(self.failed("jump", "bench place f+0 1 62", "bench place f+4 0 500"), [])
        for bad in [("bench place f+0 1 62",), ("bench place f+0 2 62", "bench place f+4 0 0"), ("bench place f+0 1 716", "bench place f+4 0 0"),
                    ("jump", "bench place f+0 1 62", "bench place f+4 0 1568447")]:
            with self.subTest(bad):
                self.assertEqual(len(self.failed(*bad)), 1)


class SuitesTest(Case):
    def test_names(self):
        path = self.log('static struct kunit_suite s = {\n\t.name = "kprobes_state",\n\t.x = y,\n};\n')
        self.assertEqual(ktap.suites_in([path]), {"kprobes_state"})
