# SPDX-License-Identifier: GPL-2.0-only
"""Output for the user: one line per step, and how to repeat a step that failed."""
import contextlib
import errno
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time

START = time.monotonic()
END = None          # time by which all must end, by the same clock
TAIL = 25
PATIENCE = 60       # seconds without a line in a log
STOP = threading.Event()    # set when everything that runs must end


class Failure(Exception):
    """A failure to report to the user by its message alone."""


def clock(seconds):
    return f"{int(seconds) // 60:d}:{int(seconds) % 60:02d}"


def within(seconds):
    """The given seconds, limited to those that are left, but at least a few."""
    return seconds if END is None else max(5, min(seconds, int(END - time.monotonic())))


def say(text=""):
    print(text, flush=True)


class Step:
    """A unit of work.  On a terminal its line is updated; in a log it is printed when the step is
    complete, and once in a while until then."""

    def __init__(self, text):
        self.text, self.start = text, time.monotonic()
        self.told = self.start
        self.live = sys.stdout.isatty()
        self.width = os.get_terminal_size().columns if self.live else 0

    def __enter__(self):
        self.tick()
        return self

    def tick(self, note=""):
        now = time.monotonic()
        line = f"[{clock(now - START):>6}] {self.text} ... {clock(now - self.start)} {note}"
        if not self.live:
            if now - self.told >= PATIENCE:
                self.told = now
                say(line[:100])
            return
        print("\r\033[K" + line[:self.width - 1], end="", flush=True)

    def __exit__(self, kind, value, trace):
        took = time.monotonic() - self.start
        word = "" if kind is None else "  STOPPED" if kind is KeyboardInterrupt else "  FAILED"
        line = f"[{clock(time.monotonic() - START):>6}] {self.text} ({took:.0f} s){word}"
        say(("\r\033[K" if self.live else "") + line)


def need_space(folder, gigabytes, what):
    """Fails before the work begins if there is not enough space for it in @folder, which it makes."""
    folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder).free / 1e9
    if free < gigabytes:
        raise Failure(f"{what} takes {gigabytes} GB, and {folder} has {free:.1f} GB left; "
                      "KP_CACHE=DIR takes another folder")


def tail(log, lines=TAIL):
    with open(log, errors="replace") as f:
        return "".join(f"    | {line.rstrip()}\n" for line in f.readlines()[-lines:])


def errors(log, most=10):
    """The lines that name an error; with parallel jobs these may be far above the end."""
    with open(log, errors="replace") as f:
        found = [line.rstrip() for line in f if re.search(r"\berror:|undefined reference|^ERROR", line)]
    return "".join(f"    | {line}\n" for line in found[:most])


class Signals:
    """Signals that end kp by an exception, which goes to the main thread."""

    def __init__(self):
        self.held, self.came = False, []

    def on_signal(self, number, _=None):
        if self.held:
            self.came.append(number)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            sys.exit(128 + number)

    @contextlib.contextmanager
    def hold(self):
        """Raises none within: a process that has been started must be known, to be stopped."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        self.held = True
        try:
            yield
        finally:
            self.held = False
        if self.came:
            self.on_signal(self.came.pop())


SIGNALS = Signals()


def stop(proc):
    """Ends a process and everything it started."""
    for sig in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(proc.pid, sig)
            proc.wait(timeout=5)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
    proc.wait()


def supervise(argv, log, step=None, timeout=None, cwd=None, env=None, sign=None, quiet=None):
    """Runs @argv with its output in @log; returns its exit status, None when time ran out.

    @sign: (text, seconds): the text must be in the output by then.
    @quiet: seconds for which it may print nothing.
    """
    if not shutil.which(argv[0]):
        raise Failure(f"{argv[0]} is not installed")
    deadline = time.monotonic() + timeout if timeout else None
    sign_by = time.monotonic() + sign[1] if sign else None
    proc = None
    size, grown = 0, time.monotonic()
    try:
        with open(log, "wb") as out, SIGNALS.hold():
            proc = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                    cwd=cwd, env=env, start_new_session=True)
        while True:
            try:
                return proc.wait(timeout=0.2)
            except subprocess.TimeoutExpired:
                pass
            if STOP.is_set():
                raise Failure("stopped")
            if deadline and time.monotonic() > deadline:
                return None
            if sign_by and time.monotonic() > sign_by:
                if not contains(log, sign[0]):
                    return None
                sign_by = None
            if os.path.getsize(log) != size:
                size, grown = os.path.getsize(log), time.monotonic()
            if quiet and time.monotonic() - grown > quiet:
                return None
            if step:
                step.tick(last_line(log))
    finally:
        if proc:
            stop(proc)


def contains(log, text):
    with open(log, "rb") as f:
        return text.encode() in f.read()


def last_line(log):
    with open(log, "rb") as f:
        f.seek(max(0, os.fstat(f.fileno()).st_size - 300))
        lines = f.read().decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def run(argv, log, step=None, cwd=None, env=None):
    """Runs a command that must succeed."""
    argv = [str(a) for a in argv]
    full = {**os.environ, **env} if env else None
    status = supervise(argv, log, step, cwd=cwd, env=full)
    if status == 0:
        return
    if contains(log, os.strerror(errno.ENOSPC)):
        raise Failure(f"the disk is full; see {log}")
    prefix = "".join(f"{k}={shlex.quote(v)} " for k, v in (env or {}).items())
    where = f"cd {shlex.quote(str(cwd))} && " if cwd else ""
    raise Failure(f"exit status {status}\n{errors(log)}    ...\n{tail(log)}  whole log: {log}\n"
                  f"  to repeat: {where}{prefix}{shlex.join(argv)}")
