"""A day in a cluster of eight nodes with simulated GPUs: arrays, every kind of dependency, preemption with requeue, a reservation, a
heterogeneous job and licences, all at once and through the commands. And the same commands on what `spur up` starts by itself."""
import os
import shutil
import subprocess
import tempfile
import unittest

from shared_case import SharedCluster
from spur_cluster import BUILD, eventually, free_port, program


class Whole(SharedCluster):
    nodes, cpus = 8, 4
    policies = {"select": "gpu"}
    settings = {"plugins": 'gpu = ["gpu/sim"]', 'plugin."gpu/sim"': 'devices = ["mi300x:4"]\nmemory = "64G"', "licenses": "matlab = 1"}
    node_lines = 'gres = ["gpu:mi300x:4"]'
    partitions = ('[[partitions]]\nname = "urgent"\nnodes = "n[1-8]"\npriority_tier = 10\npreempt_mode = "OFF"\n'
                  '[[partitions]]\nname = "scavenge"\nnodes = "n[1-8]"\npriority_tier = 0\npreempt_mode = "REQUEUE"\n')

    def test_everything_at_once(self):
        submit, gate = self.cluster.submit, self.gate
        # Every GPU of the cluster is taken by a scavenging array, two by two.
        array = submit("-p", "scavenge", "--array=1-40%16", "--gres=gpu:2", "-c1", "-t", "60", "--wrap", "sleep 1000")
        eventually(lambda: len(self.queue("%i", "-t", "R")) == 16, "sixteen tasks run")
        eventually(lambda: self.queue("%i|%r", "-t", "PD") == [f"{array}_[17-40%16]|JobArrayTaskLimit"], "the others wait for them")
        shown = self.cluster.run("scontrol", "-d", "show", "job", f"{array}_1").stdout
        self.assertIn("GRES=gpu:mi300x:2(IDX:", shown)

        # An urgent job pushes as many of them out as it needs, and runs on what they had.
        urgent = self.runs(submit("-p", "urgent", "-N1", "--gres=gpu:4", "-t", "5", "-o", "urgent.txt", "--wrap",
                                  "echo $CUDA_VISIBLE_DEVICES $SLURM_GPUS_ON_NODE; " + gate("urgent")))
        eventually(lambda: self.cluster.read("urgent.txt") == "0,1,2,3 4\n", "it sees all four devices")
        self.assertGreaterEqual(len(self.queue("%i", "-t", "R", "-p", "scavenge")), 14)

        # A pipeline: each kind of dependency once.
        first = submit("-c1", "-t", "5", "--wrap", gate("pipeline"))
        failing = submit("-c1", "-t", "5", "--wrap", gate("pipeline") + "; exit 3")
        tasks = submit("--array=1-2", "-c1", "-t", "5", "--wrap", gate("pipeline"))
        after = {kind: submit("-J", kind, "-d", dependency, "-c1", "-t", "5", "--wrap", "true") for kind, dependency in {
            "after": f"after:{first}", "any": f"afterany:{failing}", "ok": f"afterok:{first}:{tasks}", "notok": f"afternotok:{failing}",
            "task": f"afterok:{tasks}_2", "or": f"afterok:{failing}?afterok:{first}", "alone": "singleton"}.items()}
        corresponding = submit("--array=1-2", "-d", f"aftercorr:{tasks}", "-c1", "-t", "5", "--wrap", "true")
        never = submit("-d", f"afterok:{failing}", "--kill-on-invalid-dep=yes", "-c1", "--wrap", "true")
        self.ends(after["after"])
        self.assertEqual(self.field(after["ok"], "%r"), "Dependency")
        self.open_gate("pipeline")
        for job in after.values():
            self.ends(job)
        self.ends(f"{corresponding}_2")
        self.ends(never, "CANCELLED")

        # One licence, two jobs.
        holder = self.runs(submit("-L", "matlab", "-c1", "-t", "5", "--wrap", gate("license")))
        waiting = submit("-L", "matlab", "-c1", "-t", "5", "--wrap", "true")
        self.becomes(waiting, "%r", "Licenses")
        self.open_gate("license")
        self.ends(holder)
        self.ends(waiting)

        # What was pushed out comes back once the urgent job has gone.
        self.open_gate("urgent")
        self.ends(urgent)
        eventually(lambda: len(self.queue("%i", "-t", "R", "-p", "scavenge")) == 16, "the array has its share again")
        self.cluster.ok("scancel", array)

        # Two nodes are kept for maintenance in ten minutes: who would run into it goes elsewhere.
        self.cluster.ok("scontrol", "create", "reservation", "reservationname=window", "users=root", "starttime=now+10minutes", "duration=60", "nodes=n[1-2]",
                        "flags=ignore_jobs")
        long = self.runs(submit("-c1", "-t", "60", "--wrap", "sleep 1000"))
        self.assertNotIn(self.field(long, "%N"), ("n1", "n2"))

        # A heterogeneous job: a small component and one with a GPU on each of two nodes of its own partition's.
        pair = submit("-c1", "-t", "5", ":", "-p", "urgent", "-N2", "--gres=gpu:1", "-t", "5", "--wrap", "srun --het-group=1 -l printenv CUDA_VISIBLE_DEVICES")
        self.ends(f"{pair}+0")
        self.assertEqual([line.split(":")[0] for line in sorted(self.cluster.read(f"slurm-{pair}.out").splitlines())], ["0", "1"])

        self.cluster.ok("scancel", "--me")
        eventually(lambda: not self.queue("%i"), "the queue is empty")
        self.cluster.ok("scontrol", "delete", "reservation=window")
        self.assertEqual(self.cluster.ok("sinfo", "-h", "-p", "main", "-o", "%D %t").split(), ["8", "idle"])


class Up(unittest.TestCase):
    def test_what_spur_up_starts_runs_arrays_dependencies_and_components_without_configuration(self):
        folder = tempfile.mkdtemp(prefix="spur-up-")
        env = {**{k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "SPUR", "SBATCH"))}, "SPUR_STATE_DIR": folder,
               "PATH": f"{BUILD}/slurm-bin:{BUILD}/bin:" + os.environ["PATH"]}

        def run(*words):
            done = subprocess.run([program(words[0]), *map(str, words[1:])], env=env, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}{done.stderr}")
            return done.stdout

        try:
            run("spur", "up", "--nodes", "8", "--detach", "--dir", folder, "--port", free_port())
            array = run("sbatch", "--parsable", "--array=0-99999:9999%4", "-t", "5", "--wrap", "echo $SLURM_ARRAY_TASK_ID").strip()
            after = run("sbatch", "--parsable", "-d", f"afterok:{array}", "-t", "5", "--wrap", "true").strip()
            eventually(lambda: "JobState=COMPLETED" in run("scontrol", "show", "job", after), "the job after the array has run", 120)
            with open(f"{folder}/slurm-{array}_99990.out", encoding="utf-8") as file:
                self.assertEqual(file.read(), "99990\n")
            self.assertEqual(sorted(run("srun", "-l", "-n1", "echo", "a", ":", "-N2", "echo", "b").splitlines()), ["0: a", "1: b", "2: b"])
            self.assertIn("ended at", run("spur", "why", after))
        finally:
            subprocess.run([program("spur"), "down", "--dir", folder], env=env, capture_output=True, timeout=60, check=False)
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    unittest.main()
