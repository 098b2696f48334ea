"""spur up and spur down: a whole cluster by one command, left with nothing behind, taken up again as it was."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from spur_cluster import PATIENCE, eventually, program


class Trial(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="spur-up-")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "SBATCH", "SPUR_CON"))}
        self.env["SPUR_STATE_DIR"] = self.dir
        self.env["PATH"] = os.path.dirname(program("spur")) + ":" + os.path.dirname(program("srun")) + ":" + self.env.get("PATH", "/usr/bin:/bin")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.addCleanup(self.spur, "down")  # before that, and also where `up` fails half way
        self.greeting = self.ok("up", "--nodes", "2", "--detach")

    def spur(self, *words):
        return subprocess.run([program("spur"), *words], env=self.env, cwd=self.dir, capture_output=True, text=True, timeout=3 * PATIENCE,
                              stdin=subprocess.DEVNULL)

    def ok(self, *words):
        done = self.spur(*words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def step_daemons(self):
        """Those that work below this cluster's directory."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{pid}/cwd").startswith(self.dir + "/"):
                    with open(f"/proc/{pid}/cmdline", "rb") as file:
                        found += [pid] if file.read().startswith(b"spurstepd: [") else []
            except OSError:
                continue
        return found

    def test_down_ends_what_runs_and_up_goes_on_with_what_waits(self):
        running = self.ok("submit", "--parsable", "-N2", "--wrap", "srun sleep 1000").strip()
        waiting = self.ok("submit", "--parsable", "--hold", "--wrap", "true").strip()
        eventually(lambda: self.ok("queue", "-h", "-s", "-o", "%i").find(f"{running}.0") >= 0, "its step runs")
        self.ok("down")
        self.assertEqual(self.step_daemons(), [])
        self.ok("up", "--nodes", "2", "--detach")
        self.assertEqual(set(self.ok("queue", "-h", "-t", "all", "-o", "%i %T").splitlines()), {f"{waiting} PENDING", f"{running} CANCELLED"})

    def test_no_waiting_job_starts_while_the_cluster_goes_down(self):
        running = self.ok("submit", "--parsable", "--exclusive", "-N2", "--wrap", "sleep 1000").strip()
        eventually(lambda: "R" in self.ok("queue", "-h", "-j", running, "-o", "%t"), "it runs")
        waiting = [self.ok("submit", "--parsable", "--exclusive", "-N2", "--wrap", f"touch {self.dir}/started; sleep 1000").strip()
                   for _ in range(3)]
        said = self.ok("down")
        self.assertIn("1 running job was cancelled.\n", said)
        self.assertFalse(os.path.exists(f"{self.dir}/started"))
        self.assertEqual(self.step_daemons(), [])
        with open(f"{self.dir}/log/spurctld.log") as log:
            self.assertIn("no more jobs are started", log.read())
        self.ok("up", "--nodes", "2", "--detach")
        states = dict(line.split() for line in self.ok("queue", "-h", "-t", "all", "-o", "%i %T").splitlines())
        self.assertEqual(states[running], "CANCELLED")
        self.assertNotIn("CANCELLED", [states[job] for job in waiting])
        self.ok("cancel", *waiting)

    def hints(self, text):
        """The commands a greeting suggests, as they stand there."""
        return re.findall(r"^  (\S.*)$", text, re.M), re.search(r"^Stop it with: (.*)$", text, re.M).group(1)

    def shell(self, command, **more):
        env = {**self.env, **more}
        return subprocess.run(["sh", "-c", command], env=env, cwd=self.dir, capture_output=True, text=True, timeout=3 * PATIENCE, stdin=subprocess.DEVNULL)

    def test_what_it_suggests_reaches_the_cluster_it_started(self):
        """One runs already where commands look by themselves; the second is elsewhere, in a directory with a blank in its name."""
        second = os.path.join(self.dir, "the second")
        self.addCleanup(self.spur, "down", "--dir", second)
        for more in ({}, {"SPUR_CONF": os.path.join(self.dir, "spur.conf")}):
            said = self.shell(f"spur up --detach --dir '{second}'", **more)
            self.assertEqual(said.returncode, 0, said.stderr)
            commands, stop = self.hints(said.stdout)
            self.assertEqual(len(commands), 3)
            for command in commands:
                done = self.shell(command, **more)
                self.assertEqual(done.returncode, 0, command + "\n" + done.stderr)
            queue = self.shell(commands[0].replace("run hostname", "queue -h -t all -o %i"), **more)
            self.assertEqual(len(queue.stdout.split()), 2, queue.stdout + queue.stderr)
            self.assertEqual(self.ok("queue", "-h", "-t", "all"), "")  # the first one heard nothing of it
            done = self.shell(stop, **more)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("node1", self.ok("nodes", "-h", "-N", "-o", "%N"))  # and still runs
            shutil.rmtree(second)

    def test_where_commands_find_it_by_themselves_nothing_more_is_said(self):
        self.ok("down")
        commands, stop = self.hints(self.ok("up", "--detach"))
        self.assertEqual(commands[0], "spur run hostname")
        self.assertEqual(stop, "spur down")

    def test_a_directory_that_others_can_write_is_refused(self):
        place = os.path.join(self.dir, "shared")
        os.mkdir(place)
        os.chmod(place, 0o1777)
        done = self.spur("up", "--detach", "--dir", place)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, f"^spur up: error: others may write to {place} .mode 1777.; run chmod go-w {place}, or choose another")
        self.assertEqual(os.listdir(place), [])

    def test_a_directory_of_somebody_else_is_refused(self):
        place = "/"
        if os.geteuid() == 0:
            place = os.path.join(self.dir, "hers")
            os.mkdir(place)
            os.chown(place, 4711, 4711)
        for words in (("up", "--detach"), ("down",)):
            done = self.spur(*words, "--dir", place)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, f"error: {place} belongs to uid [0-9]+ and you are uid {os.geteuid()}; choose a directory of your own")

    def test_a_drained_node_does_not_keep_the_cluster_from_starting(self):
        self.ok("scontrol", "update", "nodename=node1", "state=drain", "reason=test")
        self.ok("down")
        self.ok("up", "--nodes", "2", "--detach")
        self.assertEqual(self.ok("nodes", "-h", "-N", "-o", "%N %T").split("\n")[:2], ["node1 drained", "node2 idle"])

    def test_a_job_cancelled_as_it_starts_is_gone_at_once(self):
        """The signal also meets a task that is on its way into its cgroup; KillWait, 30 seconds here, is not waited for."""
        jobs = []
        for _ in range(10):
            jobs.append(self.ok("submit", "--parsable", "-o", "/dev/null", "--wrap", "sleep 1000").strip())
            self.ok("cancel", jobs[-1])
        eventually(lambda: not self.ok("queue", "-h", "-t", "R,CG,PD"), "all have ended", patience=10)
        self.assertEqual(set(self.ok("queue", "-h", "-t", "all", "-o", "%T").split()), {"CANCELLED"})

    def test_what_is_not_enforced_is_told(self):
        """Two nodes that each have the whole machine cannot be held to cores, whatever it is."""
        note = r"(?m)^Not enforced on node\[1-2\]: (\w+,)*cores\b.*$"
        self.assertRegex(self.greeting, note)
        self.assertRegex(self.ok("nodes"), note)
        self.assertNotRegex(self.ok("sinfo"), "Not enforced", "scripts read what Slurm prints")
        self.assertRegex(self.ok("sinfo", "-h", "-O", "Unenforced:80"), r"\bcores\b")
        self.assertRegex(self.ok("show", "node", "node1"), r"(?m)^ +Unenforced=(\w+,)*cores\b")

    def test_commands_that_are_not_built_say_so(self):
        for name in ("sdiag", "sattach"):
            done = self.spur(name)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, f"^{name}: error: .* not built in this release of Spur\n$")


if __name__ == "__main__":
    unittest.main()
