# SPDX-License-Identifier: GPL-2.0-only
"""The verbs of ./kp."""
import argparse
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import bench, check, configs, guesttest, packages, ports, qemu, selftest, share, tree, ui
from .paths import CACHE
from .results import Results

HELP = """\
kp - build, boot and test this kprobes subsystem

  ./kp run [ARCH]        build a kernel, boot it in QEMU, show two probes firing
  ./kp test [WHAT...]    run the tests; ends with "N passed, N failed"
  ./kp shell [ARCH]      a prompt in the guest, with the sample modules in /lib/kp;
                         --module DIR builds your own module and adds it
  ./kp share             of random instructions, how many can be probed and become a
                         jump, ours and the kernel's own; --count N --seed N
                         --config CONFIGURATION
  ./kp bench [ARCH]      what probes cost, ours and the kernel's own; or of one of its
                         kernels: x86_64:bench-none. --plot FILE draws it
  ./kp check             checkpatch --strict, kernel-doc and sparse over our files
  ./kp tree DIR          only write the overlaid source tree, to build as you like

  ARCH  {archs}
  WHAT  ARCH             all its configurations:
{configs}
        x86_64:none      one configuration
        x86_64 --kasan   the one with KASAN and lockdep
        ports            cross compile the kernel's other ports; or one: ports:arm
        harness          the tests of this tool
        (nothing)        everything

Trees, objects and logs are in {cache}  (KP_CACHE=DIR)
The kernel is Debian's linux-source-6.12  (KP_KERNEL=tree or tarball, any 6.12)
Missing Debian packages are installed, which needs root; without it kp names them."""


def page():
    archs = dict.fromkeys(c.arch for c in configs.CONFIGS)
    lines = [f"{'':25}{arch.name}: " + " ".join(c.name for c in configs.CONFIGS if c.arch == arch)
             for arch in archs]
    ui.say(HELP.format(cache=CACHE, archs=" ".join(arch.name for arch in archs),
                       configs="\n".join(lines)))


def arch_config(name):
    config = configs.default(name)
    if not config:
        known = " ".join(sorted({c.arch.name for c in configs.CONFIGS}))
        raise ui.Failure(f"no architecture {name}; there is: {known}")
    return config


def need_guests(guests, more=()):
    """All packages that it takes to build and boot these configurations."""
    packages.need([*packages.tree_packages(), *packages.BUILD, *more,
                   *(packages.BOOT if guests else []),
                   *(p for config in guests for p in config.packages)])


def cmd_run(args):
    config = arch_config(args.arch)
    need_guests([config])
    return guesttest.run(config, tree.cached())


def cmd_shell(args):
    config = arch_config(args.arch)
    need_guests([config])
    made = guesttest.build(config, tree.cached())
    modules = made.kernel(args.module)
    return qemu.interactive(config, made, modules)


def cmd_share(args):
    config = next((c for c in configs.CONFIGS if c.label == args.config), None)
    if not config:
        raise ui.Failure(f"no configuration {args.config}; ./kp lists them")
    need_guests([config])
    return share.run(config, args.count, args.seed)


def cmd_bench(args):
    wanted = [c for c in configs.BENCH if args.arch in (c.arch.name, c.label)]
    if not wanted:
        raise ui.Failure(f"nothing to measure on {args.arch}")
    need_guests(wanted)
    packages.need(["gnuplot-nox"] if args.plot else [])
    return bench.run(args.arch, args.plot)


def cmd_tree(args):
    packages.need(packages.tree_packages())
    tree.update(Path(args.dir).resolve())
    return 0


def cmd_check(args):
    packages.need(packages.tree_packages() + packages.BUILD + ["sparse", "gcc-aarch64-linux-gnu"])
    results = Results()
    check.everything(tree.cached(), results)
    return results.finish()


def selected(what, kasan):
    """The configurations, ports and harness tests that WHAT names."""
    archs = dict.fromkeys(c.arch.name for c in configs.CONFIGS if c.name == "debug" or not kasan)
    what = what or ([] if kasan else ["harness", "ports"]) + [*archs]
    guests, ours, harness = [], [], False
    for word in what:
        some = [c for c in configs.CONFIGS if word in (c.arch.name, c.label)]
        if kasan:
            some = [c for c in some if c.name == "debug"]
        port = [p for p in ports.PORTS if word in ("ports", p.label)]
        if word == "harness":
            harness = True
        elif not some and not port:
            raise ui.Failure(f"no test named {word}; ./kp lists them")
        guests += some
        ours += port
    return guests, ours, harness


def cmd_test(args):
    guests, ours, harness = selected(args.what, args.kasan)
    results = Results()
    need_guests(guests, [p for port in ours for p in port.packages])
    if harness:
        selftest.run(results)
    if guests or ours:
        built_tests(guests, ours, tree.cached(), results)
    return results.finish()


def built_tests(guests, ours, source, results):
    """Boots each kernel while the next one builds: a guest keeps no two CPUs busy."""
    def outcome(label, job):
        try:
            value = job.result()
            results.ok(f"{label} builds")
            return value
        except ui.Failure as failure:
            results.fail(f"{label} builds", str(failure))

    builds = [(config, guesttest.build(config, source)) for config in guests]
    pool = ThreadPoolExecutor(max_workers=1)
    try:
        kernels = [pool.submit(made.kernel) for _, made in builds]
        compiles = [pool.submit(ports.compile, port, source) for port in ours]
        for (config, made), job in zip(builds, kernels):
            modules = outcome(config.label, job)
            if modules is not None:
                guesttest.test(config, made, modules, results)
        for port, job in zip(ours, compiles):
            outcome(port.label, job)
    finally:
        ui.STOP.set()
        pool.shutdown(cancel_futures=True)


def parse(argv):
    parser = argparse.ArgumentParser(prog="kp", add_help=False)
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def verb(name, action):
        sub = verbs.add_parser(name)
        sub.set_defaults(action=action)
        return sub

    verb("run", cmd_run).add_argument("arch", nargs="?", default="x86_64")
    shell = verb("shell", cmd_shell)
    shell.add_argument("arch", nargs="?", default="x86_64")
    shell.add_argument("--module", action="append", default=[], metavar="DIR")
    test = verb("test", cmd_test)
    test.add_argument("what", nargs="*")
    test.add_argument("--kasan", action="store_true")
    share_verb = verb("share", cmd_share)
    share_verb.add_argument("--count", type=int, default=5000)
    share_verb.add_argument("--seed", type=int, default=1)
    share_verb.add_argument("--config", default=configs.default("x86_64").label)
    bench_verb = verb("bench", cmd_bench)
    bench_verb.add_argument("arch", nargs="?", default="x86_64")
    bench_verb.add_argument("--plot")
    verb("check", cmd_check)
    verb("tree", cmd_tree).add_argument("dir")
    return parser.parse_args(argv)


def main(argv):
    if not argv or argv[0] in ("-h", "--help", "help"):
        page()
        return 0
    # A terminated kp must take its guest with it, as ^C does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    args = parse(argv)
    try:
        return args.action(args)
    except ui.Failure as failure:
        print(f"kp: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
