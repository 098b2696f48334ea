"""live_test.py ABI RELEASE: the binaries that were kept with a frozen release pass the checker of today and do their work in daemons of
today, frozen sched with today's select and the other way round. A RELEASE that is not there stands for what would be frozen now."""

import importlib.machinery
import importlib.util
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import corpus  # tests/hostile: a configuration and daemons in a folder of their own

ABI, RELEASE = map(pathlib.Path, sys.argv[1:3])
sys.dont_write_bytecode = True
LANGUAGES = ["c", "cpp", "rust"]


def refresh():
    loader = importlib.machinery.SourceFileLoader("refresh", str(ABI / "refresh"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("refresh", loader))
    loader.exec_module(module)
    return module


class Live(corpus.Case):
    @classmethod
    def setUpClass(cls):
        release = RELEASE
        if not release.exists():
            scratch = tempfile.TemporaryDirectory()
            cls.addClassCleanup(scratch.cleanup)
            refresh().freeze("now", pathlib.Path(scratch.name))
            release = pathlib.Path(scratch.name) / "now"
        cls.binaries = sorted((release / "binaries" / "x86-64").glob("*.so"))

    def bring_all(self):
        for binary in self.binaries:
            shutil.copyfile(binary, self.plugins / binary.name)
            (self.plugins / binary.name).chmod(0o755)

    def test_every_axis_has_one_in_each_language(self):
        axes = refresh().FROZEN_AXES
        self.assertEqual({binary.stem for binary in self.binaries}, {f"{axis}_frozen_{word}" for axis in axes for word in LANGUAGES})

    def test_each_passes_the_checker(self):
        for binary in self.binaries:
            with self.subTest(binary.name):
                run = subprocess.run([corpus.BUILD / "bin/spur-plugin-check", "--only-failed", "--rounds", "10", binary],
                                     stdout=subprocess.PIPE, text=True)
                self.assertEqual(run.returncode, 0, run.stdout)

    def run_a_job(self, name, **plugins):
        self.configure(plugins.get("sched", "fifo"), **{axis: plugins[axis] for axis in plugins if axis != "sched"})
        daemon, agent = self.start_serving(name), self.start_agent(f"{name}_agent")
        self.assertTrue(agent.wait_for("joined cluster"), agent.text())
        job = self.submit()
        end = time.monotonic() + corpus.DEADLINE_S
        while (state := self.run_program("spur", "squeue", "-h", "-t", "all", "-j", str(job), "-o", "%T").stdout.strip()) not in ("COMPLETED", "FAILED"):
            self.assertLess(time.monotonic(), end, f"job {job} is {state}\n{daemon.text()}")
            time.sleep(0.05)
        self.assertEqual(state, "COMPLETED", daemon.text())
        agent.stop()
        self.assertEqual(daemon.stop(), 0, daemon.text())
        self.assertNotIn("breaks a rule", daemon.text())

    def test_frozen_and_new_work_together(self):
        self.bring_all()
        for word in LANGUAGES:
            frozen = f"frozen_{word}"
            for name, plugins in {
                "sched": {"sched": frozen},
                "select": {"select": frozen},
                "all": {"sched": frozen, "select": frozen, "priority": frozen, "state": frozen},
            }.items():
                with self.subTest(f"{name} in {word}"):
                    self.run_a_job(f"{name}_{word}", **plugins)


if __name__ == "__main__":
    if platform.machine() != "x86_64" or not (RELEASE.exists() or shutil.which("rustc")):
        print("skipped: binaries are for x86-64, and to make those of now takes rustc")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], "-v"])
