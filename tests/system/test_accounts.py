"""Accounts, shares, priorities and limits through the real daemons: made with sacctmgr, seen with sprio and sshare, felt by jobs.

Jobs run as two of the system's own users, so this needs root.
"""
import os
import pwd
import unittest

from spur_cluster import Cluster, eventually

ME = pwd.getpwuid(os.geteuid()).pw_name  # who runs the cluster and its jobs

POLICY = "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)"
SETTINGS = {
    "plugins": 'priority = "priority/fairshare"\nselect = "select/linear"\n',  # a job takes a whole node
    "scheduler": "fairshare_interval_secs = 1\n",
    "accounting": 'enforce = ["limits", "qos"]\n',
}


@unittest.skipUnless(os.geteuid() == 0, "needs root: jobs run as other users")
class Accounts(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(nodes=2, settings=SETTINGS)
        self.cluster.__enter__()
        self.addCleanup(self.cluster.close)
        self.manage("add", "account", "phys", "fairshare=1")
        self.manage("add", "account", "chem", "fairshare=1")
        self.manage("add", "user", "daemon", "account=phys")
        self.manage("add", "user", "bin", "account=chem")

    def manage(self, *words):
        return self.cluster.ok("sacctmgr", "-i", *words)

    def submit(self, user, *words):
        return self.cluster.submit(f"--uid={user}", "-o", "/dev/null", *words, "--wrap", "sleep 300")

    def shares(self):
        lines = self.cluster.ok("sshare", "-a", "-n", "-P", "-U", "-o", "user,rawusage,fairshare").splitlines()
        return {user: (int(usage), float(factor)) for user, usage, factor in (line.split("|") for line in lines)}

    def reason(self, job):
        return self.cluster.ok("squeue", "-h", "-j", job, "-o", "%r").strip()

    def wait_reason(self, job, reason):
        eventually(lambda: self.reason(job) == reason, f"job {job} waits for {reason}; it waits for {self.reason(job)}")

    def test_what_was_used_decides_who_comes_first(self):
        cluster = self.cluster
        first = self.submit("daemon")
        cluster.wait_state(first, "RUNNING")
        eventually(lambda: self.shares()["daemon"][0] > 0, "the running job is charged")
        self.assertEqual(self.shares()["bin"], (0, 1.0))
        self.assertEqual(self.shares()["daemon"][1], 0.5)
        cluster.ok("scancel", first)
        cluster.wait_ended(first)

        cluster.ok("scontrol", "update", "nodename=n[1-2]", "state=drain", "reason=test")
        greedy, modest = self.submit("daemon"), self.submit("bin")

        def priorities():
            lines = cluster.ok("sprio", "-h", "-o", "%i %Y %F %f").splitlines()
            return {int(line.split()[0]): line.split()[1:] for line in lines}

        eventually(lambda: len(priorities()) == 2, "sprio shows both")
        found = priorities()
        self.assertEqual(found[greedy][1:], ["5000", "0.5000000"])
        self.assertEqual(found[modest][1:], ["10000", "1.0000000"])
        self.assertGreater(int(found[modest][0]), int(found[greedy][0]))
        weights = cluster.ok("sprio", "-w").splitlines()
        self.assertEqual(weights[1].split(), ["Weights", "1", "1000", "1000", "10000", "1000", "10000"])

        cluster.ok("scontrol", "update", "nodename=n1", "state=resume")
        cluster.wait_state(modest, "RUNNING")
        self.assertEqual(cluster.state(greedy), "PENDING")

    def test_limits_hold_jobs_back_with_slurms_reasons(self):
        cluster = self.cluster
        self.manage("modify", "qos", "normal", "set", "MaxJobsPU=1")
        runs, waits = self.submit("daemon"), self.submit("daemon")
        cluster.wait_state(runs, "RUNNING")
        self.wait_reason(waits, "QOSMaxJobsPerUserLimit")
        self.manage("modify", "account", "phys", "set", "GrpTRES=cpu=2")
        self.manage("modify", "qos", "normal", "set", "MaxJobsPU=-1")
        self.wait_reason(waits, "AssocGrpCpuLimit")
        self.manage("modify", "account", "phys", "set", "GrpTRES=cpu=-1")
        cluster.wait_state(waits, "RUNNING")

        self.manage("modify", "user", "bin", "set", "MaxSubmitJobs=1", "MaxWall=10")
        held = self.submit("bin", "-t", "20")
        self.wait_reason(held, "AssocMaxWallDurationPerJobLimit")
        done = cluster.run("sbatch", "--uid=bin", "-o", "/dev/null", "--wrap", "true")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.splitlines(), ["sbatch: error: AssocMaxSubmitJobLimit",
                                                    f"sbatch: error: Batch job submission failed: {POLICY}"])
        cluster.ok("scancel", held)
        self.manage("modify", "user", "bin", "set", "MaxSubmitJobs=-1")
        short = cluster.submit("--uid=bin", "-H", "-o", "/dev/null", "--wrap", "true")
        self.assertEqual(cluster.job(short)["TimeLimit"], "00:10:00")

        self.manage("add", "qos", "small", "MaxTRES=cpu=1", "flags=DenyOnLimit")
        refused = cluster.run("sbatch", "--uid=bin", "--qos=small", "-n", "1", "-o", "/dev/null", "--wrap", "true")
        self.assertIn("Invalid qos specification", refused.stderr)
        self.manage("modify", "user", "bin", "set", "qos+=small")
        refused = cluster.run("sbatch", "--uid=bin", "--qos=small", "-n", "2", "-o", "/dev/null", "--wrap", "true")
        self.assertEqual(refused.stderr.splitlines()[0], "sbatch: error: QOSMaxCpuPerJobLimit")
        stranger = cluster.run("sbatch", "--uid=sys", "-o", "/dev/null", "--wrap", "true")
        self.assertIn("Invalid account or account/partition combination specified", stranger.stderr)

    def test_sacctmgr_speaks_as_slurms_does(self):
        cluster = self.cluster
        self.assertEqual(self.manage("add", "account", "lasers", "parent=phys", "fairshare=10"),
                         " Adding Account(s)\n  lasers\n Settings\n  Description     = Account Name\n"
                         "  Organization    = Parent/Account Name\n Associations\n  A = lasers     C = test      \n Settings\n"
                         "  Fairshare     = 10\n  Parent        = phys\n")
        again = cluster.run("sacctmgr", "-i", "add", "account", "lasers")
        self.assertEqual((again.stdout, again.returncode), (" Nothing new added.\n", 1))
        self.assertEqual(self.manage("add", "user", "bin", "account=lasers", "maxjobs=3", "qos=normal"),
                         " Associations =\n  U = bin       A = lasers     C = test      \n Non Default Settings\n"
                         "  MaxJobs       = 3\n  QOS           = normal\n")
        self.assertEqual(self.manage("modify", "user", "bin", "where", "account=lasers", "set", "maxjobs=-1", "fairshare=parent"),
                         " Modified user associations...\n  C = test       A = lasers               U = bin      \n")
        listing = cluster.ok("sacctmgr", "-n", "-P", "show", "assoc", "tree", "format=account,user,share")
        self.assertEqual(listing, "root||1\n chem||1\n  chem|bin|1\n phys||1\n  phys|daemon|1\n  lasers||10\n   lasers|bin|parent\n")
        users = cluster.ok("sacctmgr", "show", "user").splitlines()
        self.assertEqual(users[0], "      User   Def Acct     Admin ")
        self.assertEqual(users[2], "       bin       chem      None ")
        undecided = cluster.run("sacctmgr", "add", "qos", "x", input="n\n")
        self.assertEqual(undecided.stdout.splitlines()[-3:], ["Would you like to commit changes? (You have 30 seconds to decide)",
                                                              "(N/y): ", " Changes Discarded"])
        self.assertEqual(cluster.ok("sacctmgr", "-n", "-P", "show", "qos", "format=name"), "normal\n")
        stray = cluster.run("sacctmgr", "-i", "add", "qos", "x", "users=bin")
        self.assertEqual((stray.stderr, stray.returncode), (" Unknown option: users=bin\n", 1))
        wrong = cluster.run("sacctmgr", "-i", "modify", "user", "bin", "set", "maxjobs=abc")
        self.assertEqual((wrong.stderr, wrong.returncode),
                         ("sacctmgr: error: Invalid value for MaxJobs (abc)\n Unknown option: maxjobs=abc\n"
                          " Use keyword 'where' to modify condition\n", 1))
        self.assertEqual(self.manage("delete", "account", "lasers"), " Deleting accounts...\n  lasers\n")
        self.assertEqual(self.manage("delete", "user", "bin"), " Deleting users...\n  bin\n")
        gone = cluster.run("sacctmgr", "-i", "delete", "user", "bin")
        self.assertEqual((gone.stdout, gone.returncode), (" Nothing deleted\n", 1))

    def test_accounts_and_usage_outlive_the_controller(self):
        cluster = self.cluster
        job = self.submit("daemon")
        cluster.wait_state(job, "RUNNING")
        eventually(lambda: self.shares()["daemon"][0] > 0, "the running job is charged")
        before = cluster.ok("sacctmgr", "-P", "show", "assoc")
        cluster.controllers[0].kill()
        cluster.controllers[0].start()
        eventually(cluster.controllers[0].is_serving, "spurctld serves again")
        self.assertEqual(cluster.ok("sacctmgr", "-P", "show", "assoc"), before)
        eventually(lambda: self.shares()["daemon"][0] > 0, "usage is there")


class Billing(unittest.TestCase):
    def test_gpus_cost_what_the_partition_says(self):
        settings = dict(SETTINGS, **{"plugins": 'priority = "priority/fairshare"\ngpu = ["gpu/sim"]\n', 'plugin."gpu/sim"': 'devices = ["a100:2"]\n'})
        costly = '[[partitions]]\nname = "costly"\nnodes = "n1"\ntres_billing_weights = "CPU=1.0,Mem=0.25G,GRES/gpu=8.0"\n'
        with Cluster(nodes=1, cpus=4, settings=settings, node_lines='gres = ["gpu:a100:2"]\n', partitions=costly) as cluster:
            cluster.ok("sacctmgr", "-i", "add", "account", "phys")
            cluster.ok("sacctmgr", "-i", "add", "user", ME, "account=phys")
            self.assertIn("TRESBillingWeights=CPU=1.0,Mem=0.25G,GRES/gpu=8.0", cluster.ok("scontrol", "show", "partition", "costly"))
            job = cluster.submit("-A", "phys", "-p", "costly", "-n2", "--mem=2G", "--gres=gpu:1", "-t", "5", "--wrap", "sleep 300")
            eventually(lambda: cluster.state(job) == "RUNNING", "it runs")
            self.assertIn("billing=10", cluster.job(job)["TRES"], "2 CPUs, half a point of memory, 8 for the GPU")
            eventually(lambda: int(cluster.ok("sshare", "-n", "-P", "-A", "phys", "-o", "rawusage").split()[0]) >= 10, "usage is counted by it")


if __name__ == "__main__":
    unittest.main()
