"""The job_submit plugins: asked one after the other at submission, they change jobs and refuse them."""
import unittest

from shared_case import SharedCluster


class JobSubmit(SharedCluster):
    nodes = 2
    partitions = '[[partitions]]\nname = "side"\nnodes = "n2"\n'
    settings = {
        "plugins": 'job_submit = ["job_submit/require_timelimit", "job_submit/all_partitions"]',
        'plugin."job_submit/require_timelimit"': 'message = "Say how long it may run"',
    }

    def test_a_job_that_names_no_partition_may_run_in_all(self):
        job = self.cluster.submit("-H", "-t", "5", "--wrap", "true")
        self.assertEqual(self.field(job, "%P"), "main,side")
        named = self.cluster.submit("-H", "-t", "5", "-p", "side", "--wrap", "true")
        self.assertEqual(self.field(named, "%P"), "side")

    def test_a_job_without_a_time_limit_is_refused_with_the_sentence_of_the_plugin(self):
        self.assertIn("Say how long it may run", self.refused("sbatch", "--wrap", "true"))
        self.assertIn("Say how long it may run", self.refused("srun", "true"))
        self.assertIn("Say how long it may run", self.refused("sbatch", "--test-only", "--wrap", "true"))
        self.assertEqual(self.queue("%i"), [])
        self.ends(self.cluster.submit("-t", "5", "--wrap", "true"))

    def test_both_are_listed_as_active(self):
        listed = self.cluster.ok("spur", "plugin", "stats")
        for name in ("job_submit/require_timelimit", "job_submit/all_partitions"):
            self.assertIn(name, listed)


if __name__ == "__main__":
    unittest.main()
