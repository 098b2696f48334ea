"""Time limits. They count in whole minutes, as in Slurm, so this takes one; both jobs wait at the same time."""
import unittest

from spur_cluster import Cluster


class TimeLimits(unittest.TestCase):
    def test_jobs_past_their_limit_end_as_timeout_even_if_they_ignore_the_warning(self):
        with Cluster(nodes=2) as cluster:
            meek = cluster.submit("-t", "1", "--wrap", "sleep 600")
            stubborn = cluster.submit("-t", "1", cluster.script("trap 'echo asked' TERM\nwhile :; do sleep 0.2; done\n"))
            within = cluster.submit("-t", "2", "--begin=now", "--wrap", "true")
            for job in (meek, stubborn):
                record = cluster.wait_ended(job, patience=100)
                self.assertEqual(record["JobState"], "TIMEOUT", record)
                self.assertEqual(record["Reason"], "TimeLimit", record)
            self.assertIn("asked", cluster.read(f"slurm-{stubborn}.out"))
            self.assertIn("DUE TO TIME LIMIT", cluster.read(f"slurm-{meek}.out"))
            self.assertEqual(cluster.wait_ended(within)["JobState"], "COMPLETED")


if __name__ == "__main__":
    unittest.main()
