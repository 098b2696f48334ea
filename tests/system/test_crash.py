"""Nothing acknowledged is ever lost: spurctld is killed in the middle of bursts of submits, again and again.

$SPUR_CRASH_ROUNDS (50) says how often, $SPUR_CRASH_SEED repeats a run.
"""
import os
import random
import subprocess
import threading
import time
import unittest

from spur_cluster import Cluster, eventually, program

ROUNDS = int(os.environ.get("SPUR_CRASH_ROUNDS", "50"))
CLIENTS, BURST = 4, 5  # submits of each client


class Burst:
    """Clients that submit held jobs as fast as they can and note which ids they were told."""

    def __init__(self, cluster, round_number):
        self.cluster, self.told, self.lock = cluster, {}, threading.Lock()
        self.threads = [threading.Thread(target=self.submit, args=(f"{round_number}.{i}",)) for i in range(CLIENTS)]

    def submit(self, client):
        env = self.cluster.environment()
        for i in range(BURST):
            text = f"#!/bin/sh\necho {client}.{i} " + "x" * 200 + "\n"
            done = subprocess.run([program("sbatch"), "--parsable", "-H", "-J", f"burst{client}.{i}"], input=text, text=True, env=env,
                                  capture_output=True, cwd=self.cluster.work)
            if done.returncode == 0:
                job = int(done.stdout)
                with self.lock:
                    self.told.setdefault(job, []).append(text)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        for thread in self.threads:
            thread.join()


class Crash(unittest.TestCase):
    def test_every_job_whose_id_was_printed_survives_kill_9_exactly_once_and_with_its_script(self):
        seed = int(os.environ.get("SPUR_CRASH_SEED") or random.randrange(1 << 32))
        print(f"seed {seed}, {ROUNDS} rounds", flush=True)
        chance = random.Random(seed)
        told = {}  # id -> the scripts whose submitters were told it: one each
        with Cluster(nodes=0) as cluster:
            controller = cluster.controllers[0]
            for number in range(ROUNDS):
                with Burst(cluster, number) as burst:
                    after = chance.randrange(CLIENTS * BURST)
                    eventually(lambda: len(burst.told) >= after, f"{after} submits were acknowledged")
                    time.sleep(chance.uniform(0.0, 0.02))  # the random moment: chance, not waiting
                    controller.kill()
                    controller.start()
                    eventually(controller.is_serving, "spurctld is back")
                for job, texts in burst.told.items():
                    told.setdefault(job, []).extend(texts)
                self.check_queue(cluster, told)
            self.check_scripts(cluster, told)
        print(f"{len(told)} jobs acknowledged, none lost", flush=True)

    def test_a_controller_that_has_just_started_answers_with_everything_or_not_at_all(self):
        with Cluster(nodes=0) as cluster:
            controller = cluster.controllers[0]
            with Burst(cluster, 0) as burst:
                pass
            for _ in range(10):
                controller.kill()
                controller.start()
                for _ in range(3):  # the first is there before it serves, and waits
                    listed = cluster.ok("squeue", "-h", "-o", "%A").split()
                    self.assertEqual(set(burst.told) - set(map(int, listed)), set(), "jobs were denied")

    def test_what_was_submitted_around_snapshots_survives_kill_9(self):
        settings = {'plugin."state/raft"': "snapshot_threshold = 10\nsnapshot_trailing = 1"}
        with Cluster(nodes=0, settings=settings) as cluster:
            controller, told = cluster.controllers[0], {}
            for number in range(4):
                with Burst(cluster, number) as burst:
                    pass
                told.update(burst.told)
                controller.kill()
                controller.start()
                self.check_queue(cluster, told)
            self.check_scripts(cluster, told)

    def check_queue(self, cluster, told):
        listed = [line.split() for line in cluster.ok("squeue", "-h", "-o", "%A %j").splitlines()]
        ids = [int(job) for job, _ in listed]
        names = [name for _, name in listed]
        self.assertEqual(len(ids), len(set(ids)), "an id is there twice")
        self.assertEqual(len(names), len(set(names)), "a submit was acted upon twice")
        self.assertEqual({job: texts for job, texts in told.items() if len(texts) > 1}, {}, "an id was given out twice")
        self.assertEqual(set(told) - set(ids), set(), "acknowledged jobs are lost")

    def check_scripts(self, cluster, told):
        for job, (text,) in told.items():
            self.assertEqual(cluster.ok("scontrol", "write", "batch_script", job, "-"), text, f"the script of job {job}")


if __name__ == "__main__":
    unittest.main()
