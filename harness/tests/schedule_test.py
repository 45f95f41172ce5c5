# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the order of a complete test, and that it ends in time."""
import threading
import time
import types

from harness import configs, guesttest, ports, schedule, ui
from harness.results import Results
from harness.tests import Case


def config(arch, name, parts=("kunit", "sweep")):
    return types.SimpleNamespace(arch=types.SimpleNamespace(name=arch), label=f"{arch}:{name}", parts=parts,
                                 quick=parts[:1])


GUESTS = [config("x", "a"), config("x", "b"), config("y", "c"), config("y", "d")]
PORT = types.SimpleNamespace(label="ports:z")


class ScheduleTest(Case):
    def setUp(self):
        super().setUp()
        self.done, self.results = [], Results()
        self.ready = threading.Event()
        self.ready.set()
        # This process may have started minutes ago.
        self.swap(ui, START=time.monotonic(), STOP=threading.Event(), END=None, say=lambda text="": None)
        self.swap(guesttest, PARTS={name: self.part(name) for name in ("kunit", "sweep")},
                  build=lambda config, source: types.SimpleNamespace(
                      config=config, kernel=lambda: self.kernel(config)))
        self.swap(ports, compile=lambda port, source: self.compile())

    def compile(self):
        """Runs until @ready, unless it is stopped."""
        while not self.ready.wait(0.01):
            if ui.STOP.is_set():
                raise ui.Failure("stopped")

    def kernel(self, config):
        if config.label == "x:b":
            self.compile()
        if config.label == "y:d":
            raise ui.Failure("does not build")

    def part(self, name):
        def run(made, results):
            self.done.append(f"{made.config.label} {name}")
            results.ok(name)
            if self.done[-1] == "y:c sweep":
                self.ready.set()
        return run

    def run_all(self, **more):
        schedule.Schedule(None, self.results, **more).run(GUESTS, [PORT])

    def test_the_first_of_each_architecture_comes_first(self):
        labels = [config.label for config in schedule.in_turn(GUESTS)]
        self.assertEqual(labels, ["x:a", "y:c", "x:b", "y:d"])
        first = [config.arch for config in schedule.in_turn(configs.CONFIGS)][:4]
        self.assertEqual(len(set(first)), 4)

    def test_what_can_wait_runs_while_a_kernel_builds(self):
        self.ready.clear()
        self.run_all()
        self.assertEqual(sorted(self.done[:4]), ["x:a kunit", "x:a sweep", "y:c kunit", "y:c sweep"])
        self.assertCountEqual(self.done[4:], ["x:b kunit", "x:b sweep"])
        self.assertEqual(self.results.failures, ["y:d builds"])
        self.assertEqual(self.results.skipped, [])

    def test_quick_runs_what_a_configuration_names(self):
        self.run_all(quick=True)
        self.assertCountEqual(self.done, ["x:a kunit", "y:c kunit", "x:b kunit"])
        for config in configs.CONFIGS:
            self.assertLessEqual(set(config.quick), set(config.parts))

    def test_what_else_goes_wrong_is_one_failure(self):
        def fails(*_):
            raise OSError(28, "no space")

        self.swap(guesttest, PARTS={"kunit": fails, "sweep": self.part("sweep")})
        self.swap(ScheduleTest, compile=fails)
        self.run_all()
        self.assertCountEqual(self.done, ["x:a sweep", "y:c sweep"])
        self.assertEqual(sorted(self.results.failures),
                         ["ports:z builds", "x:a kunit", "x:b builds", "y:c kunit", "y:d builds"])

    def test_guests_end_with_all(self):
        self.run_all(minutes=1)
        self.assertLessEqual(ui.within(10000), 60 * (1 + schedule.GRACE))
        ui.END = schedule.time.monotonic() - 1
        self.assertEqual(ui.within(10000), 5)
        ui.END = None
        self.assertEqual(ui.within(10000), 10000)

    def test_nothing_begins_when_time_is_over(self):
        self.ready.clear()
        self.run_all(minutes=-1)
        self.assertEqual(self.done, [])
        self.assertEqual(self.results.failures, [])
        self.assertIn("ports:z: not begun within -1 minutes", self.results.skipped)
        self.assertTrue(ui.STOP.is_set())

    def test_a_build_may_need_as_long_as_the_slowest(self):
        now = [ui.START]

        def slow(config, source):
            def kernel():
                now[0] += 31
            return types.SimpleNamespace(config=config, kernel=kernel)

        self.swap(schedule, time=types.SimpleNamespace(monotonic=lambda: now[0]))
        self.swap(guesttest, build=slow)
        self.run_all(minutes=1)
        self.assertIn("y:c: not begun within 1 minutes", self.results.skipped)

    def test_both_hands_boot_when_all_is_built(self):
        both = threading.Barrier(2)
        self.swap(guesttest, PARTS={name: lambda *_: both.wait(10) for name in ("kunit", "sweep")})
        schedule.Schedule(None, self.results).run(GUESTS[:1], [])
        self.assertEqual(self.results.failures, [])
