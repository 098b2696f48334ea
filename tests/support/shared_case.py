"""A test case whose tests share one cluster; each uses jobs of its own, and what it leaves behind is cancelled."""
import unittest

from spur_cluster import Cluster, eventually


class SharedCluster(unittest.TestCase):
    nodes, cpus = 4, 2
    settings, partitions, node_lines = {}, "", ""
    policies = {"select": "linear"}  # whole nodes: what is free can be counted on the fingers

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(nodes=cls.nodes, cpus=cls.cpus, settings=cls.settings, partitions=cls.partitions, policies=cls.policies,
                              node_lines=cls.node_lines).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            self.cluster.keep = True

    def tearDown(self):
        self.cluster.run("scancel", "--me")
        eventually(lambda: not self.queue("%i"), "the queue is empty")

    # ---- what tests say often -----------------------------------------------------------------------------------------

    def queue(self, fields, *words):
        """squeue's lines with these fields, without a header, in the order of their ids."""
        return self.cluster.ok("squeue", "-h", "-S", "i", "-o", fields, *words).splitlines()

    def field(self, job, fields):
        """One field of one job; empty where the job is gone."""
        done = self.cluster.run("squeue", "-h", "-t", "all", "-j", job, "-o", fields)
        return done.stdout.strip()

    def becomes(self, job, fields, *wanted):
        """Waits until squeue shows one of `wanted` for the job."""
        eventually(lambda: self.field(job, fields) in wanted, f"{fields} of job {job} is {' or '.join(wanted)}; it is {self.field(job, fields)!r}")

    def runs(self, job):
        self.becomes(job, "%T", "RUNNING")
        return job

    def ends(self, job, state="COMPLETED"):
        record = self.cluster.wait_ended(job)
        self.assertEqual(record["JobState"], state, record)
        return record

    def busy(self, *words):
        """A job that runs until it is cancelled."""
        return self.runs(self.cluster.submit(*words, "--wrap", "sleep 1000"))

    def refused(self, name, *words):
        """The complaint of a command that must fail."""
        done = self.cluster.run(name, *words)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stderr.strip()

    def gate(self, name):
        """A shell command that waits for open_gate(name), and then goes on."""
        return f"while [ ! -e {self.cluster.work}/{name} ]; do sleep 0.05; done"

    def open_gate(self, name):
        with open(f"{self.cluster.work}/{name}", "w"):
            pass
