"""History through the real daemons: what jobs did is in the database, with a row for each run, none missing and none twice, whoever was killed meanwhile."""
import os
import sqlite3
import subprocess
import unittest

from history import History, Postgres
from spur_cluster import Cluster, eventually, free_port


class Base:
    """The same for both databases."""

    def setUp(self):
        port = free_port()
        self.cluster = Cluster(nodes=2, settings={"accounting": f'host = "127.0.0.1:{port}"\n', **self.more_settings()})
        self.history = History(self.cluster, self.database(), port)
        self.cluster.__enter__()
        self.addCleanup(self.cluster.close)

    def more_settings(self):
        return {}

    def sacct(self, *words, fields="jobid,jobname,state,exitcode", **how):
        lines = self.cluster.ok("sacct", "-n", "-P", "-o", fields, *words, **how).splitlines()
        return [tuple(line.split("|")) for line in lines]

    def wait_told(self, job, state, *words):
        eventually(lambda: any(row[2].startswith(state) for row in self.sacct("-X", "-j", job, *words)), f"sacct says that job {job} is {state}")

    def run_all(self):
        cluster = self.cluster
        good = cluster.submit("-J", "good", "--wrap", "srun -J inner true")
        bad = cluster.submit("-J", "b'ad \U0001F680", "--wrap", "exit 3")
        array = cluster.submit("-J", "many", "--array=1-3", "--wrap", "true")
        gone = cluster.submit("-J", "gone", "-H", "--wrap", "true")
        cluster.ok("scancel", gone)
        for job in (good, bad, array, gone):
            cluster.wait_ended(job)
        return good, bad, array, gone

    def test_what_jobs_did_is_kept(self):
        self.history.start()
        good, bad, array, gone = self.run_all()
        self.wait_told(good, "COMPLETED")
        self.wait_told(bad, "FAILED")
        self.wait_told(gone, "CANCELLED")
        eventually(lambda: len([row for row in self.sacct("-X", "-j", array) if row[2] == "COMPLETED"]) == 3, "the array's tasks are told")
        self.assertEqual(self.sacct("-X", "-j", bad), [(str(bad), "b'ad \U0001F680", "FAILED", "3:0")])
        eventually(lambda: len(self.sacct("-j", good)) >= 3, "steps are told")
        steps = {row[0]: row for row in self.sacct("-j", good)}
        self.assertEqual(steps[f"{good}.batch"][1:], ("batch", "COMPLETED", "0:0"))
        self.assertEqual(steps[f"{good}.0"][1:], ("inner", "COMPLETED", "0:0"))
        self.assertEqual(self.sacct("-j", f"{good}.0")[-1][0], f"{good}.0")
        self.assertEqual({row[0] for row in self.sacct("-X", "-s", "F", "-S", "now-1hour", "-E", "now+1hour")}, {str(bad)})
        self.assertEqual({row[0] for row in self.sacct("-X", "-j", f"{array}_2")}, {f"{array}_2"})
        self.assertEqual(self.sacct("-X", "-S", "now-2days", "-E", "now-1day"), [])
        table = self.cluster.ok("sacct", "-X", "-j", bad, "-o", "jobid,jobname%4,state").splitlines()
        self.assertEqual(table, ["JobID        JobN      State ", "------------ ---- ---------- ", f"{bad:<12} b'a+     FAILED "])

    def test_a_requeued_job_has_a_row_for_each_run(self):
        self.history.start()
        job = self.cluster.submit("--requeue", "--wrap", "sleep 300")
        self.cluster.wait_state(job, "RUNNING")
        self.cluster.ok("scontrol", "requeue", job)
        eventually(lambda: self.cluster.job(job).get("Restarts") == "1" and self.cluster.state(job) == "RUNNING", "it runs again", 90)
        self.cluster.ok("scancel", job)
        self.cluster.wait_ended(job)
        self.wait_told(job, "CANCELLED")
        rows = self.sacct("-X", "-D", "-j", job)
        self.assertEqual([row[2].split()[0] for row in rows], ["REQUEUED", "CANCELLED"])
        self.assertEqual(len(self.sacct("-X", "-j", job)), 1)

    def test_nobody_waits_for_a_database_that_is_not_there(self):
        jobs = [self.cluster.submit("-o", "/dev/null", "--wrap", "true") for _ in range(5)]
        for job in jobs:
            self.cluster.wait_ended(job)
        said = self.cluster.run("sacct", "-j", jobs[0])
        self.assertNotEqual(said.returncode, 0)
        self.history.start()
        for job in jobs:
            self.wait_told(job, "COMPLETED")

    def test_nothing_is_lost_and_nothing_double_when_daemons_are_killed(self):
        cluster, jobs = self.cluster, []
        self.history.start()
        for round in range(self.rounds):
            jobs += [cluster.submit("-o", "/dev/null", "-J", f"r{round}", "--wrap", "true") for _ in range(4)]
            victim = (self.history, cluster.controllers[0], self.server())[round % 3]
            if victim:
                victim.kill()
            jobs += [cluster.submit("-o", "/dev/null", "--wrap", "true") for _ in range(2)] if victim is not cluster.controllers[0] else []
            if victim:
                victim.start()
            eventually(cluster.controllers[0].is_serving, "the controller serves")
        for job in jobs:
            cluster.wait_ended(job, 90)
        eventually(lambda: cluster.run("sacct", "-X", "-a").returncode == 0, "the database is asked again", 60)
        eventually(lambda: len({row[0] for row in self.sacct("-X", "-a") if row[2] == "COMPLETED"}) == len(jobs), "every job is told", 60)
        rows = [row[0] for row in self.sacct("-X", "-a", "-D")]
        self.assertEqual(sorted(map(int, rows)), sorted(jobs), "a row for each job, and no more")
        self.assertLessEqual(self.count("spurdb_stored"), 1 + self.rounds // 3, "no gaps but where another lead began: it numbers from the present on")

    rounds = 6


class SqliteHistory(Base, unittest.TestCase):
    def database(self):
        return ""

    def server(self):
        return None

    def count(self, table):
        with sqlite3.connect(os.path.join(self.history.state, "accounting.db")) as database:
            return database.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]

    def test_a_file_that_is_not_ours_is_left_alone(self):
        path = os.path.join(self.cluster.dir, "other.db")
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE recipes (name TEXT)")
        with open(path, "rb") as file:
            before = file.read()
        self.history.database = path
        done = subprocess.run(self.history.words(), capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("not Spur's", done.stderr)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), before)

    def test_a_schema_of_another_release_is_refused_with_what_to_do(self):
        self.history.start()
        self.history.stop()
        with sqlite3.connect(os.path.join(self.history.state, "accounting.db")) as database:
            database.execute("INSERT INTO spurdb_schema VALUES (1000, 0)")
        done = subprocess.run([*self.history.words(), "--migrate"], capture_output=True, text=True)
        self.assertIn("version 1000 of the schema", done.stderr)
        self.assertIn("install the release", done.stderr)


class PostgresHistory(Base, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.postgres = Postgres()
        cls.postgres.__enter__()
        cls.addClassCleanup(cls.postgres.__exit__)

    def setUp(self):
        self.postgres.sql("DROP DATABASE IF EXISTS spur WITH (FORCE)", "postgres")
        self.postgres.sql("CREATE DATABASE spur", "postgres")
        super().setUp()

    def database(self):
        return self.postgres.url

    def server(self):
        return self.postgres

    def count(self, table):
        return int(self.postgres.sql(f"SELECT COUNT(*) FROM {table}"))

    def test_sites_have_views_for_their_own_questions(self):
        self.history.start()
        good, *_ = self.run_all()
        self.wait_told(good, "COMPLETED")
        self.assertEqual(self.postgres.sql(f"SELECT state, end_time >= start_time, (tres_allocated->>'cpu')::int > 0 FROM spur_jobs WHERE job_id = {good}"), "COMPLETED|t|t")
        self.assertIn("spurdb_job_20", self.postgres.sql("SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r'"))


if __name__ == "__main__":
    unittest.main()
