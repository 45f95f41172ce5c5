# SPDX-License-Identifier: GPL-2.0-only
"""KUnit results, read by the kernel tree's own parser."""
import inspect
import io
import re
import sys
from contextlib import redirect_stdout


def parse(tree, log):
    folder = str(tree / "tools/testing/kunit")
    if folder not in sys.path:
        sys.dont_write_bytecode = True      # the tree must have no files but the overlay's
        sys.path.insert(0, folder)
    with redirect_stdout(io.StringIO()), open(log, errors="replace") as f:
        import kunit_parser
        import kunit_printer
        # Newer parsers are told where to print.
        wants = inspect.signature(kunit_parser.parse_run_tests).parameters
        more = [kunit_printer.Printer()] if "printer" in wants else []
        result = kunit_parser.parse_run_tests([line.rstrip("\r\n") for line in f], *more)
    return kunit_parser, result


def suites_in(paths):
    """The names of the KUnit suites that source files define."""
    names = set()
    for path in paths:
        for body in re.findall(r"struct kunit_suite \w+ = \{(.*?)\n\};", path.read_text(), re.S):
            names.update(re.findall(r'\.name\s*=\s*"([^"]+)"', body))
    return names


def skipped(log):
    """Name of a skipped case -> reason."""
    with open(log, errors="replace") as f:
        return dict(re.findall(r"ok \d+ (\S+) # SKIP (.+)", f.read()))


def cases(tree, log):
    """Yields (suite, case, status word); an error of the parser is a case of its own."""
    parser, top = parse(tree, log)
    good = (parser.TestStatus.SUCCESS, parser.TestStatus.SKIPPED)
    if top.counts.errors or not top.subtests:
        yield "KUnit", "the report is whole", "ERROR"
    for suite in top.subtests:
        for case in suite.subtests:
            yield suite.name, case.name or "(never ended)", case.status.name
        if suite.status not in good and all(c.status in good for c in suite.subtests):
            yield suite.name, "(the suite)", suite.status.name
