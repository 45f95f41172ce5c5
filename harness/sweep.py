# SPDX-License-Identifier: GPL-2.0-only
"""Lists the functions that cannot be probed, with the reasons."""
import errno
import re
from collections import defaultdict

from . import guesttest, ui

REFUSED = re.compile(r"refused (-\d+) (\S+) (\S+) (.*)")
NAMES = {**errno.errorcode, errno.EOPNOTSUPP: "EOPNOTSUPP"}
TRIED = re.compile(r"entries: tried (\d+) accepted (\d+)")


def by_reason(lines):
    """The output of guest/sweep.sh, as (kind of probe, errno, reason) -> functions."""
    found = defaultdict(list)
    for refused in filter(None, map(REFUSED.fullmatch, lines)):
        number, kind, function, reason = refused.groups()
        found[kind, NAMES[-int(number)], reason].append(re.sub(r"\+0x.*", "", function))
    return found


def refused(made):
    lines = guesttest.told(made, "sweep", f"{guesttest.SWEEP} refused", 600, guesttest.LONG_LOG, cpus=2)
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
