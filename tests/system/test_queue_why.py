"""spur why, --test-only and squeue --start: what the plugins expect of a job that does not run."""
import os
import pwd
import unittest

from shared_case import SharedCluster
from spur_cluster import eventually

ME = pwd.getpwuid(os.geteuid()).pw_name  # who runs the cluster and its jobs


class Why(SharedCluster):
    def why(self, job, *words):
        return self.cluster.ok("spur", "why", *words, job)

    def test_a_job_that_is_too_large_now_is_told_what_would_start(self):
        holder = self.busy("-N3", "-t", "30")
        job = self.cluster.submit("-N2", "-t", "10", "--wrap", "true")
        self.becomes(job, "%r", "Resources")
        text = self.why(job)
        self.assertIn(f"Job {job} (wrap, {ME}) has been waiting for", text)
        self.assertIn("It asks for 2 nodes, 2 CPUs, for up to 10:00, in partition main.", text)
        self.assertIn("1 of 4 nodes idle", text)
        self.assertIn(f"held by 1 job: {holder} on n[1-3] until ", text)
        self.assertIn("It is expected to start at ", text)
        self.assertRegex(text, r"--nodes=1 +1 node instead of 2, on n4\n")
        self.assertNotIn("--time", text)
        self.assertNotIn("would start now", self.why(job, "--brief"))

    def test_holds_dependencies_and_begin_times_are_told(self):
        first = self.busy("-t", "30")
        held, after, later = (self.cluster.submit(*words, "--wrap", "true") for words in (["-H"], ["-d", f"afterok:{first}"], ["--begin=now+1hour"]))
        self.assertIn(f"`scontrol release {held}` lets it go.\nBut for that it would start now on n", self.why(held))
        self.assertIn(f"It waits for afterok:{first}(unfulfilled).\n  Job {first} is RUNNING, until ", self.why(after))
        self.assertIn("It is not to begin before ", self.why(later))

    def test_jobs_that_run_have_ended_or_never_were(self):
        job = self.busy("-t", "30")
        self.assertIn(f"Job {job} (wrap, {ME}) is running on n1 since ", self.why(job))
        self.cluster.ok("scancel", job)
        self.becomes(job, "%T", "CANCELLED")
        self.assertIn("as CANCELLED", self.why(job))
        self.assertIn("job 99999 is not known here", self.refused("spur", "why", "99999"))
        self.assertIn("is not a job id", self.refused("spur", "why", "x1"))

    def test_test_only_says_when_and_where_and_submits_nothing(self):
        done = self.cluster.run("sbatch", "--test-only", "-N2", "-n3", "--wrap", "true")
        self.assertRegex(done.stderr, r"^sbatch: Job \d+ to start at 20\S+ using \d+ processors on nodes n\[1-2\] in partition main\n$")
        holder = self.busy("-N4", "-t", "30")
        done = self.cluster.run("srun", "--test-only", "-N2", "true")
        self.assertRegex(done.stderr, r"^srun: Job \d+ to start at 20\S+ using \d+ processors on nodes \S+ in partition main\n$")
        self.assertIn(f"to start at {self.cluster.job(holder)['EndTime'][:16]}", done.stderr)
        self.assertEqual(self.queue("%i"), [str(holder)])
        self.assertIn("allocation failure: Requested node configuration is not available", self.refused("sbatch", "--test-only", "-N9", "--wrap", "true"))

    def test_squeue_start_shows_the_expected_start_and_nodes(self):
        holder = self.busy("-N4", "-t", "30")
        job = self.cluster.submit("-N2", "-t", "10", "--wrap", "true")
        end = self.cluster.job(holder)["EndTime"][:15]
        self.becomes(job, "%r", "Resources")
        eventually(lambda: self.field(job, "%S").startswith(end), f"it is expected when job {holder} ends, {end}")
        lines = self.cluster.ok("squeue", "--start").splitlines()
        self.assertEqual(lines[0].split(), "JOBID PARTITION NAME USER ST START_TIME NODES SCHEDNODES NODELIST(REASON)".split())
        self.assertEqual([line.split()[0] for line in lines[1:]], [str(job)])


if __name__ == "__main__":
    unittest.main()
