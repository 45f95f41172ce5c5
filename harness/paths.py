# SPDX-License-Identifier: GPL-2.0-only
"""Paths: the repository, and the one cache folder for trees, objects and logs."""
import os
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
HARNESS = REPO / "harness"
CACHE = Path(os.environ.get("KP_CACHE") or
             Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kprobes").resolve()


def log_file(name):
    # Two kernels may be tested at once: one that KP_KERNEL names has a folder of its own.
    folder = CACHE / "log" / Path(os.environ.get("KP_KERNEL") or "").name
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name.replace(':', '-')}.log"
