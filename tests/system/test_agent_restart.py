"""What becomes of running jobs when their node's agent dies, restarts, or comes back from a reboot, or never answers."""
import os
import signal
import unittest

from spur_cluster import Cluster, eventually

WAIT_FOR_GO = "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo ended; exit 9"


def go(cluster):
    open(os.path.join(cluster.work, "go"), "w").close()


class AgentRestart(unittest.TestCase):
    def start_job(self, cluster, *options):
        job = cluster.submit(*options, "--wrap", WAIT_FOR_GO)
        eventually(lambda: "begun" in cluster.read(f"slurm-{job}.out"), f"job {job} has begun")
        return job

    def finishes(self, cluster, job):
        record = cluster.wait_ended(job)
        self.assertEqual((record["JobState"], record["ExitCode"], record["Restarts"]), ("FAILED", "9:0", "0"), record)
        self.assertEqual(cluster.read(f"slurm-{job}.out"), "begun\nended\n")

    def test_a_job_survives_kill_9_of_its_agent_and_its_exit_code_arrives(self):
        with Cluster(nodes=1) as cluster:
            job = self.start_job(cluster)
            agent = cluster.agents["n1"]
            agent.kill()
            agent.start()
            eventually(agent.has_joined, "the agent is back")
            self.assertEqual(cluster.state(job), "RUNNING")
            go(cluster)
            self.finishes(cluster, job)

    def test_a_job_that_ends_while_its_agent_is_dead_is_reported_afterwards(self):
        with Cluster(nodes=1) as cluster:
            job = self.start_job(cluster)
            agent = cluster.agents["n1"]
            agent.kill()
            go(cluster)
            eventually(lambda: "ended" in cluster.read(f"slurm-{job}.out"), "the script has ended")
            agent.start()
            self.finishes(cluster, job)

    def test_a_graceful_restart_of_the_agent_keeps_its_job(self):
        with Cluster(nodes=1) as cluster:
            job = self.start_job(cluster)
            agent = cluster.agents["n1"]
            agent.stop()
            agent.start()
            eventually(agent.has_joined, "the agent is back")
            self.assertEqual(cluster.state(job), "RUNNING")
            go(cluster)
            self.finishes(cluster, job)

    def test_a_job_survives_the_death_of_controller_and_agent_together(self):
        with Cluster(nodes=1) as cluster:
            job = self.start_job(cluster)
            agent, controller = cluster.agents["n1"], cluster.controllers[0]
            controller.kill()
            agent.kill()
            go(cluster)
            controller.start()
            agent.start()
            eventually(controller.is_serving, "the controller is back")
            self.finishes(cluster, job)


class Reboot(unittest.TestCase):
    def reboot(self, cluster):
        agent = cluster.agents["n1"]
        agent.kill()
        for step in cluster.step_daemons():
            os.kill(step, signal.SIGKILL)
        agent.boot_id = "another-boot"
        agent.start()
        eventually(agent.has_joined, "the node is back")

    def test_a_job_that_may_be_requeued_runs_again_after_a_reboot(self):
        # As in Slurm, only with 2 does a node that rebooted by surprise take jobs again without being asked to.
        with Cluster(nodes=1, settings={"jobs": "return_to_service = 2"}) as cluster:
            job = cluster.submit("--requeue", "--open-mode=append", "--wrap", "echo begun; [ $SLURM_RESTART_COUNT ] || sleep 600")
            eventually(lambda: "begun" in cluster.read(f"slurm-{job}.out"), "the job has begun")
            self.reboot(cluster)
            record = cluster.wait_ended(job)
            self.assertEqual((record["JobState"], record["Restarts"]), ("COMPLETED", "1"), record)

    def test_a_job_that_may_not_be_requeued_fails_with_its_node(self):
        with Cluster(nodes=1) as cluster:
            job = cluster.submit("--no-requeue", "--wrap", "echo begun; sleep 600")
            eventually(lambda: "begun" in cluster.read(f"slurm-{job}.out"), "the job has begun")
            self.reboot(cluster)
            record = cluster.wait_ended(job)
            self.assertEqual((record["JobState"], record["Restarts"]), ("NODE_FAIL", "0"), record)
            node = cluster.show("node", "n1")
            self.assertIn("DOWN", node["State"])
            self.assertTrue(node["Reason"].startswith("Node unexpectedly rebooted"), node["Reason"])


class SilentAgent(unittest.TestCase):
    def test_jobs_on_other_nodes_run_while_one_agent_never_answers(self):
        with Cluster(nodes=3, settings={"agent": "timeout_secs = 600"}) as cluster:
            silent = cluster.agents["n1"]
            silent.signal(signal.SIGSTOP)
            # One job is sent to the silent node before anyone knows; the others must not wait behind it.
            stuck = cluster.submit("-w", "n1", "--wrap", "true")
            others = [cluster.submit("-w", node, "--wrap", "true") for node in ("n2", "n3") for _ in range(5)]
            for job in others:
                self.assertEqual(cluster.wait_ended(job)["JobState"], "COMPLETED")
            self.assertNotEqual(cluster.state(stuck), "COMPLETED")
            silent.signal(signal.SIGCONT)
            self.assertEqual(cluster.wait_ended(stuck)["JobState"], "COMPLETED")


if __name__ == "__main__":
    unittest.main()
