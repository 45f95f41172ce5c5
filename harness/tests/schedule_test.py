# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the order of a complete test, and that it ends in time."""
import threading
import time
import types

from harness import cli, configs, guesttest, ports, schedule, ui
from harness.results import Results
from harness.tests import Case


def config(arch, name, slow):
    return types.SimpleNamespace(arch=types.SimpleNamespace(name=arch), label=f"{arch}:{name}", slow=slow,
                                 parts=("kunit", "sweep"), daily=("kunit",))


# Built from the last to the first.
GUESTS = [config("y", "d", 1), config("x", "b", 2), config("y", "c", 3), config("x", "a", 4)]
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
        by = time.monotonic() + 10
        while not self.ready.wait(0.01):
            if ui.STOP.is_set() or time.monotonic() > by:
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

    def test_what_takes_longest_begins_first(self):
        built = []
        self.swap(guesttest, build=lambda config, source: types.SimpleNamespace(
            config=config, kernel=lambda: built.append(config.label)))
        self.ready.clear()
        self.swap(ScheduleTest, compile=lambda self: None)
        schedule.Schedule(None, self.results).run(GUESTS, [])
        self.assertEqual(built, ["x:a", "y:c", "x:b", "y:d"])

    def test_daily_and_all(self):
        guests, compiled, tools = cli.selected([], False)
        self.assertEqual([config.label for config in guests], ["x86_64:none", "arm64:none", "riscv:none"])
        self.assertEqual((compiled, tools), ([], ["harness"]))
        guests, compiled, tools = cli.selected(["all"], False)
        self.assertEqual((set(guests), compiled, tools), (set(configs.CONFIGS), ports.PORTS, ["harness", "series"]))

    def test_every_part_has_a_cost(self):
        for config in [*configs.CONFIGS, *configs.BY_NAME]:
            self.assertLessEqual(set(config.parts), set(schedule.COSTS))

    def test_the_longest_part_that_waits_is_next(self):
        whole = schedule.Schedule(None, self.results)
        whole.put(schedule.END)
        for made in (types.SimpleNamespace(config=config) for config in GUESTS):
            whole.builds.append(("", whole.kernel, made))
            made.kernel = lambda: None
        whole.build()
        whole.boot()
        self.assertEqual(self.done[:5], ["x:a sweep", "y:c sweep", "x:a kunit", "y:c kunit", "x:b sweep"])

    def test_what_can_wait_runs_while_a_kernel_builds(self):
        self.ready.clear()
        self.run_all()
        self.assertEqual(sorted(self.done[:4]), ["x:a kunit", "x:a sweep", "y:c kunit", "y:c sweep"])
        self.assertCountEqual(self.done[4:], ["x:b kunit", "x:b sweep"])
        self.assertEqual(self.results.failures, ["y:d builds"])
        self.assertEqual(self.results.skipped, [])

    def test_the_daily_test_runs_what_a_configuration_names(self):
        self.run_all(daily=True)
        self.assertCountEqual(self.done, ["x:a kunit", "y:c kunit", "x:b kunit"])
        for config in configs.CONFIGS:
            self.assertLessEqual(set(config.daily), set(config.parts))

    def test_what_else_goes_wrong_is_one_failure(self):
        def fails(*_):
            raise OSError(28, "no space")

        self.swap(guesttest, PARTS={"kunit": fails, "sweep": self.part("sweep")})
        self.swap(ScheduleTest, compile=fails)
        self.run_all()
        self.assertCountEqual(self.done, ["x:a sweep", "y:c sweep"])
        self.assertEqual(sorted(self.results.failures),
                         ["ports:z builds", "x:a kunit", "x:b builds", "y:c kunit", "y:d builds"])

    def test_another_version_of_linux(self):
        folder = self.folder
        for verdict, failures in (("1 passed, 0 failed", []), ("  not ok a b\n1 passed, 1 failed", ["1 passed, 1 failed"]),
                                  ("kp: no kernel", ["no verdict"])):
            self.results = Results()
            self.swap(schedule, REPO=folder, log_file=lambda name: folder / name)
            ui.STOP.clear()
            kp = folder / "kp"
            kp.write_text(f"#!/bin/sh\necho '{verdict}'\necho \"$@\" >&2\nexit {len(failures)}\n")
            kp.chmod(0o755)
            schedule.Schedule(None, self.results).run([], [], versions=["9.9"])
            self.assertEqual(self.results.failures, [f"Linux 9.9: {said}" for said in failures])
            self.assertEqual(self.results.passed, not failures)
            self.assertTrue((folder / "test-9.9").read_text().endswith("test --kernel 9.9\n"))

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
        self.assertIn("x:b: not begun within 1 minutes", self.results.skipped)

    def test_both_hands_boot_when_all_is_built(self):
        both = threading.Barrier(2)
        self.swap(guesttest, PARTS={name: lambda *_: both.wait(10) for name in ("kunit", "sweep")})
        schedule.Schedule(None, self.results).run(GUESTS[1:2], [])
        self.assertEqual(self.results.failures, [])
