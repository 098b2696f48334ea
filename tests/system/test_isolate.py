"""Plugins in processes of their own, under real daemons: killed, stopped and hanging, they cost a call and a warning.

"""
import os
import re
import signal
import unittest

from history import History
from spur_cluster import BUILD, Cluster, eventually, free_port, plugin_process


class IsolatedAuth(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(nodes=1, auth='plugin = "actor"\n')
        self.trouble = os.path.join(self.cluster.dir, "trouble")
        self.cluster.settings = {"plugins": f'dirs = ["{BUILD}/lib/spur", "{BUILD}/tests/lib"]',
                                 'plugin."auth/actor"': f'isolate = true\ntrouble = "{self.trouble}"'}
        self.cluster.__enter__()
        self.addCleanup(self.cluster.close)

    def pid(self):
        """None while it is being started, or while the question itself was lost with it."""
        stats = self.cluster.run("spur", "plugin", "stats").stdout
        found = re.search(r"auth/actor[^:\n]*: in a process of its own, pid (\d+)", stats)
        return int(found[1]) if found else None

    def another_pid(self, than):
        """Its death is noticed a moment later, so the first answers may still name the one that was killed."""
        return eventually(lambda: (pid := self.pid()) != than and pid, "another process is there")

    def test_a_process_that_is_killed_or_stopped_comes_back_and_jobs_go_on(self):
        first = self.pid()
        self.assertTrue(first)
        with open(f"/proc/{first}/cmdline") as line:
            self.assertIn("spur-plugin-child: auth/actor", line.read())
        os.kill(first, signal.SIGKILL)
        second = self.another_pid(first)
        self.assertIn("its process died of signal 9 (Killed); it is started again", self.cluster.controllers[0].text())
        self.assertRegex(self.cluster.ok("spur", "plugin", "stats"), "started again 1 time: the last one died of signal 9")
        os.kill(second, signal.SIGSTOP)
        self.another_pid(second)
        job = self.cluster.submit("--wrap", "srun true")
        self.assertEqual(self.cluster.wait_ended(job)["JobState"], "COMPLETED")

    def test_a_verify_that_hangs_costs_a_warning(self):
        with open(self.trouble, "w") as file:
            file.write("hang")
        done = self.cluster.run("squeue")
        os.remove(self.trouble)
        self.assertNotEqual(done.returncode, 0)
        eventually(lambda: "did not come back from verify() within" in self.cluster.controllers[0].text(), "the log names the call")
        eventually(lambda: self.cluster.run("squeue").returncode == 0, "commands are answered again")
        self.assertTrue(self.cluster.controllers[0].alive())


class IsolatedHistory(unittest.TestCase):
    def test_every_job_is_told_once_however_often_the_process_is_killed(self):
        port = free_port()
        cluster = Cluster(nodes=1, settings={"accounting": f'host = "127.0.0.1:{port}"\n', 'plugin."accounting/sqlite"': "isolate = true\n"})
        history = History(cluster, "", port)
        cluster.__enter__()
        self.addCleanup(cluster.close)
        history.start()
        jobs = []
        for _ in range(3):
            jobs += [cluster.submit("-o", "/dev/null", "--wrap", "true") for _ in range(3)]
            pid = eventually(lambda: plugin_process(history, "accounting/sqlite"), "its process is there")
            os.kill(pid, signal.SIGKILL)
            for job in jobs:
                cluster.wait_ended(job)
        told = lambda: [row.split("|") for row in cluster.run("sacct", "-n", "-P", "-X", "-a", "-D", "-o", "jobid,state").stdout.splitlines()]
        eventually(lambda: sorted(int(job) for job, state in told() if state == "COMPLETED") == sorted(map(int, jobs)), "every job is told, once", 60)
        self.assertIn("plugin accounting/sqlite: its process died of signal 9 (Killed); it is started again", history.text())
        self.assertTrue(history.alive())


if __name__ == "__main__":
    unittest.main()
