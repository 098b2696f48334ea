"""Time limits. They count in whole minutes, as in Slurm, so this takes one; both jobs wait at the same time."""
import re
import unittest

from spur_cluster import Cluster


class TimeLimits(unittest.TestCase):
    def test_jobs_past_their_limit_end_as_timeout_even_if_they_ignore_the_warning(self):
        with Cluster(nodes=2, cpus=8) as cluster:
            meek = cluster.submit("-t", "1", "--wrap", "sleep 600")
            stubborn = cluster.submit("-t", "1", cluster.script("trap 'echo asked' TERM\nwhile :; do sleep 0.2; done\n"))
            stepped = cluster.submit("-t", "5", "-N2", "--wrap", "srun -N2 -t1 sleep 600; echo code $?")
            alone = cluster.popen("srun", "-t1", "-n2", "sleep", "600")
            shell = cluster.popen("salloc", "-t1", "-K", "sleep", "600")
            warned = cluster.submit("-t", "1", "--signal=B:USR1@30", cluster.script("trap 'echo warned; exit 3' USR1\nwhile :; do sleep 0.2; done\n"))
            within = cluster.submit("-t", "2", "--begin=now", "--wrap", "true")
            for job in (meek, stubborn):
                record = cluster.wait_ended(job, patience=100)
                self.assertEqual(record["JobState"], "TIMEOUT", record)
                self.assertEqual(record["Reason"], "TimeLimit", record)
            self.assertIn("asked", cluster.read(f"slurm-{stubborn}.out"))
            self.assertIn("DUE TO TIME LIMIT", cluster.read(f"slurm-{meek}.out"))
            self.assertEqual(cluster.wait_ended(within)["JobState"], "COMPLETED")
            self.assertEqual((cluster.wait_ended(warned)["ExitCode"], cluster.read(f"slurm-{warned}.out")), ("3:0", "warned\n"))

            # A step's own limit ends the step; the job goes on. One node tells of it.
            self.assertEqual(cluster.wait_ended(stepped, patience=100)["JobState"], "COMPLETED")
            self.assertEqual(sorted(self.plain(cluster.read(f"slurm-{stepped}.out"))),
                             ["code 143", "slurmstepd: error: *** STEP J.0 ON n1 CANCELLED AT TIME DUE TO TIME LIMIT ***",
                              "srun: Force Terminated StepId=J.0", "srun: error: n1: task 0: Terminated", "srun: error: n2: task 1: Terminated"])
            _, said = alone.communicate(timeout=100)
            self.assertEqual(alone.returncode, 143)
            self.assertEqual(sorted(re.sub("n[12]", "nX", line) for line in self.plain(said)),
                             ["slurmstepd: error: *** STEP J.0 ON nX CANCELLED AT TIME DUE TO TIME LIMIT ***",
                              "srun: Job step aborted: Waiting up to 3 seconds for job step to finish.", "srun: error: nX: task 0: Terminated",
                              "srun: error: nX: task 1: Terminated"])
            _, said = shell.communicate(timeout=100)
            self.assertEqual((shell.returncode, self.plain(said)[1:]), (1, ["salloc: Job J has exceeded its time limit and its allocation has been revoked."]))

    @staticmethod
    def plain(text):
        text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "TIME", text)
        text = re.sub(r"(StepId=|STEP |JOB |Job |allocation )\d+", r"\1J", text)
        return re.sub(r"(srun: error: n\d: task)s 0-1(.*)", r"\1 0\2\n\1 1\2", text).splitlines()  # told together or one by one


if __name__ == "__main__":
    unittest.main()
