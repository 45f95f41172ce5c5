# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the instructions that share.py chooses, and of evaluating the guest's output."""
import unittest
from unittest import mock

from harness import configs, share

FUNCTION = [
    (0xffffffff81000010, "endbr64"),
    (0xffffffff81000014, "call   ffffffff81001000 <__fentry__>"),
    (0xffffffff81000019, "push   %rbx"),
    (0xffffffff8100001a, "nopl   0x0(%rax)"),
    (0xffffffff8100001e, "ret"),
    (0xffffffff8100001f, "int3"),
    (0xffffffff81000020, "int3"),
]


class ShareTest(unittest.TestCase):
    def test_functions(self):
        apart = [(address + 0x100, text) for address, text in FUNCTION]
        with mock.patch.object(share, "functions", lambda vmlinux, cross: iter([apart, [], list(FUNCTION)])):
            drawn = share.draw_functions("vmlinux", 5, 1, configs.X86_64)
        self.assertEqual([address & 0xfff for address in drawn], [0x19, 0x1a, 0x1e, 0x119, 0x11a, 0x11e])

    def kinds(self, arch, *expected):
        for text, kind in expected:
            with self.subTest(text):
                self.assertEqual(share.kind(text, arch), kind)

    def test_kinds(self):
        self.kinds("x86_64", ("mov    %rax,%rbx", "mov"), ("movzbl (%rax),%ebx", "mov"), ("jmp    *%rax", "jmp"),
                   ("jne    1 <f>", "jcc"), ("ret", "ret"), ("notrack jmp *%rax", "jmp"),
                   ("rex.W call 1 <f>", "call"), ("testb  $1,(%rax)", "test"), ("pop    %rbx", "pop"),
                   ("ud2", "other"))

    def test_kinds_of_arm64(self):
        self.kinds("arm64", ("b.ne\tffff800080010000 <f>", "b.cond"), ("b\tffff800080010000 <f>", "b"),
                   ("bl\tffff800080010000 <f>", "bl"), ("adrp\tx0, ffff800080010000", "adr"), ("ret", "ret"),
                   ("ldrb\tw0, [x1]", "other"), ("", "other"))

    def test_kinds_of_riscv(self):
        self.kinds("riscv", ("jal\tra,ffffffff80002000 <f>", "jal"), ("beqz\ta0,ffffffff80002000 <f>", "branch"),
                   ("bgeu\ta0,a1,ffffffff80002000 <f>", "branch"), ("bset\ta0,a0,a1", "other"),
                   ("lbu\ta0,0(a1)", "load"), ("sd\ta0,0(sp)", "store"), ("sll\ta0,a0,a1", "other"),
                   ("ret", "ret"), ("", "other"))

    def test_within_behind_site_of_nops(self):
        site = [(0xffffffff80002000 + 2 * i, "nop") for i in range(4)]
        body = [(0xffffffff80002008, "addi\tsp,sp,-16"), (0xffffffff8000200c, "nop"), (0xffffffff8000200e, "ret")]
        self.assertEqual(share.within(site + body), body)

    def test_within(self):
        self.assertEqual([address & 0xff for address, _ in share.within(list(FUNCTION))], [0x19, 0x1a, 0x1e])
        self.assertEqual(share.within([]), [])

    def test_entry(self):
        self.assertEqual(share.entry(FUNCTION), FUNCTION[1:2])
        self.assertEqual(share.entry(FUNCTION[1:]), FUNCTION[1:2])
        self.assertEqual(share.entry([]), [])
        self.assertEqual(share.entry([(0xffffffff81000000 + i, "nop") for i in range(16)]), [])

    def test_count(self):
        drawn = {0xffffffff81000019: "push", 0xffffffff8100001e: "ret", 0xffffffff81000030: "mov"}
        got = share.count(drawn, ["at ffffffff81000019 jump", "at ffffffff8100001e trap",
                                  "at ffffffff81000030 site",
                                  "why ffffffff8100001e armed jump into the region at +3",
                                  "why ffffffff81000050 armed of somebody else", "ok tried 3"])
        self.assertEqual([sum(c.values()) for c in (got.tried, got.accepted, got.trapless)], [3, 3, 2])
        self.assertEqual(dict(got.reasons), {"armed, jump into the region": 1})
        self.assertEqual(got.given_up, {"ret": 1})
