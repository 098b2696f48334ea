"""The site's scripts around jobs and tasks: what they see, what they can change, and what becomes of a node where they fail."""
import os
import unittest

from spur_cluster import Cluster, eventually

# Writes its environment down, and fails while a file says so.
SCRIPT = """#!/bin/sh
file={work}/{name}.$SLURM_JOB_ID.${{SLURM_STEP_ID:-none}}.${{SLURM_PROCID:-none}}.$SLURMD_NODENAME
env > $file.new && mv $file.new $file
{more}
! [ -e {work}/fail.{name} ]
"""
EXPORTS = """echo "export FROM_PROLOG=hello world"
echo "print printed by the prolog"
echo "unset UNWANTED"
echo "nothing anybody understands" """


class Scripts(unittest.TestCase):
    def start(self):
        cluster = Cluster(nodes=2, cpus=2)
        lines = []
        for name in ("prolog", "epilog", "task_prolog", "task_epilog"):
            path = os.path.join(cluster.dir, name)
            with open(path, "w") as file:
                file.write(SCRIPT.format(work=cluster.work, name=name, more=EXPORTS if name == "task_prolog" else ""))
            os.chmod(path, 0o755)
            lines.append(f'{name} = "{path}"')
        cluster.settings["agent"] = "\n".join(lines)
        return cluster

    def seen(self, cluster, name, job, step="none", task="none"):
        """The environment a script had, by node."""
        found = {}
        for file in os.listdir(cluster.work):
            if file.startswith(f"{name}.{job}.{step}.{task}.") and not file.endswith(".new"):
                found[file.rsplit(".", 1)[1]] = dict(line.split("=", 1) for line in cluster.read(file).splitlines() if "=" in line)
        return found

    def fail(self, cluster, name, on=True):
        path = os.path.join(cluster.work, f"fail.{name}")
        if on:
            open(path, "w").close()
        else:
            os.unlink(path)

    def resume(self, cluster):
        for node in ("n1", "n2"):
            if "DRAIN" in cluster.node_state(node):
                cluster.ok("scontrol", "update", f"NodeName={node}", "State=RESUME")
        eventually(lambda: all(cluster.node_state(node) == "IDLE" for node in ("n1", "n2")), "the nodes are free again")

    def test_they_run_around_jobs_and_tasks(self):
        with self.start() as cluster:
            job = cluster.submit("-N2", "-n2", "--wrap", "srun sh -c 'echo $SLURM_PROCID $FROM_PROLOG $UNWANTED'", env={"UNWANTED": "gone"})
            self.assertEqual(cluster.wait_ended(job)["JobState"], "COMPLETED")
            out = cluster.read(f"slurm-{job}.out").splitlines()
            self.assertEqual(sorted(out), ["0 hello world", "1 hello world"] + ["printed by the prolog"] * 3)
            eventually(lambda: len(self.seen(cluster, "epilog", job)) == 2, "the epilog has run on both nodes")
            for name, context in (("prolog", "prolog_slurmd"), ("epilog", "epilog_slurmd")):
                for node, variables in self.seen(cluster, name, job).items():
                    expected = {"SLURM_SCRIPT_CONTEXT": context, "SLURM_JOB_ID": str(job), "SLURM_JOBID": str(job), "SLURM_JOB_USER": variables["SLURM_JOB_USER"],
                                "SLURM_JOB_UID": str(os.getuid()), "SLURM_UID": str(os.getuid()), "SLURM_JOB_PARTITION": "main", "SLURM_NODELIST": "n[1-2]",
                                "SLURMD_NODENAME": node, "SLURM_CLUSTER_NAME": "test", "SLURM_JOB_WORK_DIR": cluster.work}
                    self.assertEqual({key: variables.get(key) for key in expected}, expected)
                    self.assertNotIn("UNWANTED", variables)
            self.assertEqual(self.seen(cluster, "epilog", job)["n1"]["SLURM_JOB_EXIT_CODE2"], "0:0")
            for task in (0, 1):
                for name, context in (("task_prolog", "prolog_task"), ("task_epilog", "epilog_task")):
                    (variables,) = self.seen(cluster, name, job, 0, task).values()
                    self.assertEqual(variables.get("SLURM_SCRIPT_CONTEXT"), context, f"{name} of task {task}")

    def test_a_failed_prolog_drains_its_node_and_holds_the_job(self):
        with self.start() as cluster:
            self.fail(cluster, "prolog")
            job = cluster.submit("-w", "n1", "--wrap", "echo ran")
            eventually(lambda: cluster.job(job).get("Reason") == "launch_failed_requeued_held", f"the job is held: {cluster.job(job)}")
            self.assertEqual(cluster.state(job), "PENDING")
            self.assertIn("DRAIN", cluster.node_state("n1"))
            self.assertTrue(cluster.show("node", "n1")["Reason"].startswith("Prolog error"))
            self.assertEqual(cluster.node_state("n2"), "IDLE")
            self.assertFalse(os.path.exists(os.path.join(cluster.work, f"slurm-{job}.out")))

            self.fail(cluster, "prolog", on=False)
            self.resume(cluster)
            cluster.ok("scontrol", "release", job)
            self.assertEqual(cluster.wait_ended(job)["JobState"], "COMPLETED")

            self.fail(cluster, "prolog")
            done = cluster.run("srun", "-w", "n2", "echo", "ran")
            self.assertNotEqual(done.returncode, 0)
            self.assertEqual(done.stdout, "")
            self.assertIn("DRAIN", cluster.node_state("n2"))

    def test_a_failed_epilog_drains_its_node_and_no_more(self):
        with self.start() as cluster:
            self.fail(cluster, "epilog")
            job = cluster.submit("-w", "n1", "--wrap", "echo ran")
            self.assertEqual(cluster.wait_ended(job)["JobState"], "COMPLETED")
            eventually(lambda: "DRAIN" in cluster.node_state("n1"), "the node is drained")
            self.assertTrue(cluster.show("node", "n1")["Reason"].startswith("Epilog error"), cluster.show("node", "n1"))
            self.fail(cluster, "epilog", on=False)
            self.resume(cluster)
            self.assertEqual(cluster.wait_ended(cluster.submit("-w", "n1", "--wrap", "true"))["JobState"], "COMPLETED")

    def test_a_task_does_not_run_without_its_prolog(self):
        with self.start() as cluster:
            self.fail(cluster, "task_prolog")
            done = cluster.run("srun", "echo", "ran")
            self.assertEqual((done.returncode != 0, "ran" in done.stdout), (True, False), done)
            self.fail(cluster, "task_prolog", on=False)
            self.fail(cluster, "task_epilog")
            self.assertIn("ran\n", cluster.ok("srun", "echo", "ran"))

    def test_sruns_own_scripts_run_beside_it(self):
        with Cluster(nodes=1, cpus=2) as cluster:
            before, after = cluster.script("env > before\n"), cluster.script("env > after\nexit 3\n")
            self.assertEqual(cluster.ok("srun", "-n2", "--prolog", before, "--epilog", after, "echo", "ran"), "ran\nran\n")
            for name, context in (("before", "prolog_srun"), ("after", "epilog_srun")):
                variables = dict(line.split("=", 1) for line in cluster.read(name).splitlines() if "=" in line)
                expected = {"SLURM_SCRIPT_CONTEXT": context, "SLURM_NTASKS": "2", "SLURM_JOB_NUM_NODES": "1", "SLURM_JOB_PARTITION": "main",
                            "SLURM_JOB_NODELIST": "n1", "SLURM_STEP_ID": "0", "SLURM_TASKS_PER_NODE": "2", "SLURM_SUBMIT_DIR": cluster.work}
                self.assertEqual({key: variables.get(key) for key in expected}, expected)


if __name__ == "__main__":
    unittest.main()
