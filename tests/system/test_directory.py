"""A directory service that hangs must not take the cluster with it."""
import os
import unittest

from spur_cluster import BUILD, Cluster, eventually


class HangingDirectory(unittest.TestCase):
    def start(self):
        cluster = Cluster(nodes=1, cpus=4)
        self.file = os.path.join(cluster.dir, "hangs")
        controller = cluster.controllers[0]
        controller.env = {**os.environ, "LD_PRELOAD": os.path.join(BUILD, "tests", "lib", "libhanging_directory.so"),
                          "SPUR_TEST_DIRECTORY_HANGS": self.file}
        return cluster

    def hang(self):
        open(self.file, "w").close()

    def test_those_it_has_told_of_work_on_and_others_are_refused_in_time(self):
        with self.start() as cluster:
            gate = os.path.join(cluster.dir, "gate")
            running = cluster.submit("--wrap", f"while ! test -e {gate}; do sleep 0.1; done")
            cluster.wait_state(running, "RUNNING")
            waiting = cluster.submit("--exclusive", "--wrap", "id -G")
            self.hang()

            # What goes on in the cluster goes on: an end is heard of, the next job starts with its groups, listings answer.
            open(gate, "w").close()
            self.assertEqual(cluster.wait_ended(running)["JobState"], "COMPLETED")
            self.assertEqual(cluster.wait_ended(waiting)["JobState"], "COMPLETED")
            groups = set(cluster.read(f"slurm-{waiting}.out").split())
            self.assertEqual(groups, {str(group) for group in {os.getgid(), *os.getgroups()}})
            self.assertIn("n1", cluster.ok("sinfo", "-h", "-N"))
            self.assertEqual(cluster.wait_ended(cluster.submit("--wrap", "true"))["JobState"], "COMPLETED")

            # A controller that knows nobody yet says so, and answers what it can.
            cluster.controllers[0].kill()
            cluster.controllers[0].start()
            eventually(cluster.controllers[0].is_serving, "it serves")
            cluster.wait_nodes()
            refused = cluster.run("sbatch", "--wrap", "true")
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("the directory service (users and groups)", refused.stderr)
            self.assertIn("n1", cluster.ok("sinfo", "-h", "-N"))
            os.unlink(self.file)
            eventually(lambda: cluster.run("sbatch", "--wrap", "true").returncode == 0, "jobs are taken again")


if __name__ == "__main__":
    unittest.main()
