# SPDX-License-Identifier: GPL-2.0-only
"""A Debian root with well-known users of probes, which a guest mounts from the host."""
import platform
import shutil

from . import packages, ui
from .paths import CACHE, log_file

SPACE = 1       # GB


def make(release, folder):
    ui.need_space(CACHE, SPACE, "a Debian with " + " ".join(packages.CLIENTS))
    with ui.Step(f"make a Debian {release} with " + " ".join(packages.CLIENTS)) as step:
        mirrors = folder.with_suffix(".list")
        packages.sources(release, mirrors)
        ui.run(["mmdebstrap", "--variant=minbase", "--include=" + ",".join(packages.CLIENTS),
                release, folder, mirrors], log_file("mmdebstrap"), step)


def root():
    """Makes the root once for a list of packages; an incomplete one is removed."""
    release = platform.freedesktop_os_release()["VERSION_CODENAME"]
    folder, mark = CACHE / "root-clients", CACHE / "root-clients.made"
    wanted = " ".join([release, *packages.CLIENTS])
    if not mark.exists() or mark.read_text() != wanted:
        mark.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        make(release, folder)
        mark.write_text(wanted)
    return folder
