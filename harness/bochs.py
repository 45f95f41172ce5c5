# SPDX-License-Identifier: GPL-2.0-only
"""Runs a guest in Bochs, which enforces indirect branch tracking; QEMU has none without KVM."""
import shlex
import shutil

from . import packages, ui
from .paths import log_file

# From NEWER: the Bochs of Debian 12 has no processor with this.
PACKAGES = ("bochs", "bochsbios", "vgabios", "isolinux", "syslinux-common", "xorriso")
SPEED = 50      # million instructions a second of the guest's time, which does not follow the host's
ISOLINUX = """\
default kernel
label kernel
 kernel /kernel
 append initrd=/initrd {words}
"""


def command(config, kernel, initramfs, words):
    """Writes a disk to boot from, and returns what prints the serial console; the emulator sees only its Debian."""
    root = packages.debian("root-bochs", packages.NEWER, PACKAGES)
    name = f"{config.name}-{initramfs.stem}"
    there = root / name
    shutil.rmtree(there, ignore_errors=True)
    (there / "disk").mkdir(parents=True)
    shutil.copy(kernel, there / "disk/kernel")
    shutil.copy(initramfs, there / "disk/initrd")
    # The frequency that the processor claims is not that of its clock. What is not the kernel's goes to sweep.sh.
    words = [*words, f"tsc_early_khz={SPEED}000", "PATIENCE=30"]
    (there / "disk/isolinux.cfg").write_text(ISOLINUX.format(words=" ".join(words)))
    for file in ("ISOLINUX/isolinux.bin", "syslinux/modules/bios/ldlinux.c32"):
        shutil.copy(root / "usr/lib" / file, there / "disk")
    ui.run(["chroot", root, "xorriso", "-as", "mkisofs", "-quiet", "-o", f"/{name}/iso", "-b", "isolinux.bin",
            "-no-emul-boot", "-boot-load-size", "4", "-boot-info-table", f"/{name}/disk"], log_file(f"{name}-iso"))
    options = [
        "display_library: rfb, options=\"timeout=0\"", "romimage: file=/usr/share/bochs/BIOS-bochs-latest",
        "vgaromimage: file=/usr/share/vgabios/vgabios.bin", f"megs: {config.memory}",
        f"cpu: model={config.bochs}, ips={SPEED}000000, reset_on_triple_fault=0", "boot: cdrom",
        f"ata0-master: type=cdrom, path=/{name}/iso, status=inserted", f"com1: enabled=1, mode=file, dev=/{name}/serial",
        f"log: /{name}/log", "panic: action=fatal", "error: action=ignore",
    ]
    emulator = shlex.join(["chroot", str(root), "bochs", "-q", "-f", "/dev/null", *options])
    serial = shlex.quote(str(there / "serial"))
    return ["sh", "-c", f"mkfifo {serial} && {{ {emulator} >/dev/null 2>&1 & cat {serial}; }}"]
