# SPDX-License-Identifier: GPL-2.0-only
"""The order of builds and boots of a complete test, and what to skip when time runs out."""
import concurrent.futures
import itertools
import queue
import re
import time

from . import guesttest, ports, ui
from .paths import REPO, log_file

# Estimated seconds of each part in the fastest configuration, on two CPUs of which a build takes
# one; Config.slow times as many in others. Only their order matters.
COSTS = {"clients": 240, "selftests": 75, "scripts": 70, "sweep": 60, "scale": 60, "sleep": 60, "kunit": 45,
         "beside": 40, "loops": 40, "toggle": 35, "kexec": 30, "faults": 30, "examples": 5}
MINUTES = 70        # after which a test of everything begins nothing more
GRACE = 12          # minutes for parts that have begun: a guest that hangs must not prevent the verdict
END = 1             # rank of the end in the queue, after all parts


def cost(config, parts):
    return config.slow * sum(COSTS[name] for name in parts)


class Schedule:
    """Two threads for two CPUs: one builds kernels and compiles ports, the other boots guests.
    A guest does not keep two CPUs busy, so when everything is built both threads boot guests.
    What takes longest begins first, so that neither thread is left alone with it at the end."""

    def __init__(self, source, results, minutes=None, daily=False):
        self.source, self.results, self.minutes, self.daily = source, results, minutes, daily
        self.end = ui.START + 60 * minutes if minutes else None
        ui.END = self.end and self.end + 60 * GRACE + 2 * guesttest.repeat(0)[0]
        self.builds = []            # label, function and arguments of each
        self.parts = queue.PriorityQueue()      # minus the cost, number, and the arguments of part()
        self.number = itertools.count()
        self.slowest = 0            # seconds that the build of a kernel has taken

    def is_over(self, need=0):
        """Whether there is no time left, or less than @need seconds."""
        return self.end is not None and self.end - time.monotonic() <= need

    def skip(self, name):
        self.results.skip(name, f"not begun within {self.minutes} minutes")

    def parts_of(self, config):
        return config.daily if self.daily else config.parts

    def part(self, name, made):
        label = f"{made.config.label} {name}"
        if self.is_over():
            self.skip(label)
        else:
            with self.results.attempt(label, counted=False):
                guesttest.PARTS[name](made, self.results)

    def kernel(self, made):
        """Builds a kernel, and queues its parts for the next free thread."""
        config = made.config
        if self.is_over(self.slowest):
            self.skip(config.label)
            return
        begun = time.monotonic()
        made.kernel()
        self.slowest = max(self.slowest, time.monotonic() - begun)
        self.results.ok(f"{config.label} builds")
        for name in self.parts_of(config):
            self.put(-cost(config, [name]), name, made)

    def port(self, port):
        if self.is_over():
            self.skip(port.label)
            return
        ports.compile(port, self.source)
        self.results.ok(f"{port.label} builds")

    def other_version(self, version):
        """Runs the daily test with another version of Linux, by a kp of its own."""
        name = f"Linux {version}"
        if self.is_over(self.slowest):
            self.skip(name)
            return
        log = log_file(f"test-{version}")
        with ui.Step(f"test {name}") as step:
            status = ui.supervise([REPO / "kp", "test", "--kernel", version], log, step, ui.within(3600))
        text = log.read_text(errors="replace")
        said = re.findall(r"^\d+ passed, \d+ failed$", text, re.M)[-1:]
        self.results.check(f"{name}: {' '.join(said) or 'no verdict'}", status == 0,
                           "\n    ".join([f"see {log}", *re.findall(r"^kp: .*|^  not ok .*", text, re.M)]))

    def put(self, rank, name=None, made=None):
        self.parts.put((rank, next(self.number), name, made))

    def build(self):
        """Runs all builds, one after the other, and queues the end for each thread."""
        for label, job, *what in self.builds:
            if not ui.STOP.is_set():
                with self.results.attempt(f"{label} builds", counted=False):
                    job(*what)
        self.put(END)
        self.put(END)

    def boot(self):
        """Boots guests until none is queued and no build can queue another."""
        while not ui.STOP.is_set():
            *_, name, made = self.parts.get()
            if not name:
                return
            self.part(name, made)

    def run(self, guests, compiled, others=(), versions=()):
        """@compiled: ports; @others: functions that take the results, and need no kernel;
        @versions: other versions of Linux, in which the daily test runs."""
        for config in sorted(guests, key=lambda config: -cost(config, self.parts_of(config))):
            self.builds.append((config.label, self.kernel, guesttest.build(config, self.source)))
        for port in compiled:
            self.builds.append((port.label, self.port, port))

        pool = concurrent.futures.ThreadPoolExecutor(max_workers=1)
        try:
            other_hand = pool.submit(lambda: (self.build(), self.boot()))
            for test in others:
                with self.results.attempt("what needs no kernel", counted=False):
                    test(self.results)
            self.boot()
            other_hand.result()
            for version in versions:
                with self.results.attempt(f"Linux {version}", counted=False):
                    self.other_version(version)
        finally:
            ui.STOP.set()
            pool.shutdown()
