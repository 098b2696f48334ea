"""Several steps in one allocation: beside each other, after each other, on top of each other."""
import unittest

from shared_case import SharedCluster


class Steps(SharedCluster):
    def in_a_job(self, *words, body):
        """The output of a script that runs in an allocation of two nodes with four CPUs."""
        script = self.cluster.script("#!/bin/bash\nexec 2>&1\n" + body)
        job = self.cluster.submit("-N2", "-n4", "-o", f"steps-{id(body)}.txt", *words, script)
        self.ends(job)
        return job, self.cluster.read(f"steps-{id(body)}.txt")

    def test_exact_steps_share_the_allocation(self):
        job, out = self.in_a_job(body="srun -n2 --exact sh -c '" + self.gate("beside") + "' &\n"
                                 "until [ -n \"$(squeue -hs -j $SLURM_JOB_ID -o %i | grep '\\.0')\" ]; do sleep 0.05; done\n"
                                 "srun -n2 --exact sh -c 'echo step $SLURM_STEP_ID task $SLURM_PROCID' | sort\n"
                                 "squeue -hs -j $SLURM_JOB_ID -o '%i|%j|%A' -S i\ntouch beside\nwait\n")
        self.assertEqual(out, f"step 1 task 0\nstep 1 task 1\n{job}.0|sh|2\n{job}.batch|batch|1\n")

    def test_a_step_waits_for_another_and_says_so(self):
        job, out = self.in_a_job(body="srun -n4 --exact sh -c '" + self.gate("wait") + "' &\n"
                                 "until [ -n \"$(squeue -hs -j $SLURM_JOB_ID -o %i | grep '\\.0')\" ]; do sleep 0.05; done\n"
                                 "srun -n4 --exact -I true; echo immediate $?\n"
                                 "srun -N1 -n1 --overlap echo on top\n"
                                 "srun -n4 --exact echo late > late.txt 2> late.err &\n"
                                 "until grep -qs retrying late.err; do sleep 0.05; done\ntouch wait\nwait\ncat late.err late.txt\n")
        self.assertEqual(out, f"srun: error: Unable to create step for job {job}: Requested nodes are busy\nimmediate 1\n"
                         "on top\n"
                         f"srun: Job {job} step creation temporarily disabled, retrying (Requested nodes are busy)\nsrun: Step created for job {job}\n"
                         "late\nlate\nlate\nlate\n")

    def test_steps_that_ask_at_the_same_moment_all_get_their_turn(self):
        job, out = self.in_a_job(body="for i in 1 2 3 4 5 6 7 8 9 10 11 12; do srun -Q -N1 -n1 --exact echo ran & done\nwait\n")
        self.assertEqual(out, "ran\n" * 12)

    def test_without_a_count_of_tasks_the_cpus_decide(self):
        _, out = self.in_a_job("-c1", body="unset SLURM_NTASKS SLURM_NPROCS\nsrun -c2 sh -c 'echo $SLURM_NTASKS $SLURM_CPUS_PER_TASK'\nsrun sh -c 'echo $SLURM_NTASKS'\n")
        self.assertEqual(out, "2 2\n" * 2 + "2\n" * 2)

    def test_what_can_never_fit_is_refused(self):
        job, out = self.in_a_job(body="srun -n5 true; echo $?\nsrun -N3 true; echo $?\n")
        self.assertEqual(out, f"srun: error: Unable to create step for job {job}: More processors requested than permitted\n1\n"
                         "srun: error: Only allocated 2 nodes asked for 3\n1\n")

    def test_a_step_knows_its_size(self):
        _, out = self.in_a_job(body="srun -N1 -n1 --exclusive sh -c 'env | grep ^SLURM_STEP_ | grep -v PORT | sort; echo $SLURM_CPUS_ON_NODE'\n")
        self.assertEqual(out.splitlines()[-6:], ["SLURM_STEP_ID=0", "SLURM_STEP_NODELIST=n1", "SLURM_STEP_NUM_NODES=1", "SLURM_STEP_NUM_TASKS=1",
                                                 "SLURM_STEP_TASKS_PER_NODE=1", "1"])


if __name__ == "__main__":
    unittest.main()
