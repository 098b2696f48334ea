"""spur plugin debug: the daemon that loads a plugin, under gdb."""

import shlex
import shutil
import subprocess
import unittest

import corpus


class Debug(corpus.Case):
    def setUp(self):
        super().setUp()
        self.bring("segfaults_in_create")
        self.configure("segfaults_in_create")

    def debug(self, *words, **environment):
        return subprocess.run([corpus.BUILD / "bin/spur", "plugin", "debug", *words], env={**self.environment, **environment}, cwd=self.root,
                              input="continue\nbacktrace 2\nkill\nquit\n", capture_output=True, text=True, errors="replace", timeout=120)

    def test_the_command_is_the_daemon_of_the_axis_stopped_where_the_plugin_is_loaded(self):
        here = (corpus.BUILD / "bin").resolve()
        for words, file, program, more in (
            (["sched/segfaults_in_create", "--dry-run"], "sched_segfaults_in_create.so", "spurctld", []),
            (["--dry-run", "gpu/none", "--", "-N", "n1"], "gpu_none.so", "spurd", ["-N", "n1"]),
        ):
            run = self.debug(*words)
            self.assertEqual(shlex.split(run.stdout), ["gdb", "-q", "-ex", "set breakpoint pending on", "-ex", f"catch load {file}", "-ex", "run",
                                                       "--args", f"{here}/{program}", "-D", "-f", str(self.conf), *more], run.stderr)

    def test_what_the_daemon_would_not_load_is_refused(self):
        self.assertIn("sched/fifo is not loaded: spur.conf selects sched/segfaults_in_create; write sched = \"sched/fifo\" under [plugins] first",
                      self.debug("sched/fifo", "--dry-run").stderr)
        self.assertIn("\"mine\" is no plugin of an axis", self.debug("mine").stderr)
        with self.conf.open("a") as conf:
            conf.write('[plugin."sched/segfaults_in_create"]\nisolate = true\n')
        self.assertIn("has a process of its own (isolate = true)", self.debug("sched/segfaults_in_create", "--dry-run").stderr)

    def test_without_gdb_it_says_what_to_install(self):
        run = self.debug("sched/segfaults_in_create", PATH="/nonexistent")
        self.assertEqual(run.returncode, 1)
        self.assertIn("gdb cannot be started: No such file or directory; install it (package gdb), or have another debugger do what this would: 'gdb' '-q'",
                      run.stderr)

    @unittest.skipUnless(shutil.which("gdb"), "gdb is not installed")
    def test_gdb_stops_at_the_plugin_and_knows_its_functions(self):
        run = self.debug("sched/segfaults_in_create", DEBUGINFOD_URLS="")
        if "Operation not permitted" in run.stderr:
            self.skipTest("this machine lets nobody trace")
        self.assertRegex(run.stdout, r"Inferior loaded .*sched_segfaults_in_create\.so")
        self.assertRegex(run.stdout, r"#0 .*create .*sched/segfaults_in_create\.c|#0 .* in create \(")


if __name__ == "__main__":
    unittest.main()
