"""sacct beside Slurm's: the workload of tests/compare on our own daemons, and every command line answered as a real Slurm 22.05 answered it."""
import difflib
import os
import sys
import unittest

from history import History
from spur_cluster import BUILD, Cluster, free_port

COMPARE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "compare")
sys.path.insert(0, COMPARE)
from sacct_workload import Workload, command_lines  # noqa: E402

PARTITIONS = """default_time = "60"
[[partitions]]
name = "small"
nodes = "n[1-2]"
max_time = "30"
default_time = "10"
"""

# Where ours is known to differ: a run that waits on hold after `scontrol requeuehold` is eligible in Slurm, and not in ours.
KNOWN = {"sacct -s CA -S midnight -E now -X -P -o jobid,state,eligible", "sacct -S midnight -E tomorrow -X -b"}

# A job that runs out of time: whether its derived exit code is that of the signal depends on which of its processes ends first.
VARIES = {"sacct -j {late} -P -o jobid,state,exitcode,derivedexitcode,reason"}


def expectations():
    """Slurm's answer to each command line."""
    answers, line = {}, None
    with open(os.path.join(COMPARE, "expected", "sacct.txt")) as file:
        for text in file:
            if text.startswith("$ "):
                line = text[2:].rstrip("\n")
                answers[line] = ""
            else:
                answers[line] += text
    return {line: answer.rstrip("\n") for line, answer in answers.items()}


@unittest.skipUnless(os.geteuid() == 0, "Slurm's answers were recorded for root's jobs")
class Sacct(unittest.TestCase):
    def test_every_command_line_is_answered_as_by_slurm(self):
        port = free_port()
        settings = {"accounting": f'host = "127.0.0.1:{port}"\nstore_flags = ["job_comment", "job_env", "job_script"]\n',
                    "scheduler": "", "jobs": "kill_wait = 1\ndisable_root_jobs = false\ndef_mem_per_cpu = 100\n"}
        expected = expectations()
        self.assertEqual(list(expected), command_lines(), "the answers are those of other command lines: record them anew")
        with Cluster(nodes=4, cpus=4, settings=settings, partitions=PARTITIONS, node_lines='features = ["fast", "amd"]') as cluster:
            History(cluster, "", port).start()
            workload = Workload(os.path.join(BUILD, "slurm-bin"), cluster.environment(), cluster.work)
            workload.all()
            wrong = []
            for line in command_lines():
                if line in VARIES:
                    continue
                answer = workload.answer(line).rstrip("\n")
                if line in KNOWN:
                    self.assertNotEqual(answer, expected[line], f"{line} is answered as by Slurm now: it is no known difference any more")
                elif answer != expected[line]:
                    wrong.append("\n".join([f"$ {line}", *list(difflib.unified_diff(expected[line].splitlines(), answer.splitlines(), "Slurm", "ours", lineterm="", n=1))[2:]]))
            workload.end()
            if wrong:
                cluster.keep = True
            self.assertEqual(wrong, [], f"{len(wrong)} of {len(expected)} are answered differently:\n" + "\n".join(wrong))


if __name__ == "__main__":
    unittest.main()
