# SPDX-License-Identifier: GPL-2.0-only
"""The commands of ./kp."""
import argparse
import errno
import os
import re
import signal
import sys
from pathlib import Path

from . import (bench, check, configs, coverage, deb, guesttest, house, packages, ports, qemu, schedule, selftest,
               series, share, soak, tree, ui)
from .paths import CACHE
from .results import Results

ALL = "all"             # every test, in place of the daily ones

HELP = """\
kp - build, boot and test this kprobes subsystem

  ./kp run [ARCH]        build a kernel, boot it in QEMU, show two probes firing
  ./kp test [WHAT...]    run the tests; ends with "N passed, N failed"
  ./kp torture [CONFIG]  probes that change in every way while four CPUs hit them;
                         --seconds N --seed N
  ./kp soak              what takes hours, in all configurations that support it: torture,
                         sweeps from other seeds, random input and traps, 200 boots with
                         return probes on everything, KUnit by kunit.py and on the
                         kernel's other ports, selftests from the kernel's tar;
                         --seconds N --seed N
  ./kp shell [ARCH]      a prompt in the guest, with the sample modules in /lib/kp;
                         --module DIR builds your own module and adds it
  ./kp sweep [CONFIG]    of the tests only the sweep: probes on all functions at once;
                         --every does so with all functions, some at a time;
                         --dense N has probes at each instruction of N functions;
                         --seed N repeats one; --refused tells instead which functions
                         no probe can be on, and why
  ./kp probe PLACE       the hits of one probe while a little work runs in a guest of
                         x86_64; PLACE is SYMBOL or SYMBOL+OFFSET; --ret shows what
                         SYMBOL returns; --seconds N
  ./kp share             of random instructions, how many can be probed and need no
                         trap, ours and the kernel's own; --entries takes functions'
                         entries, --dense whole functions; --post, --count N, --seed N,
                         --config CONFIG
  ./kp bench [ARCH]      what probes cost, ours and the kernel's own; or of one of its
                         kernels: x86_64:bench-none. --plot FILE draws it
  ./kp coverage [CONFIG...]
                         which lines and branches of our code the tests execute
  ./kp check             checkpatch --strict, kernel-doc, Sphinx and sparse over our files;
                         --house counts instead what makes the code easy or hard to read
  ./kp deb               Debian packages of a kernel, to install: with Debian's configuration,
                         or that of --config FILE
  ./kp tree DIR          only write the overlaid source tree, to build as you like
  ./kp pull [DIR]        take what you edited in such a tree, or in the one of the cache,
                         into the project
  ./kp series [DIR]      write numbered patches with a cover letter, for git am

  ARCH    {archs}
  CONFIG  ARCH:NAME of those below, such as arm64:none
  WHAT  ARCH             all its configurations:
{configs}
        x86_64:none      one configuration
        x86_64 --kasan   the one with KASAN and lockdep
        ports            cross compile the kernel's other ports; or one: ports:arm
        {by_name}
                         only by name: the kernel's own ports in a guest, and other
                         kernels and compilers; README.md tells what each is for
        harness          the tests of this tool
        series           the patches of ./kp series: checkpatch, git am, a build after each
        (nothing)        the daily test, after a change: KUnit of x86_64, arm64 and riscv,
                         ftrace selftests and racing changes of x86_64, harness
        all              everything, as CI does it

Trees, objects and logs are in {cache}  (KP_CACHE=DIR)
The kernel is Debian's Linux 6.12. After the command, --kernel 7.3 takes the one of its
backports, and --kernel PATH a tree or tarball, with the nearest folder of base/; so do
KP_KERNEL=7.3 and KP_KERNEL=PATH before it.
Missing Debian packages are installed, which needs root; without it kp names them."""


def page():
    archs = dict.fromkeys(c.arch for c in configs.CONFIGS)
    lines = [f"{'':25}{arch.name}: " + " ".join(c.name for c in configs.CONFIGS if c.arch == arch)
             for arch in archs]
    by_name = " ".join(c.label if c.arch in archs else c.arch.name for c in configs.BY_NAME)
    ui.say(HELP.format(cache=CACHE, by_name=by_name, archs=" ".join(arch.name for arch in archs),
                       configs="\n".join(lines)))


def arch_config(name):
    config = configs.default(name)
    if not config:
        known = " ".join(sorted({c.arch.name for c in configs.CONFIGS}))
        raise ui.Failure(f"no architecture {name}; there is: {known}")
    return config


def one_config(label):
    config = next((c for c in soak.guests() if c.label == label), None)
    if not config:
        raise ui.Failure(f"no configuration {label}; ./kp lists them")
    if not config.extras:
        raise ui.Failure(f"{label} is for KUnit only")
    return config


def share_config(label):
    """The kernels of ./kp bench serve as well, which may be there already."""
    config = next((c for c in configs.BENCH if c.label == label), None) or one_config(label)
    if config.arch.name not in share.KINDS:
        raise ui.Failure(f"only instructions of {' and '.join(share.KINDS)} are drawn")
    return config


def bench_configs(name):
    wanted = [c for c in configs.BENCH if name in (c.arch.name, c.label)]
    if not wanted:
        raise ui.Failure(f"nothing to measure on {name}")
    return wanted


def place(text):
    if not re.fullmatch(r"[\w.]+(\+(0x[0-9a-f]+|\d+))?", text):
        raise ui.Failure(f"{text} is not SYMBOL or SYMBOL+OFFSET")
    return text


def need_guests(guests, more=()):
    """Installs all packages needed to build and boot these configurations."""
    packages.need([*packages.tree_packages(), *packages.BUILD, *more,
                   *(packages.BOOT if guests else []),
                   *(p for config in guests for p in config.packages)])


def ready(config, modules=()):
    """Builds the kernel of this configuration, and what its guests run."""
    need_guests([config])
    made = guesttest.build(config, tree.cached())
    made.kernel(modules)
    return made


def cmd_run(args):
    return guesttest.run(ready(args.config))


def cmd_shell(args):
    return qemu.interactive(ready(args.config, args.module))


def cmd_probe(args):
    return guesttest.probe(ready(arch_config("x86_64")), args.place, args.ret, args.seconds)


def cmd_share(args):
    need_guests([args.config])
    return share.run(args.config, args.count, args.seed, args.post, args.what)


def cmd_sweep(args):
    made, results = ready(args.config), Results()
    if args.refused:
        return guesttest.refused(made)
    if args.every:
        guesttest.sweep_every(made, results, args.seed or 1)
    else:
        guesttest.sweep(made, results, args.seed, args.dense)
    return results.finish()


def cmd_torture(args):
    results = Results()
    guesttest.torture(ready(args.config), results, args.seconds, args.seed)
    return results.finish()


def cmd_soak(args):
    need_guests(soak.guests(), ["rsync"])
    results = Results()
    soak.run(tree.cached(), args.seconds, args.seed, results)
    return results.finish()


def cmd_bench(args):
    need_guests(args.configs, ["gnuplot-nox"] if args.plot else [])
    return bench.run(args.configs, args.plot)


def cmd_coverage(args):
    if any(c.llvm for c in args.configs):
        raise ui.Failure("clang counts in another way; only kernels that gcc compiles are counted")
    return coverage.run(args.configs or [one_config(label) for label in coverage.CONFIGS], ready, Results())


def cmd_deb(args):
    packages.need([*packages.tree_packages(), *packages.BUILD, *deb.PACKAGES,
                   *([] if args.config else packages.config_packages())])
    return deb.run(args.config)


def cmd_tree(args):
    packages.need(packages.tree_packages())
    tree.update(args.dir.resolve())
    return 0


def cmd_pull(args):
    tree.pull(args.dir.resolve() if args.dir else tree.base() / "tree")
    return 0


def cmd_series(args):
    packages.need([*packages.tree_packages(), "git"])
    series.write(args.dir.resolve(), tree.pristine())
    return 0


def cmd_check(args):
    if args.house:
        return house.show()
    packages.need(packages.tree_packages() + packages.BUILD + check.PACKAGES)
    results = Results()
    check.everything(tree.cached(), results)
    return results.finish()


def selected(what, kasan):
    """The configurations, ports and tests of the tool that WHAT names; without it those of the daily test."""
    if not what and not kasan:
        return [config for config in configs.CONFIGS if config.daily], [], ["harness"]
    archs = dict.fromkeys(c.arch.name for c in configs.CONFIGS if c.name == "debug" or not kasan)
    if what == [ALL] and not kasan:
        what = ["harness", "series", "ports", *archs]
    guests, ours, tools = [], [], []
    for word in what or archs:
        some = configs.named(word)
        if kasan:
            some = [c for c in some if c.name == "debug"]
        port = [p for p in ports.PORTS if word in ("ports", p.label)]
        if word in ("harness", "series"):
            tools.append(word)
        elif not some and not port:
            raise ui.Failure(f"no test named {word}; ./kp lists them")
        guests += some
        ours += port
    return guests, ours, tools


def cmd_test(args):
    guests, ours, tools = selected(args.what, args.kasan)
    every = args.what == [ALL] and not args.kasan
    results = Results()
    need_guests(guests, ["git", *(p for port in ours for p in port.packages)])
    source = tree.cached() if guests or ours or "series" in tools else None
    if "harness" in tools:
        selftest.run(results)
    others = [lambda results: check.words(source, results)] if every else []
    if "series" in tools:
        others.append(lambda results: series.test(results, source, builds=not every))
    daily = not args.what and not args.kasan
    versions = packages.ELSEWHERE if every and packages.kernel_wanted() == packages.KERNEL else ()
    schedule.Schedule(source, results, schedule.MINUTES if every else None, daily).run(guests, ours, others, versions)
    return results.finish()


def option(*names, **more):
    return names, more


def flag(name, **more):
    return option(name, action="store_true", **more)


FIRST = configs.default("x86_64").label
ARCH = option("config", type=arch_config, nargs="?", default="x86_64", metavar="arch")
CONFIG = option("config", type=one_config, nargs="?", default=FIRST)
SEED = option("--seed", type=int, default=1)
LONG = (option("--seconds", type=int, default=600), SEED)
VERBS = {
    "run": (cmd_run, ARCH),
    "shell": (cmd_shell, ARCH, option("--module", action="append", default=[], metavar="DIR")),
    "test": (cmd_test, option("what", nargs="*"), flag("--kasan")),
    "torture": (cmd_torture, CONFIG, *LONG),
    "soak": (cmd_soak, *LONG),
    "probe": (cmd_probe, option("place", type=place), flag("--ret"), option("--seconds", type=int, default=5)),
    "share": (cmd_share, SEED, option("--config", type=share_config, default=FIRST),
              option("--count", type=int, help="of instructions or entries, 5000; of functions, 500"),
              flag("--post", help="probes with a post_handler as well"),
              option("--dense", dest="what", action="store_const", const="dense", default="spread",
                     help="at every instruction of random functions, at once"),
              option("--entries", dest="what", action="store_const", const="entries",
                     help="on the entries of random functions")),
    "sweep": (cmd_sweep, CONFIG, option("--seed", type=int), option("--dense", type=int),
              flag("--refused"), flag("--every")),
    "bench": (cmd_bench, option("configs", type=bench_configs, nargs="?", default="x86_64", metavar="arch"),
              option("--plot")),
    "coverage": (cmd_coverage, option("configs", type=one_config, nargs="*")),
    "check": (cmd_check, flag("--house")),
    "deb": (cmd_deb, option("--config", metavar="FILE")),
    "tree": (cmd_tree, option("dir", type=Path)),
    "pull": (cmd_pull, option("dir", type=Path, nargs="?")),
    "series": (cmd_series, option("dir", type=Path, nargs="?", default=CACHE / "series")),
}


def parse(argv):
    parser = argparse.ArgumentParser(prog="kp", add_help=False)
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    for name, (action, *options) in VERBS.items():
        sub = verbs.add_parser(name)
        sub.set_defaults(action=action)
        sub.add_argument("--kernel", metavar="VERSION or PATH")
        for names, more in options:
            sub.add_argument(*names, **more)
    return parser.parse_args(argv)


def end_orderly():
    """Ends the guest when kp is interrupted, terminated, or loses its terminal."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # A shell's background job ignores SIGINT.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, ui.SIGNALS.on_signal)


def main(argv):
    if not argv or argv[0] in ("-h", "--help", "help"):
        page()
        return 0
    end_orderly()
    try:
        args = parse(argv)
        if args.kernel:
            os.environ["KP_KERNEL"] = args.kernel
        return args.action(args)
    except ui.Failure as failure:
        print(f"kp: {failure}", file=sys.stderr)
        return 1
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EACCES, errno.EROFS):
            raise
        print(f"kp: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
