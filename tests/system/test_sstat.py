"""What steps use, from the kernel to sstat while they run and to the step's row once they are over."""
import os
import sqlite3
import sys
import unittest

from history import History
from spur_cluster import BUILD, Cluster, eventually, free_port

COMPARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "compare")
sys.path.insert(0, COMPARE)
from sstat_workload import Workload  # noqa: E402

HUNGRY = """import os, sys
held = bytearray(int(sys.argv[1]) << 20)
open(sys.argv[2], "w").close()
while not os.path.exists("go"):
    sum(range(1000))
"""


class Sstat(unittest.TestCase):
    def setUp(self):
        port = free_port()
        settings = {"accounting": f'host = "127.0.0.1:{port}"\n', "agent": "sample_interval = 1\nover_memory_kill = true\n"}
        self.cluster = Cluster(nodes=2, settings=settings)
        self.history = History(self.cluster, port=port)
        self.cluster.__enter__()
        self.addCleanup(self.cluster.close)
        self.work = self.cluster.work
        with open(os.path.join(self.work, "hungry.py"), "w") as script:
            script.write(HUNGRY)

    def there(self, name):
        return os.path.exists(os.path.join(self.work, name))

    def step_row(self, job):
        with sqlite3.connect(os.path.join(self.history.state, "accounting.db")) as database:
            return database.execute("SELECT measured_tasks, max_rss_bytes, usage_max, usage_max_task, usage_max_node, usage_total FROM spur_steps "
                                    "WHERE job_id = ? AND step_id = 0 AND end_time IS NOT NULL", (job,)).fetchone()

    def sstat(self, *words):
        return [line.split("|") for line in self.cluster.ok("sstat", "-n", "-P", *words).splitlines()]

    def test_sstat_shows_what_runs_and_the_row_keeps_it(self):
        self.history.start()
        script = 'srun -N2 -n2 --mem=0 sh -c \'exec python3 hungry.py $((30 + 40 * SLURM_PROCID)) up.$SLURM_PROCID\''
        job = self.cluster.submit("-N2", "-n2", "-D", self.work, "-o", "/dev/null", "--wrap", script)
        eventually(lambda: self.there("up.0") and self.there("up.1"), "both tasks hold their memory")
        fields = "jobid,ntasks,maxrss,maxrssnode,maxrsstask,averss,mincpu,nodelist"
        step, tasks, most, node, task, average, _, nodes = self.sstat("-j", job, "-o", fields, "--noconvert")[0]
        self.assertEqual((step, tasks, task), (f"{job}.0", "2", "1"))
        self.assertGreaterEqual(int(most), 70 << 20)
        self.assertTrue(50 << 20 <= int(average) < int(most), average)
        self.assertEqual(len(self.sstat("-i", "-j", f"{job}.0")), 2, "a line a node")
        self.assertEqual([row[0] for row in self.sstat("-a", "-j", job, "-o", "jobid")], [f"{job}.batch", f"{job}.0"])
        self.assertEqual(self.sstat(f"{job}.batch", "-o", "jobid,ntasks"), [[f"{job}.batch", "1"]])
        self.assertEqual(self.cluster.ok("spur", "usage", "-n", "-j", job, "-o", "jobid").strip(), f"{job}.0", "spur's own word for it")

        for words, said in (((), "You didn't give me any jobs to stat."), (("-j", "x"), "Bad job/step specified: x"), (("-j", job, "-o", "x"), 'Invalid field requested: "x"')):
            done = self.cluster.run("sstat", *words)
            self.assertEqual((done.returncode, said in done.stderr), (1, True), done.stderr)
        for words, said in (("9999", "couldn't get steps for job 9999"), (f"{job}.7", f"StepId={job}.7 not found running.")):
            done = self.cluster.run("sstat", "-j", words)
            self.assertEqual((done.returncode, said in done.stderr), (0, True), done.stderr)

        open(os.path.join(self.work, "go"), "w").close()
        self.cluster.wait_ended(job)
        self.assertIn(f"No steps running for job {job}", self.cluster.run("sstat", "-j", job).stderr)
        row = eventually(lambda: self.step_row(job), "the step's row is there")
        self.assertEqual(row[0], 2)
        self.assertGreaterEqual(row[1], 70 << 20)
        self.assertIn('"mem":1', row[3])
        self.assertIn(f"mem={node}", row[4])
        self.assertIn('"disk_read":', row[5])

    def test_a_step_over_its_memory_is_out_of_memory_where_nothing_but_measuring_enforces_it(self):
        job = self.cluster.submit("-D", self.work, "-o", "out", "--mem=32", "--wrap", "exec python3 hungry.py 80 up")
        self.cluster.wait_ended(job)
        self.assertEqual(self.cluster.state(job), "OUT_OF_MEMORY")
        with open(os.path.join(self.work, "out")) as out:
            self.assertIn("exceeded memory limit", out.read())


    def test_what_it_prints_is_what_slurm_prints(self):
        workload = Workload(os.path.join(BUILD, "slurm-bin"), self.cluster.environment(), self.work)
        answers = workload.answers(workload.start())
        with open(os.path.join(COMPARE, "expected", "sstat.txt")) as file:
            expected = file.read()
        for one, other in zip(answers.split("$ "), expected.split("$ "), strict=True):
            with self.subTest(one.splitlines()[0] if one else "nothing before the first line"):
                self.assertEqual(one, other)


if __name__ == "__main__":
    unittest.main()
