# SPDX-License-Identifier: GPL-2.0-only
"""Tests of the figures of ./kp check --house."""
from pathlib import Path

from harness import house
from harness.tests import Case

TEXT = """\
/* not_this(one)
{
*/
#ifdef A
static int twice(void)
{
	return 0;
}
#else
static int twice(void)
{
	return below();
}
#endif

int
 top(struct a *a,
	    int b)
{
	if (a) {
		return 1;
	}
	return twice();
}
""".replace("int\n top", "int top")


class Counting(Case):
    def setUp(self):
        super().setUp()
        path = self.folder / "some.c"
        path.write_text(TEXT)
        self.source = house.source(path)

    def test_functions(self):
        self.assertEqual(self.source.functions, {"twice": 4, "top": 8})
        self.assertEqual(self.source.external, {"top"})
        self.assertEqual(self.source.twice, ["twice"])
        self.assertEqual(self.source.conditions, 1)

    def test_calls(self):
        below = house.Source(Path("below.c"), "", external={"below"}, functions={"below": 3})
        pairs = house.calls([self.source, below])
        self.assertEqual(pairs, {("some", "below"): {"below"}})
        self.assertEqual(house.upward(pairs, {"some": 0, "below": 1}), [])
        self.assertEqual(house.upward(pairs, {"some": 1, "below": 0}), ["some -> below: below"])

    def test_calls_of_inlines(self):
        path = self.folder / "some.h"
        path.write_text("static inline int\n over(void)\n{\n\treturn down();\n}\n".replace("int\n over", "int over") +
                        "static inline int down(void)\n{\n\treturn below();\n}\n")
        inlined = house.used("x = over();", house.header(path))
        user = house.Source(Path("user.c"), "x = over();", inlined=inlined)
        below = house.Source(Path("below.c"), "", external={"below"}, functions={"below": 3})
        self.assertEqual(house.calls([user, below]), {("user", "below"): {"below"}})
        self.assertEqual(house.used("x = other();", house.header(path)), "")

    def test_circle(self):
        self.assertEqual(house.circle([("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")]), {"b", "c"})
        self.assertEqual(house.circle([("a", "b")]), set())

    def test_our_layers(self):
        named = {s.name for s in house.sources("kernel/kprobes")} | {"kprobes"}
        self.assertEqual(named - house.layers().keys(), set(), "kernel/kprobes.c does not place these files")

    def test_our_calls_go_down(self):
        core = [house.source(house.LAYERS), *house.sources("kernel/kprobes")]
        self.assertEqual(house.upward(house.calls(core), house.layers()), [])
