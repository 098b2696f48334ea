"""Jobs of a partition with a higher tier push out those of a lower one, in every way a site may choose."""
import time
import unittest

from shared_case import SharedCluster
from spur_cluster import eventually


def partition(name, tier, **more):
    lines = "".join(f"{key} = {value!r}\n".replace("'", '"') for key, value in more.items())
    return f'[[partitions]]\nname = "{name}"\nnodes = "n[1-2]"\npriority_tier = {tier}\n{lines}'


class Preemption(SharedCluster):
    nodes, policies = 2, {}
    partitions = (partition("urgent", 10, preempt_mode="OFF") + partition("requeue", 1, preempt_mode="REQUEUE") +
                  partition("cancel", 1, preempt_mode="CANCEL") + partition("aside", 1, preempt_mode="SUSPEND") +
                  partition("grace", 1, preempt_mode="CANCEL", grace_time="1:00"))

    def urgent(self, *words):
        return self.runs(self.cluster.submit("-p", "urgent", "-N2", "--exclusive", "-t", "5", *words))

    def test_requeued_jobs_wait_and_run_again(self):
        victims = [self.busy("-p", "requeue", "--exclusive") for _ in range(2)]
        urgent = self.urgent("--wrap", self.gate("requeue"))
        for job in victims:
            self.assertEqual(self.field(job, "%T"), "PENDING")
            self.assertEqual(self.cluster.job(job)["Restarts"], "1")
        self.open_gate("requeue")
        self.ends(urgent)
        for job in victims:
            self.runs(job)

    def test_cancelled_jobs_end_as_preempted(self):
        victim, kept = self.busy("-p", "cancel", "-w", "n1", "--exclusive"), self.busy("-p", "cancel", "-w", "n2", "--exclusive")
        job = self.runs(self.cluster.submit("-p", "urgent", "-w", "n1", "-t", "5", "--wrap", "sleep 1000"))
        self.ends(victim, "PREEMPTED")
        self.assertEqual(self.cluster.state(kept), "RUNNING")
        self.cluster.ok("scancel", job)

    def test_jobs_that_are_put_aside_go_on_when_the_urgent_one_has_ended(self):
        victim = self.busy("-p", "aside", "-N2", "-c2", "--mem=100")
        urgent = self.runs(self.cluster.submit("-p", "urgent", "-N2", "-c2", "--mem=100", "-t", "5", "--wrap", self.gate("aside")))
        self.assertEqual(self.field(victim, "%T"), "SUSPENDED")
        self.open_gate("aside")
        self.ends(urgent)
        self.runs(victim)

    def test_a_time_of_grace_lets_a_job_leave_by_itself(self):
        victim = self.cluster.submit("-p", "grace", "-N2", "--exclusive", "--wrap",
                                     f"trap 'echo warned > {self.cluster.work}/warned; exit 0' TERM; echo ready > {self.cluster.work}/ready; while :; do sleep 0.05; done")
        eventually(lambda: self.cluster.read("ready"), "the job has set its trap")
        self.urgent("--wrap", "sleep 1000")
        self.assertEqual(self.cluster.read("warned"), "warned\n")
        self.ends(victim, "COMPLETED")

    def test_a_qos_pushes_out_those_it_may_preempt(self):
        self.cluster.ok("sacctmgr", "-i", "add", "qos", "patient")
        self.cluster.ok("sacctmgr", "-i", "modify", "qos", "patient", "set", "preemptmode=requeue")
        self.cluster.ok("sacctmgr", "-i", "add", "qos", "first", "preempt=patient")
        victim = self.busy("-q", "patient", "-N2", "--exclusive")
        self.runs(self.cluster.submit("-q", "first", "-N2", "--exclusive", "-t", "5", "--wrap", "sleep 1000"))
        self.assertEqual(self.field(victim, "%T"), "PENDING")

    def test_equals_do_not_push_each_other_out(self):
        first = self.busy("-p", "cancel", "-N2", "--exclusive")
        second = self.cluster.submit("-p", "requeue", "-N2", "--exclusive", "--wrap", "true")
        self.becomes(second, "%r", "Resources", "Priority")
        self.assertEqual(self.cluster.state(first), "RUNNING")

    def test_a_whole_node_that_is_put_aside_serves_the_urgent_job(self):
        victim = self.busy("-p", "aside", "-w", "n1", "--exclusive", "--mem=100")
        urgent = self.runs(self.cluster.submit("-p", "urgent", "-w", "n1", "--exclusive", "--mem=100", "-t", "5", "--wrap", self.gate("whole")))
        self.assertEqual((self.field(victim, "%T"), self.field(urgent, "%N")), ("SUSPENDED", "n1"))
        self.open_gate("whole")
        self.ends(urgent)
        self.runs(victim)

    def test_a_het_job_pushes_out_for_all_its_components_at_once(self):
        victims = [self.busy("-p", "cancel", "-w", node, "--exclusive") for node in ("n1", "n2")]
        leader = self.cluster.submit("-p", "urgent", "-N1", "--exclusive", "-t", "5", ":", "-p", "urgent", "-N1", "--exclusive", "-t", "5", "--wrap", "sleep 1000")
        for victim in victims:
            self.ends(victim, "PREEMPTED")
        eventually(lambda: self.queue("%T") == ["RUNNING", "RUNNING"], "both components run")
        self.cluster.ok("scancel", leader)


class ByQosAlone(SharedCluster):
    nodes, policies = 2, {}
    settings = {"scheduler": 'preempt_type = "qos"\npreempt_mode = "REQUEUE"\npreempt_exempt_time = "3s"\n'}
    partitions = partition("high", 10) + partition("low", 1)

    def test_tiers_push_nobody_out_and_a_qos_does_when_its_victims_have_had_their_time(self):
        self.cluster.ok("sacctmgr", "-i", "add", "qos", "first", "preempt=normal")
        victim = self.busy("-p", "low", "-N2", "--exclusive")
        begun = time.monotonic()
        tier = self.cluster.submit("-p", "high", "-N2", "--exclusive", "-t", "5", "--wrap", "true")
        urgent = self.cluster.submit("-p", "low", "-q", "first", "-N2", "--exclusive", "-t", "5", "--wrap", "sleep 1000")
        self.runs(urgent)
        self.assertTrue(2 < time.monotonic() - begun < 20, "at its time, and not at the next round")
        self.assertEqual((self.field(victim, "%T"), self.field(tier, "%T")), ("PENDING", "PENDING"))


if __name__ == "__main__":
    unittest.main()
