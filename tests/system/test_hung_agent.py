"""An agent that never answers, stopped but not dead: jobs on other nodes neither wait for it nor notice it."""
import signal
import unittest

from spur_cluster import Cluster, eventually


class HungAgent(unittest.TestCase):
    def test_jobs_on_other_nodes_start_and_end_while_one_agent_hangs(self):
        with Cluster(nodes=3) as cluster:
            cluster.agents["n1"].signal(signal.SIGSTOP)
            stuck = cluster.submit("-w", "n1", "-o", "/dev/null", "--wrap", "true")
            cluster.wait_state(stuck, "RUNNING")
            others = [cluster.submit("-x", "n1", "-o", "/dev/null", "--wrap", "true") for _ in range(20)]
            for job in others:
                self.assertEqual(cluster.wait_ended(job)["JobState"], "COMPLETED")
            self.assertEqual(cluster.ok("srun", "-w", "n2", "echo", "hello"), "hello\n")
            self.assertEqual(cluster.state(stuck), "RUNNING", "nobody knows better")
            cluster.ok("scancel", str(stuck))  # it cannot end yet, and holds nobody up
            self.assertEqual(cluster.wait_ended(cluster.submit("-w", "n3", "-o", "/dev/null", "--wrap", "true"))["JobState"], "COMPLETED")
            cluster.agents["n1"].signal(signal.SIGCONT)
            self.assertEqual(cluster.wait_ended(stuck)["JobState"], "CANCELLED")
            again = cluster.submit("-w", "n1", "-o", "/dev/null", "--wrap", "true")
            self.assertEqual(cluster.wait_ended(again)["JobState"], "COMPLETED", "once it goes on, its node works again")

    def test_an_agent_that_stays_silent_is_marked_and_its_return_mends_it(self):
        with Cluster(nodes=2) as cluster:
            cluster.agents["n1"].signal(signal.SIGSTOP)
            eventually(lambda: "*" in cluster.ok("sinfo", "-h", "-n", "n1", "-o", "%t"), "the node does not respond")
            self.assertEqual(cluster.wait_ended(cluster.submit("-o", "/dev/null", "--wrap", "true"))["JobState"], "COMPLETED")
            cluster.agents["n1"].signal(signal.SIGCONT)
            eventually(lambda: cluster.ok("sinfo", "-h", "-n", "n1", "-o", "%t").strip() == "idle", "it is back")


if __name__ == "__main__":
    unittest.main()
