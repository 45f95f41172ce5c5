# SPDX-License-Identifier: GPL-2.0-only
"""Handlers, and probed code, that fault: checks the kernel's log of them."""
import re

from . import qemu

# The breakpoints come first: where a trap counts as an interrupt, the kernel panics at them.
CASES = [f"{which}:{way}" for way in ("break", "jump", "ftrace")
         for which in ("pre", "post", "entry", "return", "jprobe", "second", "declined")
         if (which, way) != ("post", "jump")]
# In these cases the faulting function is the one that the others only call.
IN_CODE = ("code", "wild", "declined_load", "undefined")
CASES += [f"{which}:{way}" for way in ("break", "jump") for which in IN_CODE]
CASES += ["lost:break"]
# The function that faults, if it is not named like the case.
FAULTY = {"code": "kp_fault_in_code", "wild": "kp_fault_in_code", "second": "kp_fault_in_pre",
          "declined": "kp_fault_in_pre", "declined_load": "kp_fault_in_load",
          "lost": "return_to_caller_slow"}
BEGIN = re.compile("case (.*)")
# The first line of an oops, on any architecture, or of KASAN's report.
OOPS = re.compile(r"BUG: kernel NULL pointer|BUG: unable to handle|general protection fault|"
                  r"Unable to handle kernel|Internal error: Oops|Oops\b|"
                  r"kernel BUG at kernel/kprobes/return_trampoline\.c:|"
                  # arm64 counts a breakpoint as an NMI for RCU, and a killed task never leaves it.
                  r"WARNING: (.* at )?kernel/context_tracking\.c:|"
                  # The next line has the reason.
                  r"-+\[ cut here")
NUMBER = re.compile(r"(?:Oops|Kernel BUG).*\[#\d+\]")
ENDS_KERNEL = re.compile(r"Kernel panic - not syncing: (?:.*: )?Fatal exception in interrupt")


def sections(log):
    """The part of the log of each case that began."""
    found, case = {}, None
    with open(log, errors="replace") as f:
        for line in (line.rstrip("\r\n") for line in f):
            ours = qemu.LINE.match(line)
            begin = ours and BEGIN.fullmatch(ours[1])
            if begin:
                case = begin[1]
                found[case] = []
            elif case:
                found[case].append(re.sub(f"^{qemu.STAMP}", "", line))
    found.pop("over", None)
    return found


def is_due(case, line):
    """Whether the kernel may panic: a trap may be like an NMI, where no task can be killed."""
    return case.endswith(":break") and bool(ENDS_KERNEL.match(line))


def end_is_due(found):
    """Whether the last case is one in which the kernel may panic, and it did."""
    return bool(found) and any(is_due([*found][-1], line) for line in [*found.values()][-1])


def wrong(case, lines):
    """The lines missing in the log of a case, or unexpected there; nothing if all is well."""
    text = "\n".join(lines)
    if re.search("kp: ok .*# SKIP", text):
        return []
    which = case.split(":")[0]
    in_handler = which not in (*IN_CODE, "lost")
    faulty = FAULTY.get(which, f"kp_fault_in_{which}")
    function = "kp_fault_traced" if case.endswith(":ftrace") else "kp_fault_plain"
    at = re.search("^(RIP|EIP|pc|epc) ?:.*", text, re.M)
    complaints = [line for line in lines if qemu.COMPLAINT.match(line)]
    strange = [line for line in complaints if not (OOPS.search(line) or is_due(case, line))]
    ended = any(is_due(case, line) for line in lines)
    wanted = {
        "one oops": len(NUMBER.findall(text)) == 1,
        "where it faulted": at and re.search(rf"\b{faulty}\+0x", at[0]),
        "the probe": not in_handler or f"kprobes: in a handler of the probe on {function}+0x" in text,
        "that it was no handler": in_handler or "kprobes: in a handler" not in text,
        "that the probe is disabled": not in_handler or ended or re.search(
            rf"kprobes: probe on {function}\+0x.* disabled", text),
        "the probe, and where it should return to": which != "lost" or re.search(
            r"kprobes: return probe on kp_fault_lost\+0x.*returns to \w+\+0x.*\[kp_fault\]", text),
        "that a fault handler was asked": which.startswith("declined") == bool(re.search(
            rf"kp_fault: asked about trap 0x[0-9a-f]+ in {faulty}\+0x.* declined", text)),
        "the address": "general protection fault" not in text or "non-canonical address" in text,
        # The backtrace lacks a function that has returned, and has a copy in post:break.
        "the function, in the backtrace": not in_handler or which == "return" or case == "post:break" or re.search(
            rf"^(?!kprobes: ).*\b{function}\+0x", text, re.M),
    }
    return [f"not in the log: {what}" for what, there in wanted.items() if not there] + strange
