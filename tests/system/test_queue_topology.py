"""Switches from the configuration: who sees them, and jobs that want few of them."""
import time
import unittest

from shared_case import SharedCluster

SWITCHES = "".join(f'[[switches]]\nname = "s{i}"\nnodes = "n[{2 * i + 1}-{2 * i + 2}]"\n' for i in range(3)) + '[[switches]]\nname = "top"\nswitches = "s[0-2]"\n'


class Topology(SharedCluster):
    nodes, partitions, policies = 6, SWITCHES, {}

    def test_scontrol_shows_switches_as_slurm_does(self):
        show = lambda *words: self.cluster.ok("scontrol", "show", "topology", *words).splitlines()
        leaves = [f"SwitchName=s{i} Level=0 LinkSpeed=1 Nodes=n[{2 * i + 1}-{2 * i + 2}]" for i in range(3)]
        top = "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[1-6] Switches=s[0-2]"
        self.assertEqual(show(), [*leaves, top])
        self.assertEqual(show("s1"), leaves[1:2])
        self.assertEqual(show("n3"), [leaves[1], top])
        done = self.cluster.run("scontrol", "show", "topology", "nope")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", "scontrol: error: Topology information contains no switch or node named nope\n"))

    def test_jobs_see_their_place_in_the_network(self):
        out = self.cluster.ok("srun", "-N2", "-w", "n[2-3]", "-l", "sh", "-c", "echo $SLURM_TOPOLOGY_ADDR $SLURM_TOPOLOGY_ADDR_PATTERN")
        self.assertEqual(sorted(out.splitlines()), ["0: top.s0.n2 switch.switch.node", "1: top.s1.n3 switch.switch.node"])

    def test_one_switch_is_found_though_others_have_room(self):
        self.busy("-w", "n1", "--exclusive")
        job = self.busy("-N2", "--switches=1", "--exclusive")
        self.assertIn(self.field(job, "%N"), ("n[3-4]", "n[5-6]"))
        self.assertEqual(self.cluster.job(job)["Switches"], "1@00:05:00")

    def test_a_job_waits_for_one_switch_while_nodes_of_two_are_free(self):
        blockers = [self.busy("-w", node, "--exclusive") for node in ("n1", "n3", "n5")]
        job = self.cluster.submit("-N2", "--switches=1", "--exclusive", "-t", "5", "--wrap", "sleep 1000")
        self.becomes(job, "%r", "Resources")
        self.cluster.ok("scancel", blockers[1])
        self.runs(job)
        self.assertEqual(self.field(job, "%N"), "n[3-4]")

    def test_patience_ends_at_its_time_and_not_at_the_next_round(self):
        for node in ("n1", "n3", "n5"):
            self.busy("-w", node, "--exclusive")
        begun = time.monotonic()
        job = self.cluster.submit("-N2", "--switches=1@0:03", "--exclusive", "-t", "5", "--wrap", "sleep 1000")
        self.becomes(job, "%r", "Resources")
        self.runs(job)
        self.assertEqual(self.field(job, "%N"), "n[2,4]")
        self.assertTrue(2 < time.monotonic() - begun < 20)

    def test_more_nodes_than_one_switch_has_are_given_when_patience_ends(self):
        job = self.cluster.submit("-N3", "--switches=1@0:02", "--exclusive", "-t", "5", "--wrap", "sleep 1000")
        self.becomes(job, "%r", "Resources")
        self.runs(job)
        two = self.busy("-N3", "--switches=2", "--exclusive")
        self.assertEqual(len({(int(name[1:]) - 1) // 2 for name in self.cluster.ok("scontrol", "show", "hostnames", self.field(two, "%N")).split()}), 2)


if __name__ == "__main__":
    unittest.main()
