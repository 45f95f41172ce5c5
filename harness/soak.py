# SPDX-License-Identifier: GPL-2.0-only
"""What does not fit into ./kp test: the same, for longer and from other seeds."""
from . import guesttest, ui
from .results import Results


def line(name, job, results):
    """One line for one boot, which is one test here."""
    own = Results()
    job(own)
    results.check(name, not own.failures and own.passed)
    ui.say(f"  {name}: {own.passed} passed, {len(own.failures)} failed")


def run(guests, source, seconds, seed, results):
    for config in guests:
        made = guesttest.build(config, source)
        try:
            modules = made.kernel()
        except ui.Failure as failure:
            results.fail(f"{config.label} builds", str(failure))
            continue
        line(f"{config.label} torture, seed {seed}", lambda own: guesttest.torture(
            config, made, modules, own, seconds, seed), results)
        if config.options == "kprobes":
            # The one of ./kp test is from seed 1.
            line(f"{config.label} sweep, seed {seed + 1}",
                 lambda own: guesttest.sweep(config, made, modules, own, seed + 1), results)
