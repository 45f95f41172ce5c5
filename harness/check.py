# SPDX-License-Identifier: GPL-2.0-only
"""Static checks of our files by the kernel tree's own tools."""
import re
import subprocess
from pathlib import Path

from . import configs, examples, guesttest, ui, tree
from .paths import CACHE, HARNESS, REPO, log_file

# Rules that cannot be kept here, with the reasons.
IGNORED = [
    "FILE_PATH_CHANGES",        # our MAINTAINERS entry is spliced in: checkpatch does not see it
    "NEW_TYPEDEFS",             # kprobe_opcode_t and the handler types are the interface
    "DIFF_IN_COMMIT_MSG",       # patches/ have a message but no "diff --git" lines
    "BAD_COMMIT_SEPARATOR",     # the same, for newer kernels
]
# Rules that cannot be kept in one file, with the reasons.
EXCEPTIONS = {
    # The answer is the same for all probes.
    "arch/arm64/include/asm/kprobes.h": "MACRO_ARG_UNUSED",
    "arch/riscv/include/asm/kprobes.h": "MACRO_ARG_UNUSED",
    # Users write NOKPROBE_SYMBOL() with and without a semicolon; __kprobes is attributes.
    "include/asm-generic/kprobes.h": "TRAILING_SEMICOLON,COMPLEX_MACRO,MACRO_ARG_UNUSED",
    # Without modules the macro has only one value to choose.
    "include/linux/kprobes_port.h": "MACRO_ARG_UNUSED",
    # A parameter list cannot be in parentheses; in assembly the macros are instructions.
    "include/linux/kprobes_base.h": "MACRO_ARG_PRECEDENCE",
    "arch/x86/include/asm/kprobes_base.h": "COMPLEX_MACRO",
    # The files exist to list addresses; only root can read them, and they obey kptr_restrict. The
    # macro makes names from two strings.
    "kernel/kprobes/blacklist.c": "VSPRINTF_SPECIFIER_PX,MACRO_ARG_REUSE",
    "kernel/kprobes/refused.c": "VSPRINTF_SPECIFIER_PX",
    "kernel/kprobes/try.c": "VSPRINTF_SPECIFIER_PX",
    "kernel/kprobes/debugfs.c": "VSPRINTF_SPECIFIER_PX",
    # The macro makes the same test for functions of all types.
    "kernel/kprobes/jprobe_test.c": "MACRO_ARG_REUSE",
    # The macro makes one row for each way to interrupt a hit.
    "kernel/kprobes/context_test.c": "COMPLEX_MACRO,MACRO_ARG_REUSE",
    # Early releases of Linux 6.12 have no kzalloc_obj().
    "kernel/kprobes/return_pool.c": "ALLOC_WITH_SIZEOF",
    # Linux 6.12 takes no constant table.
    "kernel/kprobes/optimize.c": "CONST_STRUCT",
    # The caller passes the level.
    "arch/x86/kernel/dumpstack.c": "PRINTK_WITHOUT_KERN_LEVEL",
    # The line is the kernel's; we change only its value.
    "arch/riscv/kernel/process.c": "LOGGING_CONTINUATION",
    # A register name in the table's macro looks like a modulus.
    "arch/x86/kernel/kprobes/where_test.c": "SPACING",
    # A return whose address is lost cannot be recovered.
    "kernel/kprobes/return_trampoline.c": "AVOID_BUG",
    # The macros make functions, or lists of them.
    "lib/test_kprobes/common.h": "COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_WITH_FLOW_CONTROL",
    "lib/test_kprobes/torture/targets.c": "COMPLEX_MACRO,MACRO_ARG_REUSE",
    "lib/test_kprobes/bench/bench.c": "COMPLEX_MACRO,MACRO_ARG_REUSE",
    # The kernel's torture_onoff_stats() continues the line; the line of the end has all parameters.
    "lib/test_kprobes/torture/torture.c": "LOGGING_CONTINUATION,SPLIT_STRING",
    # It is one of the functions that are probed.
    "lib/test_kprobes/bench/loops.c": "STRCPY",
    "lib/test_kprobes/kp_nomem.c": "SPACING,TRAILING_SEMICOLON",
    # What assembly defines.
    "lib/test_kprobes/kp_fault.c": "AVOID_EXTERNS,FUNCTION_ARGUMENTS",
    "lib/test_kprobes/kp_victim.c": "AVOID_EXTERNS",
    # The debugger writes to it.
    "lib/test_kprobes/kp_kgdb.c": "CONST_STRUCT",
}
# Rules that are about code of the kernel, which programs of the selftests are not.
PROGRAMS = "ARCH_DEFINES,ARRAY_SIZE,EMBEDDED_FUNCTION_NAME,ENOSYS,MACRO_ARG_REUSE,MULTIPLE_ASSIGNMENTS," \
    "PREFER_DEFINED_ATTRIBUTE_MACRO,REPEATED_WORD,SPACING,STATIC_CONST_CHAR_ARRAY,VOLATILE"
PACKAGES = ["git", "sparse", "gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "gcc-riscv64-linux-gnu",
            "libc6-dev-riscv64-cross", "python3-sphinx", "python3-yaml"]
SPARSE = {
    "x86_64": ["kernel/kprobes.o", "kernel/kprobes/", "arch/x86/kernel/kprobes/", "lib/test_kprobes/",
               "samples/kprobes/"],
    "arm64": ["arch/arm64/kernel/probes/"],
    "riscv": ["arch/riscv/kernel/probes/"],
}


def findings(source, argv):
    """Runs a checker in the tree; returns its output."""
    done = subprocess.run(argv, cwd=source, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = done.stdout.strip()
    return text if text or not done.returncode else f"exit status {done.returncode}"


def each(title, files, argv, source, results, called=str):
    """Runs a checker for each file; @called: the name of a file in the results."""
    with ui.Step(f"{title}, {len(files)} files") as step:
        for file in files:
            step.tick(called(file))
            found = findings(source, [*argv(file), file])
            results.check(f"{title} {called(file)}", not found, found.replace("\n", "\n    "))


def sparse(arch, source, results):
    """Runs sparse; ignores its warnings about the kernel's headers, and about guards, which it does not follow."""
    made = guesttest.build(configs.default(arch), source)
    ours = tree.our_files()
    targets = [t for t in SPARSE[arch] if any(n.startswith(t.removesuffix(".o")) for n in ours)]
    with results.attempt(f"sparse {arch}", counted=False):
        made.kernel()
        with ui.Step(f"sparse {' '.join(targets)}") as step:
            made.make("sparse", "C=2", f"CHECK={HARNESS}/sparse", *targets, step=step)
        found = set()
        for line in open(log_file(f"{made.label}-sparse"), errors="replace"):
            place = re.match(r"(?:\S*/tree/|\.\./)*([\w./-]+\.[chS]):\d+:\d+: (?:warning|error)", line)
            if place and any(place[1].endswith(name) for name in ours) and "context imbalance" not in line:
                found.add(line.strip())
        results.check(f"sparse {arch}", not found, "\n    ".join(sorted(found)))


def about(names, text):
    """The lines of a log that begin with a position in one of these files."""
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if any(f"{name}:" in line.split(" ")[0] for name in names)]


def documentation(source, results):
    """Runs Sphinx on the folder of our document, which includes our kernel-doc."""
    folder = CACHE / "check" / "documentation"
    folder.mkdir(parents=True, exist_ok=True)
    log = log_file("documentation")
    argv = ["make", "-C", source, f"O={folder}", "SPHINXDIRS=trace", "SPHINXOPTS=-E", "htmldocs"]
    with results.attempt("Sphinx", counted=False):
        with ui.Step("render Documentation/trace") as step:
            ui.run(argv, log, step)
        found = about(tree.our_files(), log.read_text(errors="replace"))
        results.check("Sphinx", not found, "\n    ".join(found))


def spdx(results):
    """Every file must have its licence in the first two lines, as the kernel demands."""
    listed = subprocess.run(["git", "-C", str(REPO), "ls-files"], capture_output=True, text=True)
    if not listed.stdout:
        results.fail("SPDX lines", listed.stderr or "git knows no files here")
        return
    bare = []
    for name in listed.stdout.split():
        path = REPO / name
        if path.name in ("COPYING", ".gitignore", ".kunitconfig") or not path.is_file() or name.endswith(".patch"):
            continue
        head = path.read_text(errors="replace").splitlines()[:3]
        if not any("SPDX-License-Identifier: GPL-2.0" in line for line in head):
            bare.append(name)
    results.check("SPDX lines", not bare, "without one: " + " ".join(bare))


def checkpatch(name):
    """The command for the file @name; a patch has the exceptions of the files it changes."""
    touched, kind = [name], ["-f"]
    if Path(name).suffix == ".patch":
        touched = re.findall(r"^\+\+\+ b/(\S+)", Path(name).read_text(errors="replace"), re.M)
        kind = ["--no-signoff"]
    excepted = [EXCEPTIONS[n] for n in touched if n in EXCEPTIONS]
    excepted += [PROGRAMS for n in touched if n.startswith(tree.SELFTESTS) and n.endswith(".c")]
    return ["perl", "scripts/checkpatch.pl", "--no-tree", "-q", "--strict", "--no-summary",
            "--show-types", "--ignore", ",".join([*IGNORED, *excepted]), *kind]


def kernel_doc(_):
    return ["perl", "scripts/kernel-doc", "-none", "-Wall"]


def options(source, results):
    """All options that we name must be this kernel's: one that is called otherwise is silently off."""
    ours = {name: path for name, path in tree.our_files().items() if path.suffix in (".c", ".h", ".S") or path.name in ("Makefile", "config")}
    texts = [path.read_text() for path in ours.values()]
    texts += [tree.renamed(path.read_text()) for path in (HARNESS / "kconfig").glob("*.config")]
    named = {name.removesuffix("_MODULE") for text in texts for name in re.findall(r"\bCONFIG_(\w+)", text)}
    known = {name for path in source.rglob("Kconfig*") if path.is_file()
             for name in re.findall(r"^\s*(?:menu)?config (\w+)", path.read_text(errors="replace"), re.M)}
    unknown = sorted(named - known)
    results.check("options", not unknown, "not in this kernel: " + " ".join(unknown))


def words(source, results):
    """The checks that are quick and need nothing installed or built."""
    options(source, results)
    each("kernel-doc", [n for n in tree.our_files() if n.endswith((".c", ".h"))], kernel_doc, source, results)
    spdx(results)


def everything(source, results):
    each("checkpatch", [*tree.our_files(), *map(str, tree.patches())], checkpatch, source, results)
    words(source, results)
    documentation(source, results)
    for arch in SPARSE:
        sparse(arch, source, results)
    examples.build(guesttest.build(configs.default("x86_64"), source), results)
