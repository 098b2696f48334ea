"""What becomes of running jobs when their node's agent dies, restarts, or comes back from a reboot, or never answers."""
import os
import signal
import subprocess
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


class StepsOutliveTheirAgent(unittest.TestCase):
    """srun's stream goes through the agent: it comes back to the one that is started next, and nothing of it is missing."""

    def srun(self, cluster, *words, **how):
        step = cluster.popen("srun", *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
        for stream in filter(None, (step.stdin, step.stdout, step.stderr)):
            self.addCleanup(stream.close)
        self.addCleanup(step.kill)
        return step

    def restart(self, agent, gracefully=False):
        agent.stop() if gracefully else agent.kill()
        agent.start()

    def ends_with(self, step, code, out):
        said, complaints = step.communicate(timeout=60)
        self.assertEqual((step.returncode, said), (code, out), complaints)

    def test_a_step_goes_on_and_its_end_is_told(self):
        for gracefully in (False, True):
            with self.subTest(gracefully=gracefully), Cluster(nodes=1) as cluster:
                step = self.srun(cluster, "sh", "-c", WAIT_FOR_GO)
                self.assertEqual(step.stdout.readline(), "begun\n")
                self.restart(cluster.agents["n1"], gracefully)
                go(cluster)
                self.ends_with(step, 9, "ended\n")

    def test_a_step_that_ends_while_its_agent_is_dead_is_heard_of_afterwards(self):
        with Cluster(nodes=1) as cluster:
            step = self.srun(cluster, "sh", "-c", WAIT_FOR_GO)
            self.assertEqual(step.stdout.readline(), "begun\n")
            agent = cluster.agents["n1"]
            agent.kill()
            step_tasks = cluster.step_daemons()
            go(cluster)
            eventually(lambda: not any(children_of(pid) for pid in step_tasks), "the task has ended")
            agent.start()
            self.ends_with(step, 9, "ended\n")

    def test_no_byte_of_output_is_lost_or_doubled(self):
        lines = 2_000_000
        with Cluster(nodes=1) as cluster:
            step = self.srun(cluster, "seq", lines)
            said = [step.stdout.readline()]  # the pipe is full now, and so is everything behind it
            for _ in range(3):
                self.restart(cluster.agents["n1"])
                said += [step.stdout.readline() for _ in range(lines // 5)]
            rest = step.stdout.read()
            self.assertEqual(step.wait(timeout=60), 0, step.stderr.read())
            self.assertEqual("".join(said) + rest, "".join(f"{i}\n" for i in range(1, lines + 1)))

    def test_no_byte_of_input_is_lost_or_doubled(self):
        with Cluster(nodes=1) as cluster:
            step = self.srun(cluster, "cat", stdin=subprocess.PIPE)
            said = ""
            for i in range(4):
                step.stdin.write(f"{i}\n")
                step.stdin.flush()
                said += step.stdout.readline()
                self.restart(cluster.agents["n1"])
            self.ends_with(step, 0, "")  # closes its input
            self.assertEqual(said, "0\n1\n2\n3\n")

    def test_a_batch_job_survives_with_its_steps(self):
        with Cluster(nodes=2) as cluster:
            job = cluster.submit("-N2", "--wrap", f"srun -l sh -c '{WAIT_FOR_GO}'")
            eventually(lambda: cluster.read(f"slurm-{job}.out").count("begun") == 2, "both tasks have begun")
            self.restart(cluster.agents["n1"])
            self.restart(cluster.agents["n2"], gracefully=True)
            go(cluster)
            record = cluster.wait_ended(job)
            said = cluster.read(f"slurm-{job}.out")
            self.assertEqual((record["JobState"], record["ExitCode"]), ("FAILED", "9:0"), said)
            self.assertEqual(sorted(said.splitlines()[:2]), ["0: begun", "1: begun"], said)
            self.assertEqual(said.count("ended"), 2, said)

    def cluster(self, controllers):
        cluster = Cluster(nodes=2, controllers=controllers)
        key = os.path.join(cluster.dir, "raft.key")
        with open(key, "w") as file:
            file.write(os.urandom(32).hex())
        os.chmod(key, 0o600)
        cluster.settings['plugin."state/raft"'] = f'key_file = "{key}"'
        return cluster

    def test_a_rolling_upgrade_ends_no_step(self):
        """Controllers first, one after the other, then the agents: whoever signed the step's credential, it stays good."""
        for controllers in (1, 3):
            with self.subTest(controllers=controllers), self.cluster(controllers) as cluster:
                step = self.srun(cluster, "-N2", "-l", "sh", "-c", WAIT_FOR_GO)
                self.assertEqual(sorted(step.stdout.readline() for _ in range(2)), ["0: begun\n", "1: begun\n"])
                for controller in cluster.controllers:
                    controller.stop()
                    controller.start()
                    eventually(controller.is_serving, "the controller is back")
                eventually(lambda: cluster.run("squeue", "-h").returncode == 0, "somebody leads")
                for agent in cluster.agents.values():
                    self.restart(agent, gracefully=True)
                    eventually(agent.has_joined, "the agent is back")
                go(cluster)
                said, complaints = step.communicate(timeout=60)
                self.assertEqual((step.returncode, sorted(said.splitlines())), (9, ["0: ended", "1: ended"]), complaints)

    def test_a_job_can_be_cancelled_before_its_srun_is_back(self):
        with Cluster(nodes=1) as cluster:
            job = cluster.submit("--wrap", "srun sh -c 'echo begun; sleep 600'")
            eventually(lambda: "begun" in cluster.read(f"slurm-{job}.out"), "the step has begun")
            cluster.agents["n1"].kill()
            cluster.agents["n1"].start()
            cluster.ok("scancel", job)
            self.assertEqual(cluster.wait_ended(job)["JobState"], "CANCELLED")


def children_of(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return file.read().split()
    except FileNotFoundError:
        return []


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

    def test_a_job_whose_step_daemon_is_killed_is_requeued_or_fails_as_with_its_node(self):
        with Cluster(nodes=1) as cluster:
            stays = cluster.submit("--no-requeue", "--wrap", "echo begun; sleep 600")
            again = cluster.submit("--requeue", "--open-mode=append", "--wrap", "echo begun; [ $SLURM_RESTART_COUNT ] || sleep 600")
            for job in (stays, again):
                eventually(lambda: "begun" in cluster.read(f"slurm-{job}.out"), "the job has begun")
            for step in cluster.step_daemons():
                os.kill(step, signal.SIGKILL)
            record = cluster.wait_ended(stays)
            self.assertEqual((record["JobState"], record["ExitCode"]), ("NODE_FAIL", "0:1"), record)
            eventually(lambda: cluster.show("job", again)["Restarts"] == "1", "the other goes back into the queue")
            cluster.ok("scancel", again)

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


class AskedToReboot(unittest.TestCase):
    """scontrol reboot: the node runs the configured program once it has no jobs, and serves again with another boot id."""

    def cluster(self, script):
        """One node whose reboot program is `script`; $marks is a file that it can leave a line in."""
        cluster = Cluster(nodes=1)
        self.marks = os.path.join(cluster.dir, "marks")
        program = os.path.join(cluster.dir, "reboot")
        with open(program, "w") as file:
            file.write(f"#!/bin/sh\nmarks={self.marks}\n{script}\n")
        os.chmod(program, 0o755)
        cluster.settings["agent"] = f'reboot_program = "{program}"'
        self.addCleanup(cluster.__exit__, None, None, None)
        return cluster.__enter__()

    def issued(self):
        return os.path.exists(self.marks) and len(open(self.marks).read().splitlines())

    def node(self, cluster):
        return cluster.show("node", "n1")

    def test_a_node_reboots_once_its_job_is_over_and_serves_again(self):
        cluster = self.cluster("echo $SLURMD_NODENAME >> $marks")
        job = cluster.submit("--wrap", WAIT_FOR_GO)
        eventually(lambda: "begun" in cluster.read(f"slurm-{job}.out"), "the job has begun")
        cluster.ok("scontrol", "reboot", "ASAP", "reason=kernel", "n1")
        self.assertIn("REBOOT_REQUESTED", self.node(cluster)["State"])
        self.assertFalse(self.issued(), "a job is left on it")
        go(cluster)
        eventually(self.issued, "the program runs")
        node = self.node(cluster)
        self.assertIn("REBOOT_ISSUED", node["State"])
        self.assertTrue(node["Reason"].startswith("kernel : reboot issued"), node["Reason"])
        agent = cluster.agents["n1"]
        agent.kill()
        agent.boot_id = "another-boot"
        agent.start()
        eventually(lambda: self.node(cluster)["State"] == "IDLE", "the node serves again")
        cluster.wait_ended(cluster.submit("--wrap", "true"))

    def test_a_node_that_comes_back_without_having_booted_is_told_again(self):
        cluster = self.cluster("echo $SLURMD_NODENAME >> $marks")
        cluster.ok("scontrol", "reboot", "nextstate=down", "n1")
        eventually(self.issued, "the program runs")
        agent = cluster.agents["n1"]
        agent.kill()
        agent.start()
        eventually(lambda: self.issued() == 2, "the program runs again")
        agent.kill()
        agent.boot_id = "another-boot"
        agent.start()
        eventually(lambda: self.node(cluster)["State"] == "DOWN", "it stays down, as it was to")
        self.assertIn("reboot complete", self.node(cluster)["Reason"])

    def test_a_program_that_fails_leaves_the_node_down_with_the_reason(self):
        cluster = self.cluster("exit 3")
        cluster.ok("scontrol", "reboot", "n1")
        eventually(lambda: self.node(cluster)["State"] == "DOWN", "the node is down")
        self.assertRegex(self.node(cluster)["Reason"], "reboot failed: .*/reboot exited with 3")

    def test_without_a_program_it_is_refused(self):
        with Cluster(nodes=1) as cluster:
            refused = cluster.run("scontrol", "reboot", "n1")
            self.assertEqual(refused.returncode, 1)
            self.assertIn("[agent] reboot_program", refused.stderr)
            self.assertEqual(self.node(cluster)["State"], "IDLE")


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
