"""spur sim record: a live cluster's jobs become a trace, and the trace replays against the cluster's own configuration."""
import json
import signal
import unittest

from spur_cluster import Cluster, eventually


class Record(unittest.TestCase):
    def test_jobs_before_and_during_the_recording_are_in_the_trace_and_replay(self):
        with Cluster(nodes=2, cpus=2, settings={"plugins": 'sched = "sched/fifo"'}) as cluster:
            early = cluster.submit("--wrap", "true", "-t", "5")
            cluster.wait_ended(early)
            recorder = cluster.popen("spur", "sim", "record", "day.jsonl")
            try:
                eventually(lambda: f'"id":"{early}"' in cluster.read("day.jsonl"), "the job from before is written")
                late = cluster.submit("--wrap", "exit 3", "-N", "2")
                held = cluster.submit("-H", "--wrap", "true")
                eventually(lambda: f'"id":"{late}"' in cluster.read("day.jsonl"), "the job is written once it is over")
            finally:
                recorder.send_signal(signal.SIGINT)
                _, said = recorder.communicate(timeout=30)
            self.assertEqual(recorder.returncode, 0, said)
            self.assertIn("2 jobs are in day.jsonl", said)

            lines = [json.loads(line) for line in cluster.read("day.jsonl").splitlines()]
            jobs = {line["id"]: line for line in lines if "id" in line}
            self.assertNotIn(str(held), jobs)
            self.assertEqual(jobs[str(early)]["time"], 300)
            self.assertTrue(jobs[str(late)]["fails"])
            self.assertEqual(jobs[str(late)]["nodes"], 2)

            report = json.loads(cluster.ok("spur", "sim", "--json", "-c", cluster.controllers[0].config, "day.jsonl"))["simulations"][0]
            self.assertEqual(report["jobs"]["submitted"], 2)
            self.assertEqual(report["jobs"]["completed"], 1)
            self.assertEqual(report["jobs"]["failed"], 1)

    def test_a_recording_ends_when_its_time_is_over(self):
        with Cluster(nodes=1) as cluster:
            cluster.ok("spur", "sim", "--record", "--for", "0:01", "short.jsonl")
            self.assertIn('"trace": 1', cluster.read("short.jsonl"))


if __name__ == "__main__":
    unittest.main()
