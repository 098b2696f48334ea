"""Limits of associations and QOS as users meet them: the words squeue shows, and what sacctmgr takes and shows."""
import os
import pwd
import unittest

from shared_case import SharedCluster
from spur_cluster import eventually

ME = pwd.getpwuid(os.geteuid()).pw_name  # who runs the cluster and its jobs


class Limits(SharedCluster):
    nodes, cpus, policies = 3, 4, {}
    settings = {"accounting": 'enforce = ["associations", "limits", "qos"]\n', "scheduler": "fairshare_interval_secs = 1\n",
                "plugins": 'priority = "priority/fairshare"\n'}
    partitions = '[[partitions]]\nname = "small"\nnodes = "n[1-2]"\nmax_nodes = 1\nmax_time = 10\n'

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for words in (["account", "bench"], ["user", ME, "account=bench"], ["qos", "good"]):
            cls.cluster.ok("sacctmgr", "-i", "add", *words)
        cls.cluster.ok("sacctmgr", "-i", "modify", "user", ME, "set", "qos=normal,good", "defaultqos=normal")

    def set(self, entity, name, *settings):
        self.cluster.ok("sacctmgr", "-i", "modify", entity, "where", "name=" + name, "set", *settings)
        undo = [f"{word.split('=')[0]}={'cpu=' if '=cpu=' in word else 'node=' if '=node=' in word else ''}-1" for word in settings]
        self.addCleanup(self.cluster.ok, "sacctmgr", "-i", "modify", entity, "where", "name=" + name, "set", *undo)

    def job(self, *words):
        return self.cluster.submit("-A", "bench", "--mem=10", "-t", "5", *words, "--wrap", "sleep 1000")

    def test_each_limit_has_slurms_word(self):
        for entity, setting, words, reason in (
                ("account", "grptresrunmins=cpu=4", [], "AssocGrpCPURunMinutesLimit"), ("account", "maxtresmins=cpu=4", [], "AssocMaxCpuMinutesPerJobLimit"),
                ("account", "maxtres=cpu=2", ["-n3"], "AssocMaxCpuPerJobLimit"), ("account", "maxtrespernode=cpu=1", ["-N1", "-n2"], "AssocMaxCpuPerNode"),
                ("account", "maxwall=3", [], "AssocMaxWallDurationPerJobLimit"), ("account", "grptres=cpu=2", ["-n3"], "AssocGrpCpuLimit"),
                ("qos", "mintresperjob=cpu=2", ["-n1"], "QOSMinCpuNotSatisfied"), ("qos", "maxtrespu=node=1", ["-N2"], "QOSMaxNodePerUserLimit"),
                ("qos", "maxwall=2", [], "QOSMaxWallDurationPerJobLimit"), ("qos", "grptres=cpu=1", ["-n2"], "QOSGrpCpuLimit")):
            with self.subTest(setting):
                name = "bench" if entity == "account" else "normal"
                key = setting.split("=")[0]
                self.cluster.ok("sacctmgr", "-i", "modify", entity, "where", "name=" + name, "set", setting)
                try:
                    self.becomes(self.job(*words), "%r", reason)
                finally:
                    none = setting.split("=")[1] + "=-1" if setting.count("=") == 2 else "-1"
                    self.cluster.ok("sacctmgr", "-i", "modify", entity, "where", "name=" + name, "set", f"{key}={none}")
                    self.cluster.ok("scancel", "--me")

    def test_why_tells_a_limit_with_its_numbers(self):
        self.set("account", "bench", "grptres=cpu=4")
        self.runs(self.job("-n3"))
        job = self.job("-n2")
        self.becomes(job, "%r", "AssocGrpCpuLimit")
        self.assertIn("The limit AssocGrpCpuLimit keeps it back: GrpTRES of account bench is cpu=4; 3 are in use and it asks for 2.", self.cluster.ok("spur", "why", job))

    def test_limit_factor_widens_and_is_shown(self):
        self.set("account", "bench", "maxtres=cpu=2")
        self.set("qos", "normal", "limitfactor=2")
        self.assertEqual(self.cluster.ok("sacctmgr", "-nP", "show", "qos", "normal", "format=name,limitfactor,usagefactor,usagethreshold"), "normal|2.000000|1.000000|\n")
        self.runs(self.job("-n3"))
        self.becomes(self.job("-n5"), "%r", "AssocMaxCpuPerJobLimit")

    def test_flags_are_taken_shown_and_kept_to(self):
        self.set("qos", "normal", "flags=NoDecay,UsageFactorSafe,PartitionTimeLimit,PartitionMaxNodes")
        self.assertEqual(self.cluster.ok("sacctmgr", "-nP", "show", "qos", "normal", "format=name,flags"), "normal|NoDecay,PartitionMaxNodes,PartitionTimeLimit,UsageFactorSafe\n")
        self.runs(self.cluster.submit("-A", "bench", "-p", "small", "-N2", "--mem=10", "-t", "20", "--wrap", "sleep 1000"))
        self.cluster.ok("sacctmgr", "-i", "modify", "qos", "normal", "set", "flags=-1")
        self.becomes(self.cluster.submit("-A", "bench", "-p", "small", "--mem=10", "-t", "20", "--wrap", "true"), "%r", "PartitionTimeLimit")
        self.becomes(self.cluster.submit("-A", "bench", "-p", "small", "-N2", "--mem=10", "-t", "5", "--wrap", "true"), "%r", "PartitionNodeLimit")
        self.cluster.ok("sacctmgr", "-i", "modify", "qos", "normal", "set", "flags=RequiresReservation")
        self.assertIn("Invalid qos specification", self.refused("sbatch", "-A", "bench", "--wrap", "true"))
        self.assertIn("the QOS flag", self.refused("sacctmgr", "-i", "modify", "qos", "normal", "set", "flags=Bogus"))

    def test_a_threshold_holds_back_who_has_used_too_much(self):
        self.set("qos", "normal", "usagethreshold=1.5", "flags=EnforceUsageThreshold")
        self.becomes(self.job(), "%r", "QOSUsageThreshold")

    def test_jobs_past_their_minutes_are_ended(self):
        self.set("qos", "good", "grptresmins=cpu=0")
        self.becomes(self.job("-q", "good"), "%r", "QOSGrpCPUMinutesLimit")
        self.cluster.ok("sacctmgr", "-i", "modify", "qos", "good", "set", "grptresmins=cpu=-1")
        job = self.runs(self.job("-q", "good", "-n4"))
        eventually(lambda: self.cluster.ok("sshare", "-n", "-o", "rawusage").split()[0] != "0", "usage has been counted")
        self.cluster.ok("sacctmgr", "-i", "modify", "qos", "good", "set", "grptresmins=cpu=0")
        self.ends(job, "TIMEOUT")

    def test_only_some_jobs_get_older(self):
        self.set("account", "bench", "grpjobsaccrue=1")
        self.busy("-A", "bench", "-N3", "--exclusive", "-t", "5")
        waiting = [self.job() for _ in range(2)]
        self.assertNotEqual(self.cluster.job(waiting[0])["AccrueTime"], "Unknown")
        self.assertEqual(self.cluster.job(waiting[1])["AccrueTime"], "Unknown")

    def test_one_command_changes_all_or_nothing(self):
        before = self.cluster.ok("sacctmgr", "-nP", "show", "qos", "format=name,maxjobspu,maxwall")
        for words in (["maxjobspu=2", "maxwall=bogus"], ["maxjobspu=2", "bogus=3"]):
            self.refused("sacctmgr", "-i", "modify", "qos", "where", "name=good", "set", *words)
        self.assertEqual(self.cluster.ok("sacctmgr", "-nP", "show", "qos", "format=name,maxjobspu,maxwall"), before)
        self.runs(self.job("-q", "good"))
        self.cluster.ok("sacctmgr", "-i", "add", "qos", "spare")
        self.refused("sacctmgr", "-i", "delete", "qos", "spare,good")
        self.assertIn("spare", self.cluster.ok("sacctmgr", "-nP", "show", "qos", "format=name"), "good has a job: neither goes")


if __name__ == "__main__":
    unittest.main()
