"""Usage, reports and what is kept beside jobs, through the real daemons and both databases. The reports of a real Slurm 22.05 over the same history are in
tests/t13_sreport/data/slurm.txt; sreport here must print the same."""
import os
import subprocess
import unittest

from history import History, Postgres
from spur_cluster import Cluster, eventually, free_port

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "t13_sreport", "data")

# Where Slurm has a line for the wckey "*" that nobody asked for, or leaves the order of equals open.
UNORDERED = ("UserUtilizationByAccount", "topusage", "user top")


def reports():
    """(command line, what Slurm printed) of each."""
    with open(os.path.join(DATA, "slurm.txt")) as file:
        for part in file.read().split("$ ")[1:]:
            command, _, text = part.partition("\n")
            yield command, text


class Base:
    """The same for both databases."""

    def setUp(self):
        port = free_port()
        self.cluster = Cluster(nodes=2, settings={"": "", "accounting": f'host = "127.0.0.1:{port}"\n'})
        self.history = History(self.cluster, self.database(), port)
        self.cluster.__enter__()
        self.addCleanup(self.cluster.close)

    def spurdbd(self, *words):
        done = subprocess.run([*self.history.words(), *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def import_slurm(self):
        for name in ("association", "sacct", "event", "reservation"):
            self.assertIn("rows from", self.spurdbd("--import", os.path.join(DATA, f"{name}.txt")))

    def rows(self, *words):
        return [line.split("|") for line in self.cluster.ok("sacctmgr", "-n", "-P", "show", *words).splitlines()]

    def test_reports_are_those_of_slurm_over_the_same_history(self):
        self.import_slurm()
        self.history.start()
        wrong = []
        for command, expected in reports():
            words = command.split()[1:]
            done = self.cluster.run("sreport", "-M", "bench", *words)
            printed = done.stdout + done.stderr
            want, have = expected.splitlines(), printed.splitlines()
            if "wckeyutil" in command.lower() or "bywckey" in command.lower() and command.split()[1] == "cluster":
                want = [line for line in want if "*" not in line]
            if any(word in command for word in UNORDERED):
                want, have = sorted(want), sorted(have)
            if "group" in command.split():
                want, have = ([line[:36] + line[53:] for line in lines] for lines in (want, have))
            if want != have:
                wrong.append("\n".join(["$ " + command, "Slurm:", *want, "here:", *have]))
        self.assertEqual(wrong, [])

    def test_usage_is_the_same_imported_twice_and_in_another_order(self):
        self.import_slurm()
        self.history.start()
        once = self.cluster.ok("sreport", "-M", "bench", "-P", "cluster", "AccountUtilizationByUser", "start=2026-11-16", "end=2026-11-18", "-t", "seconds")
        self.history.stop()
        for name in ("reservation", "event", "sacct", "association"):
            self.spurdbd("--import", os.path.join(DATA, f"{name}.txt"))
        self.history.start()
        self.assertEqual(self.cluster.ok("sreport", "-M", "bench", "-P", "cluster", "AccountUtilizationByUser", "start=2026-11-16", "end=2026-11-18", "-t", "seconds"), once)

    def test_jobs_nodes_and_accounts_of_a_running_cluster_are_there(self):
        cluster = self.cluster
        self.history.start()
        cluster.ok("sacctmgr", "-i", "add", "account", "physics", "Description=phys")
        job = cluster.submit("--wckey", "alpha", "--wrap", "true")
        cluster.wait_ended(job)
        cluster.ok("scontrol", "update", "nodename=n1", "state=down", "reason=disk broke")
        eventually(lambda: ["test", "n1", "DOWN", "disk broke"] in [row[:2] + row[4:6] for row in self.rows("event")], "the node's event is told")
        cluster.ok("scontrol", "update", "nodename=n1", "state=resume")
        eventually(lambda: any(row[1] == "n1" and row[3] != "Unknown" for row in self.rows("event")), "its end is told")
        self.assertTrue(any(row[1] == "" and row[5] == "Cluster Registered TRES" for row in self.rows("event")))
        actions = [(row[1], row[3]) for row in self.rows("transaction")]
        self.assertIn(("Add Accounts", "name='physics'"), actions)
        eventually(lambda: ["alpha"] in [row[:1] for row in self.rows("wckey")], "the wckey is told")
        self.assertEqual([row[0] for row in self.rows("cluster")], ["test"])
        report = ("sreport", "-n", "-P", "cluster", "utilization", "start=now-1hour", "end=now+1hour", "-t", "seconds", "format=cluster,allocated,reported")
        eventually(lambda: cluster.ok(*report).startswith("test|"), "usage is rolled up")
        self.assertGreater(int(cluster.ok(*report).strip().split("|")[2]), 0)
        self.assertIn("No runaway jobs", cluster.ok("sacctmgr", "show", "runawayjobs"))
        self.assertIn("Account has no users", cluster.ok("sacctmgr", "show", "problem"))
        page = os.path.join(cluster.dir, "usage.html")
        cluster.ok("spur", "report", "-S", "now-2hours", "--html", page)
        with open(page) as file:
            self.assertIn("Usage of", file.read())
        self.assertIn("By account", cluster.ok("spur", "report"))

    def test_what_was_archived_is_purged_and_can_be_loaded_again(self):
        self.import_slurm()
        self.history.start()
        archive = os.path.join(self.cluster.dir, "archive")
        os.makedirs(archive)
        sacct = ("sacct", "-M", "bench", "-a", "-n", "-P", "-S", "2026-11-01", "-o", "jobid,state,start,end")
        report = ("sreport", "-M", "bench", "-P", "cluster", "utilization", "start=2026-11-16", "end=2026-11-18", "-t", "seconds")
        before, used = self.cluster.ok(*sacct), self.cluster.ok(*report)
        self.assertEqual(len(before.splitlines()), 14)
        said = self.cluster.ok("sacctmgr", "-i", "archive", "dump", f"directory={archive}", "cluster=bench", "purgejobafter=1hours", "purgestepafter=1hours")
        self.assertIn("rows archived and purged", said)
        self.assertEqual(self.cluster.ok(*sacct), "")
        self.assertEqual(self.cluster.ok(*report), used, "usage stays")
        for name in sorted(os.listdir(archive)):
            self.cluster.ok("sacctmgr", "-i", "archive", "load", f"file={os.path.join(archive, name)}")
        self.assertEqual(self.cluster.ok(*sacct), before)

    def test_what_is_too_old_is_purged_by_itself(self):
        self.import_slurm()
        archive = os.path.join(self.cluster.dir, "archive")
        os.makedirs(archive)
        config = self.cluster.controllers[0].config
        with open(config) as file:
            text = file.read()
        with open(config, "w") as file:
            file.write(text.replace("[accounting]\n", f'[accounting]\narchive_dir = "{archive}"\npurge_job_after = "1hours"\npurge_step_after = "1hours"\n'))
        self.history.start()
        eventually(lambda: self.cluster.ok("sacct", "-M", "bench", "-a", "-n", "-S", "2026-11-01") == "", "old jobs are gone")
        self.assertEqual(sorted(name.split("_")[1] for name in os.listdir(archive)), ["job", "step"])
        self.assertIn("bench|71|", self.cluster.ok("sreport", "-M", "bench", "-P", "cluster", "utilization", "start=2026-11-16", "end=2026-11-18", "-t", "hours"))

    def test_several_clusters_share_one_database(self):
        self.spurdbd("--import", os.path.join(DATA, "dump.cfg"))
        self.import_slurm()
        self.history.start()
        eventually(lambda: sorted(row[0] for row in self.rows("cluster")) == ["bench", "test"], "both are known")
        used = self.cluster.ok("sreport", "-a", "-n", "-P", "cluster", "utilization", "start=2026-11-16", "end=now+1hour", "format=cluster")
        self.assertIn("bench", used.split(), "the other cluster's usage is reported here")

    def test_accounts_are_dumped_and_loaded(self):
        cluster = self.cluster
        cluster.ok("sacctmgr", "-i", "add", "account", "physics", "Description=phys", "fairshare=3")
        cluster.ok("sacctmgr", "-i", "add", "account", "optics", "parent=physics", "maxjobs=7")
        cluster.ok("sacctmgr", "-i", "add", "user", "games", "account=optics")
        path = os.path.join(cluster.dir, "accounts.cfg")
        cluster.ok("sacctmgr", "dump", "test", f"file={path}")
        before = cluster.ok("sacctmgr", "-n", "-P", "show", "association", "format=account,user,parentname,share,maxjobs")
        cluster.ok("sacctmgr", "-i", "delete", "user", "games")
        cluster.ok("sacctmgr", "-i", "delete", "account", "optics")
        cluster.ok("sacctmgr", "-i", "load", path)
        self.assertEqual(cluster.ok("sacctmgr", "-n", "-P", "show", "association", "format=account,user,parentname,share,maxjobs"), before)


class SqliteReports(Base, unittest.TestCase):
    def database(self):
        return ""


class PostgresReports(Base, unittest.TestCase):
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

    def test_everything_moves_from_sqlite_with_one_command(self):
        self.history.database = ""
        self.import_slurm()
        self.history.database = self.postgres.url
        self.assertIn("rows from", self.spurdbd("--copy-from", os.path.join(self.history.state, "accounting.db")))
        self.history.start()
        self.assertEqual(len(self.cluster.ok("sacct", "-M", "bench", "-a", "-n", "-P", "-S", "2026-11-01").splitlines()), 14)
        self.assertIn("bench|71|28|12|1416|9|1536",
                      self.cluster.ok("sreport", "-M", "bench", "-P", "cluster", "utilization", "start=2026-11-16", "end=2026-11-18", "-t", "hours"))


if __name__ == "__main__":
    unittest.main()
