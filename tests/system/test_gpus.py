"""Jobs that share a node: cores, memory and simulated GPUs, from the request to what the program sees."""
import os
import re
import signal
import unittest

from spur_cluster import Cluster, eventually, plugin_process

SIM = """devices = ["mi300x:8"]
links = ["0-1:nvlink:400", "2-3:nvlink:400", "4-5:nvlink:400", "6-7:nvlink:400"]
numa = ["0-3:0", "4-7:1"]
near_cpus = ["0-3:0-7", "4-7:8-15"]
"""
NODE = 'sockets = 2\ncores_per_socket = 8\ngres = ["gpu:mi300x:8", "shard:16", "nic:fast:4", "nic:slow:2"]'


def numbers(text):
    """{0, 1, 2, 5} of "0-2,5"."""
    found = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


class Gpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        settings = {"plugins": 'gpu = ["gpu/sim"]', 'plugin."gpu/sim"': SIM}
        cls.cluster = Cluster(nodes=2, cpus=16, settings=settings, node_lines=NODE).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            self.cluster.keep = True

    def tearDown(self):
        self.cluster.run("scancel", "-u", "root")
        self.cluster.run("scancel", "--me")
        eventually(lambda: not self.cluster.ok("squeue", "-h").strip(), "the queue is empty")
        eventually(lambda: all(self.cluster.node_state(n) == "IDLE" for n in ("n1", "n2")), "the nodes are idle")

    def held(self, job):
        """Node, cores and GPUs of a running job, by scontrol show job -d."""
        text = self.cluster.ok("scontrol", "-d", "show", "job", job)
        found = re.search(r"Nodes=(\S+) CPU_IDs=(\S*) Mem=(\d+) GRES=(\S*)", text)
        gpus = re.search(r"gpu:[^(]*\(IDX:([0-9,-]+)\)", found.group(4))
        return found.group(1), numbers(found.group(2)), numbers(gpus.group(1)) if gpus else set()

    def starts(self, *words):
        job = self.cluster.submit("--wrap", "sleep 600", *words)
        self.cluster.wait_state(job, "RUNNING")
        return job

    def output(self, job):
        self.assertEqual(self.cluster.wait_ended(job)["JobState"], "COMPLETED")
        return dict(line.split("=", 1) for line in self.cluster.read(f"slurm-{job}.out").splitlines() if "=" in line)

    def test_a_step_is_laid_out_as_its_job_was(self):
        tasks = self.output(self.cluster.submit("-N2", "-n4", "-c6", "--wrap", "srun sh -c 'echo t$SLURM_PROCID=$SLURMD_NODENAME'"))
        self.assertEqual(tasks, {"t0": "n1", "t1": "n1", "t2": "n2", "t3": "n2"})

    def test_jobs_run_side_by_side_on_one_node_with_cores_and_gpus_of_their_own(self):
        jobs = [self.starts("-w", "n1", "-c", "4", "--gpus-per-node=2") for _ in range(3)]
        places = [self.held(job) for job in jobs]
        self.assertEqual({node for node, _, _ in places}, {"n1"})
        for i, (_, cores, gpus) in enumerate(places):
            self.assertEqual((len(cores), len(gpus)), (4, 2))
            self.assertIn(gpus, [{0, 1}, {2, 3}, {4, 5}, {6, 7}])  # linked pairs
            near = range(0, 8) if max(gpus) < 4 else range(8, 16)
            self.assertTrue(cores <= set(near), (cores, gpus))
            for _, other_cores, other_gpus in places[:i]:
                self.assertFalse(cores & other_cores or gpus & other_gpus)
        self.assertEqual(self.cluster.node_state("n1"), "MIXED")
        node = self.cluster.show("node", "n1")
        self.assertEqual(node["CPUAlloc"], "12")
        detail = self.cluster.ok("scontrol", "-d", "show", "node", "n1")
        used = sorted(set().union(*(gpus for _, _, gpus in places)))
        self.assertEqual(numbers(re.search(r"GresUsed=gpu:mi300x:6\(IDX:([0-9,-]+)\)", detail).group(1)), set(used))
        listed = self.cluster.ok("sinfo", "-h", "-N", "-n", "n1", "-O", "gresused:60").strip()
        self.assertTrue(listed.startswith("gpu:mi300x:6(IDX:"), listed)

    def test_a_fourth_job_waits_until_devices_are_free(self):
        first = self.starts("-w", "n1", "--gpus=8")
        second = self.cluster.submit("-w", "n1", "--gpus=1", "--wrap", "true")
        self.assertEqual(self.cluster.state(second), "PENDING")
        self.cluster.ok("scancel", first)
        self.assertEqual(self.cluster.wait_ended(second)["JobState"], "COMPLETED")

    def test_a_job_sees_its_part_of_the_node(self):
        other = self.starts("-w", "n1", "-c", "2", "--gres=gpu:mi300x:2")
        taken = self.held(other)[2]
        job = self.cluster.submit("-w", "n1", "-n", "3", "--gpus=4", "--mem=100", "--wrap", "env")
        seen = self.output(job)
        gpus = numbers(seen["CUDA_VISIBLE_DEVICES"])
        self.assertEqual(len(gpus), 4)
        self.assertFalse(gpus & taken)
        for name in ("ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ZE_AFFINITY_MASK", "SLURM_JOB_GPUS"):
            self.assertEqual(numbers(seen[name]), gpus, name)
        self.assertEqual((seen["SLURM_GPUS_ON_NODE"], seen["SLURM_CPUS_ON_NODE"], seen["SLURM_JOB_CPUS_PER_NODE"]), ("4", "3", "3"))

    def test_tasks_see_devices_of_their_own(self):
        job = self.cluster.submit("-n", "4", "--gpus-per-task=2", "--wrap", "srun -l --gpus-per-task=2 printenv CUDA_VISIBLE_DEVICES")
        self.assertEqual(self.cluster.wait_ended(job)["JobState"], "COMPLETED")
        lines = dict(line.split(": ") for line in self.cluster.read(f"slurm-{job}.out").splitlines())
        sets = [numbers(lines[str(task)]) for task in range(4)]
        self.assertEqual([len(one) for one in sets], [2, 2, 2, 2])
        self.assertEqual(len(set().union(*sets)), 8)

    def test_tasks_are_bound_to_the_devices_they_name(self):
        for bind, expected in (("map_gpu:1,0", ["1", "0"]), ("mask_gpu:0x1,0x3", ["0", "0,1"]), ("single:2", ["0", "0"]), ("none", ["0,1", "0,1"])):
            job = self.cluster.submit("-w", "n1", "-n", "2", "--gpus=2", "--wrap", f"srun -l --gpu-bind={bind} printenv CUDA_VISIBLE_DEVICES")
            self.assertEqual(self.cluster.wait_ended(job)["JobState"], "COMPLETED")
            lines = dict(line.split(": ") for line in self.cluster.read(f"slurm-{job}.out").splitlines())
            self.assertEqual([lines["0"], lines["1"]], expected, bind)

    def test_gpus_of_a_job_may_lie_on_two_nodes(self):
        job = self.starts("-N", "2", "--gpus-per-node=8")
        self.assertEqual(self.cluster.job(job)["NumNodes"], "2")
        for node in ("n1", "n2"):
            self.assertIn("GresUsed=gpu:mi300x:8(IDX:0-7)", self.cluster.ok("scontrol", "-d", "show", "node", node))

    def test_shards_share_a_gpu_and_are_seen_as_it(self):
        first = self.cluster.submit("-w", "n1", "--gres=shard:1", "--wrap", "sleep 600")
        self.cluster.wait_state(first, "RUNNING")
        second = self.cluster.submit("-w", "n1", "--gres=shard:1", "--wrap", "env")
        seen = self.output(second)
        self.assertEqual((seen["CUDA_VISIBLE_DEVICES"], seen["SLURM_SHARDS_ON_NODE"]), ("0", "1"))
        whole = self.starts("-w", "n1", "--gpus=7")
        self.assertNotIn(0, self.held(whole)[2])

    def test_counts_are_kept_by_type(self):
        self.starts("-w", "n1", "--gres=nic:slow:2")
        waits = self.cluster.submit("-w", "n1", "--gres=nic:slow:1", "--wrap", "true")
        other = self.cluster.submit("-w", "n1", "--gres=nic:fast:4", "--wrap", "true")
        self.assertEqual(self.cluster.wait_ended(other)["JobState"], "COMPLETED")
        self.assertEqual(self.cluster.state(waits), "PENDING")
        self.assertIn("nic:slow:2(IDX:N/A)", self.cluster.ok("scontrol", "-d", "show", "node", "n1"))

    def test_an_exclusive_job_has_the_whole_node(self):
        small = self.starts("-w", "n1", "-n", "1")
        whole = self.cluster.submit("--exclusive", "-w", "n1", "--wrap", "sleep 600")
        self.assertEqual(self.cluster.state(whole), "PENDING")
        self.cluster.ok("scancel", small)
        self.cluster.wait_state(whole, "RUNNING")
        node, cores, gpus = self.held(whole)
        self.assertEqual((node, cores, gpus), ("n1", set(range(16)), set(range(8))))

    def test_memory_is_given_out_too(self):
        first = self.starts("-w", "n1", "--mem=3000")
        second = self.cluster.submit("-w", "n1", "--mem=3000", "--wrap", "true")
        third = self.cluster.submit("-w", "n1", "--mem=500", "--wrap", "true")
        self.assertEqual(self.cluster.state(second), "PENDING")
        self.cluster.ok("scancel", second)
        self.assertEqual(self.cluster.wait_ended(third)["JobState"], "COMPLETED")
        self.cluster.ok("scancel", first)

    def test_what_no_node_has_is_never_waited_for_in_silence(self):
        refused = self.cluster.run("sbatch", "--gres=gpu:h100:1", "--wrap", "true")
        if refused.returncode == 0:
            job = int(refused.stdout.split()[-1])
            eventually(lambda: self.cluster.job(job)["Reason"] == "BadConstraints", "it says why it waits")



class Health(unittest.TestCase):
    """A plugin in a process of its own that watches its devices: what breaks is given to nobody until it is well again."""

    def setUp(self):
        self.cluster = Cluster(nodes=1, cpus=4, node_lines='gres = ["gpu:a100:2"]')
        self.health = os.path.join(self.cluster.dir, "health")
        self.cluster.settings = {"plugins": 'gpu = ["gpu/sim"]',
                                 'plugin."gpu/sim"': f'isolate = true\ndevices = ["a100:2"]\nhealth_file = "{self.health}"'}
        self.cluster.__enter__()
        self.addCleanup(self.cluster.close)

    def say(self, text):
        with open(self.health + ".new", "w") as file:
            file.write(text)
        os.rename(self.health + ".new", self.health)

    def metric(self, name):
        found = re.search(rf"^spur_gpu_sim_{name} (\S+)$", self.cluster.run("spur", "plugin", "metrics", "n1").stdout, re.M)
        return float(found[1]) if found else None

    def log(self):
        return self.cluster.agents["n1"].text()

    def test_a_device_that_breaks_is_given_to_nobody_until_it_is_well_again(self):
        self.say("0 failed\n")
        eventually(lambda: "gpu/sim found other gpus (device 0 is failed)" in self.log(), "the agent hears of it")
        one = self.cluster.submit("--gres=gpu:1", "--wrap", "echo $CUDA_VISIBLE_DEVICES")
        self.assertEqual(self.cluster.wait_ended(one)["JobState"], "COMPLETED")
        self.assertEqual(self.cluster.read(f"slurm-{one}.out").strip(), "1")
        both = self.cluster.submit("--gres=gpu:2", "--wrap", "echo $CUDA_VISIBLE_DEVICES")
        other = self.cluster.submit("--gres=gpu:1", "--wrap", "true")
        self.assertEqual(self.cluster.wait_ended(other)["JobState"], "COMPLETED")
        self.assertEqual(self.cluster.job(both)["JobState"], "PENDING")
        self.say("0 healthy\n")
        self.assertEqual(self.cluster.wait_ended(both)["JobState"], "COMPLETED")
        self.assertEqual(self.metric("health_changes_total"), 2)

    def test_what_was_bound_is_released_when_its_job_and_its_steps_have_ended(self):
        job = self.cluster.submit("--gres=gpu:1", "--wrap", "srun true; sleep 600")
        self.cluster.wait_state(job, "RUNNING")
        eventually(lambda: self.metric("holders"), "the script holds a device")
        self.cluster.ok("scancel", job)
        eventually(lambda: self.metric("holders") == 0, "nobody does")

    def test_a_process_that_is_killed_watches_again_and_nothing_is_lost_meanwhile(self):
        pid = plugin_process(self.cluster.agents["n1"], "gpu/sim")
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: "gpu/sim watches its devices no more" in self.log(), "the log says so")
        self.say("1 failed\n")
        eventually(lambda: "gpu/sim found other gpus" in self.log(), "the agent hears of it all the same")
        job = self.cluster.submit("--gres=gpu:1", "--wrap", "echo $CUDA_VISIBLE_DEVICES")
        self.assertEqual(self.cluster.wait_ended(job)["JobState"], "COMPLETED")
        self.assertEqual(self.cluster.read(f"slurm-{job}.out").strip(), "0")


if __name__ == "__main__":
    unittest.main()
