# SPDX-License-Identifier: GPL-2.0-only
"""Tests of checking the kernel's log of handlers that fault."""
from harness import faults
from harness.tests import Case

OOPS = """\
[    2.4] kp: case pre:ftrace
[    2.5] BUG: kernel NULL pointer dereference, address: 0000000000000008
[    2.5] Oops: Oops: 0000 [#1] SMP NOPTI
[    2.5] RIP: 0010:kp_fault_in_pre+0x10/0x20 [kp_fault]
[    2.5] Call Trace:
[    2.5]  kp_fault_traced+0x5/0x10 [kp_fault]
[    2.6] kprobes: in a handler of the probe on kp_fault_traced+0x4/0x10 [kp_fault]
[    2.6] kprobes: probe on kp_fault_traced+0x4/0x10 [kp_fault] disabled: its handler has faulted
[    2.7] kp: ok pre by ftrace: who calls dies
[    2.8] kp: case over
"""
PANIC = "[    2.7] Kernel panic - not syncing: Fatal exception in interrupt\n"


class FaultsTest(Case):
    def sections(self, text):
        return faults.sections(self.log(text))

    def wrong(self, text):
        return [line for case, lines in self.sections(text).items() for line in faults.wrong(case, lines)]

    def test_as_it_should_be(self):
        self.assertEqual(list(self.sections(OOPS)), ["pre:ftrace"])
        self.assertEqual(self.wrong(OOPS), [])

    def test_each_line_is_needed(self):
        lines = OOPS.splitlines(keepends=True)
        for i in (2, 3, 5, 6, 7):
            with self.subTest(lines[i]):
                self.assertEqual(len(self.wrong("".join(lines[:i] + lines[i + 1:]))), 1)

    def test_code_that_faults(self):
        oops = "".join(line for line in OOPS.splitlines(keepends=True) if "in a handler" not in line)
        oops = oops.replace("pre:ftrace", "wild:jump").replace("fault_in_pre", "fault_in_code")
        self.assertEqual(self.wrong(oops), [])
        self.assertEqual(len(self.wrong(oops.replace("RIP: 0010:kp_fault_in_code", "RIP: 0010:0xffffffffc0086077"))), 1)
        oops = oops.replace("Oops: Oops", "Oops: general protection fault, maybe for address 0x40")
        self.assertEqual(len(self.wrong(oops)), 1)
        self.assertEqual(self.wrong(oops.replace("maybe for", "probably for non-canonical")), [])

    def test_a_fault_handler_that_declines(self):
        asked = "[    2.4] kp_fault: asked about trap 0xe in kp_fault_in_load+0x0/0x10 [kp_fault], declined\n"
        oops = "".join(line for line in OOPS.splitlines(keepends=True) if "in a handler" not in line)
        oops = oops.replace("pre:ftrace", "declined_load:jump").replace("fault_in_pre", "fault_in_load")
        self.assertEqual(len(self.wrong(oops)), 1)
        begin, rest = oops.split("\n", 1)
        self.assertEqual(self.wrong(f"{begin}\n{asked}{rest}"), [])
        self.assertEqual(len(self.wrong(f"{begin}\n{asked.replace('fault_in_load', 'other')}{rest}")), 1)
        text = f"{begin}\n{asked}{rest}".replace("declined_load:", "code:").replace("in_load", "in_code")
        self.assertEqual(len(self.wrong(text)), 1)

    def test_a_lost_return(self):
        told = "kprobes: return probe on kp_fault_lost+0x0/0x20 [kp_fault]: a call with frame 00 returns to f+0x4/0x8 [kp_fault]"
        lines = ["case lost:break", "Oops: invalid opcode: 0000 [#1]", "RIP: 0010:return_to_caller_slow+0x1", told]
        lines = [f"[    2.4] {'kp: ' * (not i)}{line}\n" for i, line in enumerate(lines)]
        self.assertEqual(self.wrong("".join(lines)), [])
        for i in (1, 2, 3):
            with self.subTest(lines[i]):
                self.assertEqual(len(self.wrong("".join(lines[:i] + lines[i + 1:]))), 1)
        self.assertEqual(len(self.wrong("".join(lines).replace("returns to f+0x4/0x8", "returns to 0x0"))), 1)

    def test_another_complaint(self):
        self.assertEqual(len(self.wrong(OOPS + "[    2.9] kp: case post:ftrace\n")), 5)
        self.assertEqual(self.wrong(OOPS.replace("[    2.7]", "[    2.7] WARNING: x\n[    2.7]")), ["WARNING: x"])

    def test_the_end_of_the_kernel(self):
        ended = OOPS.replace("[    2.8] kp: case over\n", PANIC)
        self.assertEqual(len(self.wrong(ended)), 1)
        self.assertFalse(faults.end_is_due(self.sections(ended)))
        ended = ended.replace("ftrace", "break").replace("traced", "plain")
        self.assertEqual(self.wrong(ended), [])
        self.assertTrue(faults.end_is_due(self.sections(ended)))
        self.assertFalse(faults.end_is_due(self.sections(ended.replace(PANIC, ""))))

    def test_not_in_this_kernel(self):
        self.assertEqual(self.wrong("kp: case pre:jump\nkp: ok 1 pre by jump: not in this kernel # SKIP\n"), [])
