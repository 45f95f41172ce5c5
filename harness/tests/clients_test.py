# SPDX-License-Identifier: GPL-2.0-only
"""Tests that the Debian of a guest is made once, and again for another list of packages."""
from pathlib import Path
from unittest import mock

from harness import configs, packages, qemu, ui
from harness.tests import Case


class ClientsTest(Case):
    def setUp(self):
        super().setUp()
        self.made = []
        self.swap(packages, CACHE=self.folder, make_root=self.make)
        self.swap(ui, need_space=lambda *_: None)

    def make(self, release, folder, wanted):
        self.made.append(list(wanted))
        folder.mkdir()
        if self.made[-1] == ["no-such-package"]:
            raise KeyboardInterrupt

    def test_once(self):
        self.assertEqual(packages.root(), packages.root())
        self.assertEqual(len(self.made), 1)

    def test_other_packages(self):
        packages.root()
        with mock.patch.object(packages, "CLIENTS", ["trace-cmd"]):
            packages.root()
        self.assertEqual(self.made[1], ["trace-cmd"])

    def test_other_kernel(self):
        with mock.patch("platform.freedesktop_os_release", return_value={"VERSION_CODENAME": "bookworm"}):
            self.assertEqual(packages.root().name, "root-bookworm")
            with mock.patch.dict("os.environ", KP_KERNEL="7.3"):
                self.assertEqual(packages.root().name, "root-trixie")
            packages.root()
        self.assertEqual(len(self.made), 2)

    def test_half_a_root(self):
        with mock.patch.object(packages, "CLIENTS", ["no-such-package"]):
            for _ in range(2):
                with self.assertRaises(KeyboardInterrupt):
                    packages.root()
        packages.root()
        self.assertEqual(len(self.made), 3)

    def test_a_guest_has_it(self):
        words = qemu.command(mock.Mock(config=configs.CONFIGS[0], folder=Path("/build")), "initrd",
                             folders=[("debian", "/root"), ("build", "/build")])
        self.assertEqual([b.split(",")[1:3] for a, b in zip(words, words[1:]) if a == "-virtfs"],
                         [["path=/root", "mount_tag=debian"], ["path=/build", "mount_tag=build"]])
