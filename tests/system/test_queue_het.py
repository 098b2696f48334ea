"""Heterogeneous jobs: several components with resources of their own, started together."""
import unittest

from shared_case import SharedCluster
from spur_cluster import eventually


class Het(SharedCluster):
    def test_a_script_has_a_component_after_each_hetjob_line(self):
        script = self.cluster.script("#!/bin/bash\n#SBATCH -n1 -J pair\n#SBATCH hetjob\n#SBATCH -N2 -n2 --mem=100\n"
                                     "env | grep -E 'HET|SLURM_JOB_ID=' | sort > het-env.txt\n" + self.gate("het-end") + "\n")
        job = self.cluster.submit(script)
        self.runs(f"{job}+0")
        lines = [line.split("|") for line in self.queue("%i|%A|%j|%D|%t", "-j", job)]
        self.assertEqual(lines, [[f"{job}+0", f"{job}", "pair", "1", "R"], [f"{job}+1", f"{job + 1}", "pair", "2", "R"]])
        first, second = self.cluster.job(f"{job}+0"), self.cluster.job(f"{job}+1")
        self.assertEqual((second["JobId"], second["HetJobId"], second["HetJobOffset"], second["HetJobIdSet"]),
                         (str(job + 1), str(job), "1", f"{job}-{job + 1}"))
        eventually(lambda: "SLURM_JOB_ID_HET_GROUP_1" in self.cluster.read("het-env.txt"), "the script has written its environment")
        environment = dict(line.split("=", 1) for line in self.cluster.read("het-env.txt").splitlines())
        expected = {"SLURM_HET_SIZE": "2", "SLURM_JOB_ID": str(job), "SLURM_JOB_ID_HET_GROUP_1": str(job + 1), "SLURM_NTASKS_HET_GROUP_1": "2",
                    "SLURM_JOB_NODELIST_HET_GROUP_0": first["NodeList"], "SLURM_JOB_NODELIST_HET_GROUP_1": second["NodeList"],
                    "SLURM_JOB_NUM_NODES_HET_GROUP_1": "2", "SLURM_MEM_PER_NODE_HET_GROUP_1": "100", "SLURM_TASKS_PER_NODE_HET_GROUP_1": "1(x2)"}
        self.assertEqual({key: environment.get(key) for key in expected}, expected)
        self.open_gate("het-end")
        self.ends(f"{job}+0")
        self.ends(f"{job}+1")

    def test_components_on_the_command_line_share_all_but_size_and_place(self):
        job = self.cluster.submit("--hold", "-n2", "-c2", "-t", "5", "-J", "first", "--comment", "both", ":", "-N1", ":", "-n1", "-J", "third", "--wrap", "true")
        lines = self.queue("%i|%j|%l|%C|%k")
        self.assertEqual(lines, [f"{job}+0|first|5:00|4|both", f"{job}+1|first|5:00|1|both", f"{job}+2|third|5:00|1|both"])
        self.assertIn("Operation not permitted on individual component of heterogeneous job", self.refused("scancel", f"{job}+1"))
        self.cluster.ok("scontrol", "update", f"jobid={job}", "timelimit=8")
        self.assertEqual(set(self.queue("%l")), {"8:00"})
        self.cluster.ok("scancel", job)
        self.assertEqual(self.queue("%i"), [])

    def test_steps_run_on_one_component_on_several_or_on_each_its_own(self):
        script = self.cluster.script("#!/bin/bash\n#SBATCH -n1\n#SBATCH hetjob\n#SBATCH -N2 -n2\nexec > het-steps.txt 2>&1\n"
                                     "say() { srun -l \"$@\" sh -c 'echo $SLURM_JOB_ID.$SLURM_STEP_ID $SLURM_PROCID/$SLURM_NTASKS $SLURM_NODEID/$SLURM_NNODES' | sort; }\n"
                                     "say; echo; say --het-group=1; echo; say --het-group=0,1; echo\n"
                                     "srun -l sh -c 'echo A' : sh -c 'echo B' | sort; echo\nsrun --het-group=2 true; echo $?\n")
        job = self.cluster.submit(script)
        self.ends(job)
        self.assertEqual(self.cluster.read("het-steps.txt").split("\n\n"), [
            f"0: {job}.0 0/1 0/1",
            f"0: {job}.1 0/2 0/2\n1: {job}.1 1/2 1/2",
            f"0: {job}.2 0/3 0/3\n1: {job}.2 1/3 1/3\n2: {job}.2 2/3 2/3",
            "0: A\n1: B\n2: B",
            "srun: error: Requested het-group offset exceeds highest hetjob index (2 > 1)\n1\n"])

    def test_srun_and_salloc_allocate_components_of_their_own(self):
        out = self.cluster.ok("srun", "-l", "-n1", "sh", "-c", "echo a $SLURM_PROCID $SLURM_NTASKS $SLURM_HET_SIZE", ":", "-n2", "sh", "-c", "echo b $SLURM_NTASKS")
        self.assertEqual(sorted(out.splitlines()), ["0: a 0 3 2", "1: b 3", "2: b 3"])
        out = self.cluster.ok("salloc", "-n1", ":", "-n2", "sh", "-c", "echo $SLURM_HET_SIZE $SLURM_NTASKS $SLURM_NTASKS_HET_GROUP_1 $SLURM_JOB_NUM_NODES_HET_GROUP_0")
        self.assertEqual(out, "2 3 2 1\n")

    def test_a_running_component_may_be_given_up(self):
        job = self.cluster.submit("-n1", ":", "-n1", "--wrap", "sleep 1000")
        self.runs(f"{job}+1")
        self.cluster.ok("scancel", f"{job}+1")
        eventually(lambda: self.queue("%i|%t") == [f"{job}+0|R"], "only the first is left")

    def test_arrays_have_no_components(self):
        self.assertIn("Invalid job array specification", self.refused("sbatch", "--array=1-2", "-n1", ":", "-n1", "--wrap", "true"))


if __name__ == "__main__":
    unittest.main()
