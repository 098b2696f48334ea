"""Three controllers: the leader is killed, a follower is cut off, the leader is cut off, all with submits running.

In three network namespaces, where the cable is pulled; that takes root. Without it, at three ports of the loopback device,
and instead of being cut off a controller dies. $SPUR_RAFT_ROUNDS (5) says how often, $SPUR_RAFT_SEED repeats a run.
"""
import os
import random
import signal
import subprocess
import threading
import time
import unittest

from spur_cluster import Cluster, eventually

ROUNDS = int(os.environ.get("SPUR_RAFT_ROUNDS", "5"))
PAUSE_LIMIT = float(os.environ.get("SPUR_RAFT_PAUSE", "5"))  # seconds until writes are possible again


class Deaths:
    """Without privileges nobody can be cut off; a controller that is dead says nothing either."""

    def cut(self, controller):
        controller.kill()

    def heal(self, controller):
        controller.start()


class Cables:
    """Three namespaces around a hub, where agents and commands live. The addresses exist in these namespaces only."""

    def __init__(self, cluster):
        self.names = [f"spur{os.getpid()}-{end}" for end in ("hub", "c1", "c2", "c3")]
        self.hub = self.names[0]
        subnet = f"10.203.{os.getpid() % 256}"
        for name in self.names:
            self.ip("netns", "add", name)
            self.ip("-n", name, "link", "set", "lo", "up")
        self.ip("-n", self.hub, "link", "add", "bridge", "type", "bridge")
        self.ip("-n", self.hub, "addr", "add", f"{subnet}.1/24", "dev", "bridge")
        self.ip("-n", self.hub, "link", "set", "bridge", "up")
        for number, controller in enumerate(cluster.controllers, 1):
            name = self.names[number]
            self.ip("-n", self.hub, "link", "add", f"port{number}", "type", "veth", "peer", "name", "eth0", "netns", name)
            self.ip("-n", self.hub, "link", "set", f"port{number}", "master", "bridge", "up")
            self.ip("-n", name, "addr", "add", f"{subnet}.{number + 1}/24", "dev", "eth0")
            self.ip("-n", name, "link", "set", "eth0", "up")
            controller.host, controller.port = f"{subnet}.{number + 1}", 6817
            controller.wrapper = ["ip", "netns", "exec", name]
        cluster.wrapper, cluster.host = ["ip", "netns", "exec", self.hub], f"{subnet}.1"

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    def cut(self, controller):
        self.ip("-n", self.hub, "link", "set", f"port{controller.number}", "down")

    def heal(self, controller):
        self.ip("-n", self.hub, "link", "set", f"port{controller.number}", "up")

    def remove(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


class Submitter(threading.Thread):
    """Submits one job after the other, as a user would, and notes what it was told and when."""

    def __init__(self, cluster, name):
        super().__init__()
        self.cluster, self.name, self.told, self.failures, self.over = cluster, name, [], [], threading.Event()

    def run(self):
        number = 0
        while not self.over.is_set():
            number += 1
            began = time.monotonic()
            done = self.cluster.run("sbatch", "--parsable", "-J", f"{self.name}.{number}", "-o", "/dev/null", "--open-mode=append",
                                    "--wrap", "echo $SLURM_JOB_ID >> ran.log", patience=60)
            if done.returncode == 0:
                self.told.append((int(done.stdout), began, time.monotonic()))
            else:
                self.failures.append(done.stderr.strip())
            self.over.wait(0.05)


class ThreeControllers(unittest.TestCase):
    def play(self, cluster, network):
        seed = int(os.environ.get("SPUR_RAFT_SEED") or random.randrange(1 << 32))
        print(f"seed {seed}, {ROUNDS} rounds", flush=True)
        chance = random.Random(seed)
        leader = eventually(lambda: self.leader(cluster), "somebody leads")
        running = cluster.submit("-w", "n1", "--wrap", "echo begun; while [ ! -e go ]; do sleep 0.1; done; exit 4")
        eventually(lambda: "begun" in cluster.read(f"slurm-{running}.out"), "a job runs through it all")
        clients = [Submitter(cluster, f"client{i}") for i in range(2)]
        for client in clients:
            client.start()
        pauses = []
        try:
            for number in range(ROUNDS):
                what = ("kill the leader", "cut a follower off", "cut the leader off")[number % 3]
                leader = eventually(lambda: self.leader(cluster), "somebody leads")
                victim = leader
                if what == "cut a follower off":
                    victim = chance.choice([c for c in cluster.controllers if c is not leader])
                since = time.monotonic()
                victim.kill() if what == "kill the leader" else network.cut(victim)
                pauses.append(self.until_a_write(clients, since))
                print(f"round {number + 1}: {what} (controller {victim.number}): next write after {pauses[-1]:.2f} s", flush=True)
                victim.start() if what == "kill the leader" else network.heal(victim)
                self.until_all_agree(cluster)
                told = [len(client.told) for client in clients]
                eventually(lambda: all(len(c.told) >= t + 3 for c, t in zip(clients, told)), "submits go on")
        finally:
            for client in clients:
                client.over.set()
            for client in clients:
                client.join()
        self.check(cluster, clients, running)
        self.assertLess(max(pauses), PAUSE_LIMIT, f"writes were not possible in time: {pauses}")

    def leader(self, cluster):
        leaders = [c for c in cluster.controllers if c.leads()]
        return leaders[0] if len(leaders) == 1 else None

    def until_all_agree(self, cluster):
        eventually(lambda: self.leader(cluster) and all("this controller" in c.text() for c in cluster.controllers), "one leads, the others follow")

    def until_a_write(self, clients, since):
        """Seconds from `since` to the first answer to a submit that began after it."""
        def first():
            return [answered for client in clients for _, began, answered in client.told[-20:] if began > since]
        return min(eventually(first, "a submit is acknowledged", patience=40)) - since

    def check(self, cluster, clients, running):
        told = [job for client in clients for job, _, _ in client.told]
        print(f"{len(told)} submits acknowledged, {sum(len(c.failures) for c in clients)} refused or unknown", flush=True)
        self.assertEqual(len(told), len(set(told)), "an id was given out twice")
        eventually(lambda: not cluster.ok("squeue", "-h", "-t", "pending,running,completing", "-o", "%A").split()[1:], "all but one have ended", patience=60)
        listed = cluster.ok("squeue", "-h", "-t", "all", "-o", "%A").split()
        self.assertEqual(len(listed), len(set(listed)), "a job is listed twice")
        self.assertEqual(set(map(str, told)) - set(listed), set(), "acknowledged jobs are lost")
        ran = cluster.read("ran.log").split()
        self.assertEqual(len(ran), len(set(ran)), "a job ran twice")
        self.assertEqual(set(map(str, told)) - set(ran), set(), "acknowledged jobs never ran")
        self.assertEqual(cluster.state(running), "RUNNING")
        open(os.path.join(cluster.work, "go"), "w").close()
        record = cluster.wait_ended(running)
        self.assertEqual((record["ExitCode"], record["Restarts"]), ("4:0", "0"), record)

    def cluster(self):
        cluster = Cluster(nodes=2, controllers=3)
        key = os.path.join(cluster.dir, "raft.key")
        with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(os.urandom(32).hex())
        cluster.settings['plugin."state/raft"'] = f'key_file = "{key}"'
        return cluster

    def test_a_leader_that_hangs_is_left_by_commands_and_agents_and_no_job_is_lost(self):
        with self.cluster() as cluster:
            hung = eventually(lambda: self.leader(cluster), "somebody leads")
            # The hanging one comes first in every list: nobody is spared it.
            cluster.controllers.sort(key=lambda controller: controller is not hung)
            running = cluster.submit("-w", "n1", "--wrap", "echo begun; while [ ! -e go ]; do sleep 0.1; done; exit 4")
            eventually(lambda: "begun" in cluster.read(f"slurm-{running}.out"), "a job runs through it all")
            hung.signal(signal.SIGSTOP)
            others = [controller for controller in cluster.controllers if controller is not hung]
            eventually(lambda: any(controller.leads() for controller in others), "another leads")
            after = cluster.submit("-w", "n2", "--wrap", "true")
            self.assertEqual(cluster.wait_ended(after)["JobState"], "COMPLETED")
            self.assertEqual(cluster.run("srun", "-w", "n2", "echo", "hello").stdout, "hello\n")
            open(os.path.join(cluster.work, "go"), "w").close()
            record = cluster.wait_ended(running)
            self.assertEqual((record["ExitCode"], record["Restarts"]), ("4:0", "0"), record)
            hung.signal(signal.SIGCONT)
            # It woke up in the belief that it leads, with a state from before; nobody is told of that state.
            self.assertLessEqual({str(running), str(after)}, self.listed_at(cluster, hung))
            eventually(lambda: not hung.leads(), "it notices that it no longer leads")

    def test_the_ends_that_nodes_have_reported_outlive_the_leader(self):
        with self.cluster() as cluster:
            leader = eventually(lambda: self.leader(cluster), "somebody leads")
            eventually(lambda: "version 3 of the state is in force" in leader.text(), "the ends of steps are counted")
            task = "[ $SLURM_PROCID = 0 ] && touch first || while [ ! -e go ]; do sleep 0.1; done; exit $SLURM_PROCID"
            script = cluster.script(f"#!/bin/bash\nsrun -Q -N2 -n2 sh -c '{task}' 2>/dev/null; echo ended $?\n"
                                    "squeue -hs -j $SLURM_JOB_ID -o %i\nsrun -N2 -n2 --exact echo next\n")
            job = cluster.submit("-N2", "-n2", "-o", "steps.txt", script)
            steps = os.path.join(cluster.agents["n1"].state, "jobs", f"job{job:05}.1")
            eventually(lambda: os.path.exists(os.path.join(cluster.work, "first")), "the task on n1 has run")
            eventually(lambda: not any(name.startswith("0.") for name in os.listdir(steps)), "its end is in the log, and acknowledged")
            leader.kill()
            eventually(lambda: self.leader(cluster), "another leads")
            open(os.path.join(cluster.work, "go"), "w").close()
            self.assertEqual(cluster.wait_ended(job)["JobState"], "COMPLETED")
            self.assertEqual(cluster.read("steps.txt"), f"ended 1\n{job}.batch\nnext\nnext\n")

    def test_a_listing_at_any_controller_shows_what_another_has_acknowledged(self):
        with self.cluster() as cluster:
            eventually(lambda: self.leader(cluster), "somebody leads")
            for number in range(ROUNDS):
                job = cluster.submit("--hold", "--wrap", "true")
                for controller in cluster.controllers:
                    self.assertIn(str(job), self.listed_at(cluster, controller))
                cluster.ok("scancel", job, env={"SPUR_CONTROLLER_ADDR": cluster.controllers[number % 3].address})
                for controller in cluster.controllers:
                    self.assertNotIn(str(job), self.listed_at(cluster, controller, states="pending"))

    def test_without_a_majority_listings_are_still_answered(self):
        with self.cluster() as cluster:
            leader = eventually(lambda: self.leader(cluster), "somebody leads")
            job = cluster.submit("--hold", "--wrap", "true")
            left = next(controller for controller in cluster.controllers if controller is not leader)
            self.assertIn(str(job), self.listed_at(cluster, left))
            for controller in cluster.controllers:
                if controller is not left:
                    controller.kill()
            self.assertIn(str(job), self.listed_at(cluster, left))
            listing = cluster.run("squeue", "-h", "-o", "%A")
            self.assertEqual(listing.stdout.split(), [str(job)])
            self.assertRegex(listing.stderr, f"squeue: the answer may be out of date: {left.address} has heard from no leader of the controllers for [0-9]+ s\n")
            # A change waits for a majority, and says so; when there is one again it is made, and the nodes come back soon.
            with cluster.popen("sbatch", "--parsable", "--wrap", "true") as waiting:
                line = waiting.stderr.readline()
                self.assertRegex(line, "^sbatch: still waiting, for up to [0-9]+ s more: .")
                leader.start()
                eventually(lambda: any(controller.leads() for controller in cluster.controllers), "there is a leader again")
                since = time.monotonic()
                out, rest = waiting.communicate(timeout=60)
                self.assertEqual((waiting.returncode, rest), (0, ""), out)
            for name in cluster.agents:
                eventually(lambda: "NOT_RESPONDING" not in cluster.node_state(name) and cluster.node_state(name).startswith("IDLE"), f"{name} is back")
            print(f"all nodes are back {time.monotonic() - since:.2f} s after a leader was elected", flush=True)
            eventually(lambda: cluster.state(int(out)) == "COMPLETED", "the job ran")

    def test_a_new_configuration_reaches_all_and_no_leader_with_an_older_file_brings_that_back(self):
        with self.cluster() as cluster:
            leader = eventually(lambda: self.leader(cluster), "somebody leads")
            late = next(controller for controller in cluster.controllers if controller is not leader)
            eventually(lambda: "version 3 of the state is in force" in leader.text(), "all understand what the leader may write")
            cluster.partitions = '[[partitions]]\nname = "extra"\nnodes = "n1"\n'
            for controller in cluster.controllers:
                if controller is not late:  # its file is forgotten
                    cluster.write_config(controller)
            cluster.ok("scontrol", "reconfigure")
            self.assertEqual(cluster.show("partition", "extra")["Nodes"], "n1")
            eventually(lambda: f"{late.config} is older than the configuration in force" in late.text(), "it says so")
            third = next(controller for controller in cluster.controllers if controller not in (leader, late))
            eventually(lambda: "reconfigured by the leader" in third.text(), "the other one took it")
            self.assertNotIn("is older than", third.text())
            self.make_lead(cluster, late)
            self.assertEqual(cluster.show("partition", "extra")["Nodes"], "n1")
            cluster.submit("--hold", "--wrap", "true")
            self.assertEqual(cluster.show("partition", "extra")["Nodes"], "n1")
            self.make_lead(cluster, third)
            cluster.write_config(late)
            late.signal(signal.SIGHUP)
            eventually(lambda: "reconfigured" in late.text().split("is older than")[-1], "a follower takes its file at SIGHUP")

    def test_a_controller_with_another_auth_key_is_named_with_the_remedy(self):
        with self.cluster() as cluster:
            leader = eventually(lambda: self.leader(cluster), "somebody leads")
            odd = next(controller for controller in cluster.controllers[1:] if controller is not leader)  # commands read the first one's file
            odd.kill()
            cluster.auth = f'key_file = "{cluster.dir}/other.key"\n'
            odd.start()
            cluster.auth = None
            told = f"controller {odd.address} has another auth key than this one"
            eventually(lambda: any(told in c.text() for c in cluster.controllers if c.leads()), "the leader says so")
            self.assertEqual(max(c.text().count(told) for c in cluster.controllers), 1)
            done = cluster.run("scontrol", "ping")
            self.assertIn(f"{odd.address} answers, but it and this command have different auth keys", done.stderr)
            trial = cluster.run("spurctld", "-t", "-f", odd.config)
            self.assertIn("has another auth key than this one", trial.stderr)
            self.assertIn("copy one and the same key to all controllers", trial.stderr)

    @staticmethod
    def make_lead(cluster, controller):
        number = str(cluster.controllers.index(controller))
        eventually(lambda: controller.leads() or (cluster.run("scontrol", "takeover", number) and False), f"controller {controller.number} leads")

    @staticmethod
    def listed_at(cluster, controller, states="all"):
        """The jobs that this controller knows."""
        return set(cluster.ok("squeue", "-h", "-t", states, "-o", "%A", env={"SPUR_CONTROLLER_ADDR": controller.address}).split())

    @unittest.skipIf(os.geteuid() == 0, "as root, the test with network namespaces does this and more")
    def test_no_acknowledged_job_is_lost_or_run_twice_when_controllers_die(self):
        with self.cluster() as cluster:
            self.play(cluster, Deaths())

    @unittest.skipUnless(os.geteuid() == 0, "needs root, for network namespaces")
    def test_no_acknowledged_job_is_lost_or_run_twice_when_the_network_is_cut(self):
        cluster = self.cluster()
        try:
            network = Cables(cluster)
        except (OSError, subprocess.CalledProcessError) as problem:
            cluster.close()
            self.skipTest(f"network namespaces cannot be made here: {getattr(problem, 'stderr', '') or problem}")
        try:
            with cluster:
                self.play(cluster, network)
        finally:
            network.remove()


if __name__ == "__main__":
    unittest.main()
