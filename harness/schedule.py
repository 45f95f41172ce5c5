# SPDX-License-Identifier: GPL-2.0-only
"""What is built and what boots when, and what there is no time for."""
import collections
import concurrent.futures
import time
import traceback

from . import guesttest, ports, ui

# These come when all else has been done with the kernels that are there, and take long.
LAST = ("beside", "sweep", "faults", "selftests")
LONG = 10 * 60      # seconds
GRACE = 20          # minutes for what has begun, that a guest which hangs keeps no result from being told


def in_turn(guests):
    """The first configuration of each architecture, then the second of each, and so on."""
    seen = collections.Counter()
    order = {}
    for config in guests:
        order[config.label] = seen[config.arch.name]
        seen[config.arch.name] += 1
    return sorted(guests, key=lambda config: order[config.label])


class Schedule:
    """Boots a kernel while the next one builds: a guest keeps no two CPUs busy."""

    def __init__(self, source, results, minutes=None, quick=False):
        self.source, self.results, self.minutes, self.quick = source, results, minutes, quick
        self.end = ui.START + 60 * minutes if minutes else None
        ui.END = self.end and self.end + 60 * GRACE + 2 * guesttest.repeat(0)[0]
        self.last = collections.deque()     # calls of part() that can wait

    def left(self):
        """Seconds, or None for any."""
        return None if self.end is None else max(0, self.end - time.monotonic())

    def is_over(self, need=0):
        """Is there no more time, or less than the seconds @need?"""
        return self.end is not None and self.left() <= need

    def skip(self, name):
        self.results.skip(name, f"not begun within {self.minutes} minutes")

    def fail(self, name, error):
        """Of what is no failure of ours to foresee, tell where it came from."""
        known = isinstance(error, ui.Failure)
        self.results.fail(name, str(error) if known else "".join(traceback.format_exception(error)))

    def built(self, label, job):
        """What a build gives, or None."""
        try:
            value = job.result(timeout=self.left())
            self.results.ok(f"{label} builds")
            return value
        except concurrent.futures.TimeoutError:
            self.skip(label)
        except Exception as error:
            self.fail(f"{label} builds", error)
        return None

    def attempt(self, name, test, *what):
        """All that is to be done is done, whatever becomes of it."""
        try:
            test(*what, self.results)
        except Exception as error:
            self.fail(name, error)

    def part(self, name, config, made, modules):
        if self.is_over(LONG if name in LAST else 0):
            self.skip(f"{config.label} {name}")
        else:
            self.attempt(f"{config.label} {name}", guesttest.PARTS[name], config, made, modules)

    def parts(self, config, made, modules):
        for name in config.quick if self.quick else config.parts:
            if name in LAST:
                self.last.append((name, config, made, modules))
            else:
                self.part(name, config, made, modules)

    def run(self, guests, compiled, others=()):
        """@compiled: ports; @others: functions that take the results, and need no kernel."""
        builds = [(config, guesttest.build(config, self.source)) for config in in_turn(guests)]
        pool = concurrent.futures.ThreadPoolExecutor(max_workers=1)
        try:
            kernels = [pool.submit(made.kernel) for _, made in builds]
            compiles = [pool.submit(ports.compile, port, self.source) for port in compiled]
            for test in others:
                self.attempt("what needs no kernel", test)
            for (config, made), job in zip(builds, kernels):
                while self.last and not job.done():
                    self.part(*self.last.popleft())
                modules = self.built(config.label, job)
                if modules is not None:
                    self.parts(config, made, modules)
            while self.last:
                self.part(*self.last.popleft())
            for port, job in zip(compiled, compiles):
                self.built(port.label, job)
        finally:
            ui.STOP.set()
            pool.shutdown(cancel_futures=True)
