"""Why jobs wait, in Slurm's exact words."""
import os
import pwd
import unittest

from shared_case import SharedCluster

ME = pwd.getpwuid(os.geteuid()).pw_name  # who runs the cluster and its jobs


class Reasons(SharedCluster):
    settings = {"licenses": "matlab = 1\n"}
    partitions = '[[partitions]]\nname = "small"\nnodes = "n[1-2]"\nmax_nodes = 1\nmax_time = "10:00"\n'

    def waits(self, job, reason, shown=None):
        self.becomes(job, "%r|%R", f"{reason}|({shown or reason})")

    def test_resources_and_priority(self):
        self.busy("-N4", "--exclusive")
        first, second = self.cluster.submit("-N4", "--wrap", "true"), self.cluster.submit("--wrap", "true")
        self.waits(first, "Resources")
        self.waits(second, "Priority")

    def test_partitions_that_are_down_inactive_or_too_small(self):
        busy = self.cluster.submit("-p", "small", "-w", "n1", "--wrap", "sleep 1000")
        self.runs(busy)
        self.cluster.ok("scontrol", "update", "partition=small", "state=down")
        job = self.cluster.submit("-p", "small", "--wrap", "true")
        self.waits(job, "PartitionDown")
        self.cluster.ok("scontrol", "update", "partition=small", "state=inactive")
        self.waits(job, "PartitionInactive")
        self.assertIn("Required partition not available (inactive or drain)", self.refused("sbatch", "-p", "small", "--wrap", "true"))
        self.cluster.ok("scontrol", "update", "partition=small", "state=up")
        self.ends(job)
        large, long = self.cluster.submit("-p", "small", "-N2", "--wrap", "true"), self.cluster.submit("-p", "small", "-t", "11", "--wrap", "true")
        self.waits(large, "PartitionNodeLimit")
        self.waits(long, "PartitionTimeLimit")

    def test_licenses(self):
        self.busy("-L", "matlab:1")
        job = self.cluster.submit("-L", "matlab", "--wrap", "true")
        self.waits(job, "Licenses")
        self.assertIn("Invalid license specification", self.refused("sbatch", "-L", "fluent", "--wrap", "true"))

    def test_nodes_that_are_not_there(self):
        self.cluster.ok("scontrol", "update", "nodename=n3", "state=drain", "reason=test")
        try:
            named = self.cluster.submit("-w", "n3", "--wrap", "true")
            self.waits(named, "ReqNodeNotAvail, UnavailableNodes:n3")
            self.assertEqual(self.cluster.job(named)["Reason"], "ReqNodeNotAvail,_UnavailableNodes:n3")
            self.cluster.ok("scancel", named)
            many = self.cluster.submit("-N4", "--wrap", "true")
            self.waits(many, "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions")
        finally:
            self.cluster.ok("scontrol", "update", "nodename=n3", "state=resume")
        self.ends(many)
        self.waits(self.cluster.submit("-N9", "--wrap", "true"), "PartitionConfig")


class RequiredNodes(SharedCluster):
    def test_a_node_that_leaves_the_configuration_is_waited_for(self):
        job = self.cluster.submit("-H", "-w", "n4", "--wrap", "hostname")
        config = self.cluster.controllers[0].config
        with open(config) as file:
            whole = file.read()
        try:
            with open(config, "w") as file:
                file.write(whole.replace("n[1-4]", "n[1-3]"))
            self.cluster.ok("scontrol", "reconfigure")
            self.cluster.ok("scontrol", "release", job)
            self.becomes(job, "%r", "BadConstraints, MissingNodes:n4")
            self.assertIn("It requires n4, which the configuration no longer has", self.cluster.ok("spur", "why", job))
        finally:
            with open(config, "w") as file:
                file.write(whole)
            self.cluster.ok("scontrol", "reconfigure")
        self.ends(job)
        self.assertEqual(self.cluster.job(job)["NodeList"], "n4")


class Limits(SharedCluster):
    settings = {"accounting": 'enforce = ["limits"]\n'}

    def test_a_limit_is_the_reason_by_its_own_name_until_it_no_longer_applies(self):
        self.cluster.ok("sacctmgr", "-i", "add", "qos", "narrow")
        self.cluster.ok("sacctmgr", "-i", "modify", "qos", "narrow", "set", "maxjobsperuser=1")
        self.cluster.ok("sacctmgr", "-i", "add", "account", "lab")
        self.cluster.ok("sacctmgr", "-i", "add", "user", ME, "account=lab")
        first = self.busy("-A", "lab", "-q", "narrow")
        second = self.cluster.submit("-A", "lab", "-q", "narrow", "--wrap", "true")
        self.becomes(second, "%R", "(QOSMaxJobsPerUserLimit)")
        self.assertIn("The limit QOSMaxJobsPerUserLimit keeps it back: MaxJobsPerUser of QOS narrow is 1; 1 is in use and it asks for 1.",
                      self.cluster.ok("spur", "why", second))
        self.cluster.ok("scancel", first)
        self.ends(second)


if __name__ == "__main__":
    unittest.main()
