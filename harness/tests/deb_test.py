# SPDX-License-Identifier: GPL-2.0-only
"""Tests of changing a distribution's configuration for a guest and for packages; builds nothing."""
import lzma
import os

from harness import build, deb, tree, ui
from harness.tests import Case

THEIRS = """\
CONFIG_X86_64=y
# CONFIG_KPROBES is not set
CONFIG_LOCALVERSION="-amd64"
CONFIG_SYSTEM_TRUSTED_KEYS="debian/certs/their.pem"
CONFIG_DEBUG_INFO_DWARF5=y
CONFIG_BTRFS_FS=m
CONFIG_BTRFS_NAME="no=m"
"""


def last(text):
    """Option -> value; the last line of an option counts."""
    return dict(line.split("=", 1) for line in text.splitlines() if line.startswith("CONFIG_"))


class DebTest(Case):
    def setUp(self):
        super().setUp()
        self.plain, self.packed = self.folder / "config-6.12", self.folder / "config.xz"
        self.plain.write_text(THEIRS)
        self.packed.write_bytes(lzma.compress(THEIRS.encode()))
        self.made = []
        self.out = self.said()
        self.swap(tree, base=lambda: self.folder, cached=lambda: self.folder / "tree")
        self.swap(ui, need_space=lambda *_: None, run=lambda argv, *_, **more: self.ran.append(list(map(str, argv))))
        self.ran = []
        self.swap(build.Build, make=self.make)

    def make(self, what, *targets, step):
        self.made.append(targets[-1])
        if what == "build":
            (self.folder / "deb/linux-image-6.12.1-kprobes_6.12.1-2_amd64.deb").write_text("new")
            release = self.folder / "deb/build/include/config/kernel.release"
            release.parent.mkdir(parents=True)
            release.write_text("6.12.1-kprobes\n")

    def config(self):
        return (self.folder / "deb/build/.config").read_text()

    def test_a_configuration_is_read_packed_or_not(self):
        self.assertEqual(deb.read(self.plain), THEIRS)
        self.assertEqual(deb.read(self.packed), THEIRS)

    def test_what_is_no_configuration_of_ours_is_refused(self):
        self.plain.write_text("CONFIG_ARM64=y\n")
        self.packed.write_text(THEIRS)
        for path in (self.plain, self.packed, self.folder / "none", self.folder):
            with self.assertRaises(ui.Failure):
                deb.read(path)

    def test_packages_are_made_and_told(self):
        (self.folder / "deb").mkdir()
        old = self.folder / "deb/linux-image-6.12.1-kprobes_6.12.1-1_amd64.deb"
        old.write_text("old")
        os.utime(old, (1, 1))
        deb.run(str(self.plain))
        self.assertEqual(self.made, ["olddefconfig", "bindeb-pkg"])
        self.assertIn("6.12.1-2_amd64.deb", self.out.getvalue())
        self.assertNotIn("6.12.1-1_amd64.deb", self.out.getvalue())
        named = last(self.config())
        self.assertEqual(named["CONFIG_LOCALVERSION"], '"-kprobes"')
        self.assertEqual(named["CONFIG_KPROBES"], "y")
        self.assertEqual(named["CONFIG_KPROBES_TORTURE_TEST"], "m")
        self.assertEqual(named["CONFIG_SYSTEM_TRUSTED_KEYS"], '""')
        self.assertEqual(named["CONFIG_BTRFS_FS"], "m")

    def test_the_tests_are_a_package_that_needs_the_kernel(self):
        deb.run(str(self.plain))
        install, pack = self.ran
        root = self.folder / "deb/build/kp-tests"
        self.assertIn(f"KSFT_INSTALL_PATH={root}/usr/lib/kprobes-tests", install)
        self.assertEqual(pack[-2:], [str(root), str(self.folder / "deb")])
        control = (root / "DEBIAN/control").read_text()
        self.assertIn("\nVersion: 6.12.1\n", control)
        self.assertIn("Depends: linux-image-6.12.1-kprobes,", control)
        self.assertTrue((root / "usr/sbin/kprobes-tests").is_symlink())

    def test_a_kernel_without_probes_is_no_package(self):
        def drop(*_, step):
            (self.folder / "deb/build/.config").write_text("")

        self.swap(build.Build, make=drop)
        with self.assertRaisesRegex(ui.Failure, "lost CONFIG_KPROBES=y"):
            deb.run(str(self.plain))

    def test_a_guest_has_no_modules_of_a_distribution(self):
        named = last(build.without_modules(self.packed))
        self.assertEqual(named["CONFIG_BTRFS_FS"], "n")
        self.assertEqual(named["CONFIG_BTRFS_NAME"], '"no=m"')

    def test_fragments_come_after_a_configuration(self):
        fragment = self.folder / "ours.config"
        fragment.write_text("CONFIG_BTRFS_FS=y\n")
        made = build.Build("guest", self.folder, [fragment], base=str(self.packed))
        self.swap(made, verify=lambda text: self.assertEqual(text, "CONFIG_BTRFS_FS=y\n"))
        self.swap(tree, patches=lambda: [], our_files=lambda: {})
        made.configure()
        self.assertEqual(last((made.folder / "kp.config").read_text())["CONFIG_BTRFS_FS"], "y")
        self.assertEqual(self.made, ["allnoconfig"])
