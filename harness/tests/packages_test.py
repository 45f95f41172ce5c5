# SPDX-License-Identifier: GPL-2.0-only
"""Tests of apt-get when another process has its lock, and when a mirror is slow or missing."""
import os
from unittest import mock

from harness import packages, ui
from harness.tests import Case

# Counts its calls in a file, and then runs one of the cases below.
APT = """#!/bin/sh
echo "$*" >>{folder}/calls
n=$(wc -l <{folder}/calls)
{body}
"""
LOCKED = """if [ $n -le {times} ]; then
	echo "E: Could not get lock /var/lib/apt/lists/lock. It is held by process 4711 (apt-get)"
	echo "E: Unable to lock directory /var/lib/apt/lists/"
	exit 100
fi"""
AWAY = """echo "E: Failed to fetch http://mirror.invalid/InRelease  Could not resolve 'mirror.invalid'"
exit 100"""


class PackagesTest(Case):
    def setUp(self):
        super().setUp()
        self.out = self.said()
        self.enter(mock.patch.dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}"))
        self.swap(packages, log_file=lambda name: self.folder / f"{name}.log", PAUSE=0.01)

    def apt(self, body):
        script = self.folder / "apt-get"
        script.write_text(APT.format(folder=self.folder, body=body))
        script.chmod(0o755)

    def calls(self):
        return (self.folder / "calls").read_text().splitlines() if (self.folder / "calls").exists() else []

    def release(self, **values):
        self.swap(packages.platform, freedesktop_os_release=lambda: values)

    def update(self):
        before = len(self.out.getvalue())
        with ui.Step("update") as step:
            packages.update(step)
        return self.out.getvalue()[before:]

    def test_a_release_has_its_own_names(self):
        for release, name in (("12", "lib32gcc-12-dev"), ("13", "lib32gcc-14-dev"), ("14", "lib32gcc-12-dev")):
            self.release(VERSION_ID=release)
            self.assertEqual(packages.here("lib32gcc-12-dev"), name)
        for names in packages.RENAMED.values():
            self.assertLessEqual(set(names) | set(names.values()), set(packages.PROBES))

    def test_waits_for_the_lock(self):
        self.apt(LOCKED.format(times=3))
        said = self.update()
        self.assertEqual(len(self.calls()), 4)
        self.assertEqual(said.count("waits"), 1)
        self.assertIn("process 4711 (apt-get) has /var/lib/apt/lists/lock", said)

    def test_does_not_wait_for_ever(self):
        self.apt(LOCKED.format(times=1000000))
        # Each call takes a fifth of a second on an idle machine.
        self.swap(packages, LOCK_PATIENCE=3)
        with self.assertRaises(ui.Failure):
            self.update()
        self.assertGreater(len(self.calls()), 1)

    def test_says_that_the_mirror_is_slow(self):
        self.apt("echo '0% [Connecting to mirror.invalid]'; sleep 2")
        with mock.patch.object(packages, "SLOW", 0.1):
            self.assertIn("takes long", self.update())
        self.assertNotIn("takes long", self.update())

    def test_other_errors_are_not_waited_for(self):
        self.apt(AWAY)
        with self.assertRaises(ui.Failure):
            self.update()
        self.assertEqual(len(self.calls()), 1)

    def test_nothing_is_asked_when_all_is_there(self):
        self.apt(AWAY)
        with mock.patch.dict(packages.PROBES, {"one": "sh", "two": "/bin/sh"}):
            packages.need(["one", "two"])
        self.assertEqual(self.calls(), [])

    def test_goes_on_without_new_lists(self):
        # Offline, but the packages are in the cache.
        self.apt(f"case \"$*\" in *update) {AWAY} ;; *install*) touch {self.folder}/one ;; esac")
        self.swap(os, geteuid=lambda: 0)
        with mock.patch.dict(packages.PROBES, {"one": f"{self.folder}/one"}):
            packages.need(["one"])
        self.assertEqual(len(self.calls()), 2)

    def test_goes_on_with_the_sources_that_are_known(self):
        self.apt(f"case \"$*\" in indextargets*) [ $n -lt 2 ] || echo http://mirror.invalid/debian ;; *) {AWAY} ;; esac")
        self.swap(os, geteuid=lambda: 0)
        self.release(VERSION_CODENAME="bookworm")
        packages.sources("sid", self.folder / "list")
        self.assertEqual((self.folder / "list").read_text(), "deb http://mirror.invalid/debian sid main\n")

    def test_a_kernel_of_another_release(self):
        self.apt("""case "$*" in
        indextargets*) echo http://mirror.invalid/debian ;;
        *download*) touch linux-source-7.3_1_all.deb ;; esac""")
        dpkg = self.folder / "dpkg"
        dpkg.write_text("""#!/bin/sh
        [ "$1" = -x ] || exec echo amd64
        mkdir -p $3/usr/src && touch $3/usr/src/linux-source-7.3.tar.xz\n""")
        dpkg.chmod(0o755)
        self.swap(packages, CACHE=self.folder)
        self.release(VERSION_CODENAME="bookworm")
        for _ in range(2):
            self.assertTrue(packages.source("7.3").exists())
        self.assertEqual((self.folder / "apt-amd64/sources.list").read_text(),
                         "deb http://mirror.invalid/debian trixie-backports main\n")
        self.assertEqual(len(self.calls()), 3)
        with self.assertRaisesRegex(ui.Failure, "no Debian that kp knows has linux-source-7.2"):
            packages.source("7.2")

    def test_the_kernel_of_the_release_is_installed(self):
        for wanted, names in (("", ["linux-source-6.12"]), ("6.12", ["linux-source-6.12"]), ("7.3", []), ("/tree", [])):
            with mock.patch.dict(os.environ, KP_KERNEL=wanted):
                self.assertEqual(packages.tree_packages(), ["patch", "xz-utils", *names])
