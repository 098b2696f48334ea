"""The controller's state is put back from a copy, or lost, while its agents run on; and two agents claim one name."""
import os
import re
import shutil
import unittest

from spur_cluster import Agent, Cluster, eventually

HOLD_ON = "echo begun; while [ ! -e go ]; do sleep 0.05; done"


class OlderState(unittest.TestCase):
    def state(self, cluster):
        return os.path.join(cluster.controllers[0].folder, "state")

    def backup(self, cluster):
        controller = cluster.controllers[0]
        controller.stop()
        copy = os.path.join(cluster.dir, "backup")
        shutil.copytree(self.state(cluster), copy)
        self.restart(cluster)
        return copy

    def restart(self, cluster):
        controller = cluster.controllers[0]
        controller.start()
        eventually(controller.is_serving, "the controller serves")
        cluster.wait_nodes()

    def put_back(self, cluster, copy=None):
        controller = cluster.controllers[0]
        controller.kill()
        shutil.rmtree(self.state(cluster))
        if copy:
            shutil.copytree(copy, self.state(cluster))
        else:
            os.mkdir(self.state(cluster), 0o700)
        self.restart(cluster)

    def run_job(self, cluster, word):
        job = cluster.submit("-o", f"{word}.%j", "--wrap", f"echo {word}")
        record = cluster.wait_ended(job)
        self.assertEqual(record["JobState"], "COMPLETED", record)
        self.assertEqual(cluster.read(f"{word}.{job}"), f"{word}\n")
        return job

    def test_jobs_run_after_an_older_copy_was_put_back_and_everybody_says_so(self):
        with Cluster(nodes=1) as cluster:
            self.run_job(cluster, "before")
            copy = self.backup(cluster)
            lost = [self.run_job(cluster, "lost") for _ in range(3)]
            running = cluster.submit("-o", "running", "--wrap", HOLD_ON)
            eventually(lambda: "begun" in cluster.read("running"), "it runs")
            self.put_back(cluster, copy)
            controller, agent = cluster.controllers[0], cluster.agents["n1"]
            eventually(lambda: "an older copy was put back" in controller.text(), "the controller says so")
            self.assertIn("an older copy of it was put back", agent.text())
            self.assertIn("an older copy was put back", cluster.show("node", "n1")["Reason"])
            self.assertGreater(self.run_job(cluster, "after"), max(*lost, running), "ids are not given a second time")
            eventually(lambda: not cluster.step_daemons(), "what the state does not know is ended")

    def test_jobs_run_after_the_state_was_lost_though_their_ids_have_been_here(self):
        with Cluster(nodes=1) as cluster:
            first = [self.run_job(cluster, "first") for _ in range(2)]
            running = cluster.submit("-o", "running", "--wrap", HOLD_ON)
            eventually(lambda: "begun" in cluster.read("running"), "it runs")
            self.put_back(cluster)
            eventually(lambda: "another history of this cluster" in cluster.controllers[0].text(), "the controller says so")
            self.assertIn("it was founded anew", cluster.agents["n1"].text())
            again = [self.run_job(cluster, "again") for _ in range(3)]
            self.assertEqual(again, [*first, running], "the numbers begin anew, and are run")

    def test_a_job_whose_end_was_lost_with_the_state_ends_as_it_did(self):
        with Cluster(nodes=1) as cluster:
            job = cluster.submit("-o", "out", "--open-mode=append", "--wrap", HOLD_ON + "; exit 7")
            eventually(lambda: "begun" in cluster.read("out"), "it runs")
            copy = self.backup(cluster)
            open(os.path.join(cluster.work, "go"), "w").close()
            cluster.wait_ended(job)
            self.put_back(cluster, copy)
            record = cluster.wait_ended(job)
            self.assertEqual((record["JobState"], record["ExitCode"]), ("FAILED", "7:0"))
            self.assertEqual(cluster.read("out"), "begun\n", "it was not run a second time")


class TwoAgentsWithOneName(unittest.TestCase):
    def test_the_second_is_turned_away_and_the_log_names_both(self):
        with Cluster(nodes=1) as cluster:
            first, controller = cluster.agents["n1"], cluster.controllers[0]
            second = Agent(cluster, "n1")
            second.log, second.state, second.boot_id = (os.path.join(cluster.dir, name) for name in ("second.log", "second", "second-boot"))
            os.mkdir(second.state)
            second.start()
            try:
                said = eventually(lambda: re.search("two agents say they are node n1: the one at (.*) has the session, the one at (.*) is turned",
                                                    controller.text()), "the controller says so")
                self.assertNotEqual(said[1], said[2])
                eventually(lambda: "refused this node: two agents" in second.text(), "the second says so")
                job = cluster.submit("--wrap", "true")
                self.assertEqual(cluster.wait_ended(job)["JobState"], "COMPLETED")
                self.assertEqual(controller.text().count("two agents say"), 1, "once, not at every attempt")
                self.assertNotIn("lost the controller", first.text())
                self.assertNotIn("joined cluster", second.text())
                first.kill()
                eventually(second.has_joined, "once the first has gone the second has the name")
            finally:
                second.kill()


if __name__ == "__main__":
    unittest.main()
