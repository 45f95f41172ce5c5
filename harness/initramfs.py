# SPDX-License-Identifier: GPL-2.0-only
"""The guest's file system: a cpio archive in memory, so device nodes need no root."""
import gzip
import os
import stat


class Archive:
    """A newc cpio archive, as Documentation/driver-api/early-userspace describes it."""

    def __init__(self):
        self.parts, self.count, self.folders = [], 0, set()

    def entry(self, name, mode, data=b"", device=(0, 0)):
        self.count += 1
        fields = [self.count, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0]
        head = b"070701" + "".join(f"{f:08x}" for f in fields).encode() + name.encode() + b"\0"
        self.parts += [head, b"\0" * (-len(head) % 4), data, b"\0" * (-len(data) % 4)]

    def folder(self, name):
        if not name or name in self.folders:
            return
        self.folder(os.path.dirname(name))
        self.folders.add(name)
        self.entry(name, stat.S_IFDIR | 0o755)

    def file(self, name, data, mode=0o644):
        self.folder(os.path.dirname(name))
        self.entry(name, stat.S_IFREG | mode, data)

    def add(self, name, path):
        """Adds a file or a folder, without links: lib/modules has one to the build folder."""
        if path.is_symlink():
            return
        if path.is_dir():
            for below in sorted(path.iterdir()):
                self.add(f"{name}/{below.name}", below)
        elif path.is_file():
            self.file(name, path.read_bytes(), path.stat().st_mode & 0o777)

    def node(self, name, major, minor):
        self.folder(os.path.dirname(name))
        self.entry(name, stat.S_IFCHR | 0o600, device=(major, minor))

    def write(self, path):
        self.entry("TRAILER!!!", 0)
        path.write_bytes(gzip.compress(b"".join(self.parts), 1))
