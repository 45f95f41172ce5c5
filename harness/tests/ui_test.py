# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the output of a step, and that nothing is left when it is stopped."""
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from harness import ui
from harness.paths import REPO
from harness.tests import Case

STOPPED = """
import sys
from harness import cli, ui
cli.end_orderly()
ui.supervise(["sh", "-c", "echo $$; sleep 100 & echo $!; wait"], sys.argv[1])
"""


def alive(pid):
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


class UiTest(Case):
    def setUp(self):
        super().setUp()
        self.log = self.folder / "log"

    def stopped(self, number):
        # This may be part of a job that ignores SIGINT, or SIGHUP, as kp then does, too.
        kp = subprocess.Popen([sys.executable, "-c", STOPPED, str(self.log)], cwd=REPO,
                              stderr=subprocess.DEVNULL,
                              preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        by = time.monotonic() + 20
        while not self.log.exists() or len(self.log.read_text().split()) < 2:
            self.assertLess(time.monotonic(), by)
            time.sleep(0.05)
        pids = self.log.read_text().split()
        self.assertTrue(all(map(alive, pids)))
        os.kill(kp.pid, number)
        kp.wait(timeout=20)
        # All are killed, but those that are not kp's children end only when they get to run.
        while any(map(alive, pids)) and time.monotonic() < by:
            time.sleep(0.05)
        self.assertEqual([pid for pid in pids if alive(pid)], [])

    def test_nothing_outlives_kp(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                self.stopped(number)
                self.log.unlink()

    def test_a_signal_waits_until_a_process_is_known(self):
        def start(argv, **more):
            process = real(argv, **more)
            ui.SIGNALS.on_signal(signal.SIGTERM)
            started.append(process)
            return process

        started, real = [], subprocess.Popen
        self.swap(subprocess, Popen=start)
        with self.assertRaises(SystemExit):
            ui.supervise(["sleep", "100"], self.log)
        self.assertEqual(started[0].returncode, -signal.SIGTERM)

    def test_a_guest_that_hangs(self):
        begun = time.monotonic()
        self.assertIsNone(ui.supervise(["sh", "-c", "echo on; sleep 1; echo and on; sleep 100"], self.log, quiet=2))
        self.assertTrue(3 <= time.monotonic() - begun < 50)
        self.assertEqual(ui.supervise(["sh", "-c", "for i in 1 2 3; do echo; sleep 1; done"], self.log, quiet=2), 0)

    def test_a_program_that_is_not_there(self):
        with self.assertRaisesRegex(ui.Failure, "no-such-program is not installed"):
            ui.run(["no-such-program"], self.log)

    def test_a_full_disk(self):
        with self.assertRaisesRegex(ui.Failure, "the disk is full"):
            ui.run(["sh", "-c", "echo cc1: No space left on device; exit 1"], self.log)
        with self.assertRaisesRegex(ui.Failure, "a tree takes 1000000000 GB, and / has"):
            ui.need_space(Path("/"), 10**9, "a tree")
        ui.need_space(self.folder / "cache", 0, "nothing")
        self.assertTrue((self.folder / "cache").is_dir())

    def test_a_failure_tells_how_to_repeat_it(self):
        with self.assertRaisesRegex(ui.Failure, "(?s)error: x.*to repeat: cd / && sh -c"):
            ui.run(["sh", "-c", "echo 'a.c:1: error: x'; exit 1"], self.log, cwd="/")

    def test_a_long_step_tells_a_log_what_it_does(self):
        out = self.said()
        self.swap(ui, PATIENCE=0)
        with ui.Step("build") as step:
            step.tick("CC fork.o")
        self.assertRegex(out.getvalue(), r"build \.\.\. 0:\d\d CC fork\.o\n.*build \(\d s\)\n")
