"""Job arrays through the commands: ids, compression, limits, environment, output names."""
import unittest

from shared_case import SharedCluster
from spur_cluster import eventually


class Arrays(SharedCluster):
    def test_a_hundred_thousand_ids_are_one_line_until_tasks_start(self):
        job = self.cluster.submit("--hold", "--array=0-99999:7%50", "--wrap", "true")
        self.assertEqual(self.queue("%i|%F|%K|%r"), [f"{job}_[0-99995:7%50]|{job}|0-99995:7%50|JobHeldUser"])
        self.assertEqual(len(self.queue("%i", "-r")), 14286)
        self.assertEqual(self.cluster.job(job)["ArrayTaskThrottle"], "50")

    def test_every_command_takes_tasks_in_every_spelling(self):
        job = self.cluster.submit("--hold", "--array=1-10%2", "--wrap", "true")
        self.cluster.ok("scontrol", "hold", f"{job}_3")
        self.assertEqual(self.queue("%i|%r"), [f"{job}_[1-10]|JobHeldUser,JobHeldAdmin"])
        self.cluster.ok("scontrol", "update", f"jobid={job}_[6-7]", "timelimit=7")
        self.assertEqual(self.queue("%i|%l", "-j", f"{job}_[5-7]"), [f"{job}_5|UNLIMITED", f"{job}_6|7:00", f"{job}_7|7:00"])
        self.assertEqual(self.cluster.job(f"{job}_6")["ArrayTaskId"], "6")
        self.cluster.ok("scancel", f"{job}_[4-5]")
        self.assertEqual(self.queue("%i"), [f"{job}_[1-3,6-10]"])
        self.cluster.ok("scancel", f"{job}_1", f"{job}_2")
        self.assertEqual(self.queue("%i"), [f"{job}_[3,6-10]"])
        self.cluster.ok("scancel", f"{job}_*")
        self.assertEqual(self.queue("%i"), [])

    def test_the_limit_keeps_tasks_back_and_can_be_changed(self):
        job = self.cluster.submit("--array=1-6%2", "--wrap", "sleep 1000")
        self.becomes(job, "%i|%t|%R", f"{job}_[3-6%2]|PD|(JobArrayTaskLimit)\n{job}_1|R|n1\n{job}_2|R|n2")
        self.cluster.ok("scontrol", "update", f"jobid={job}", "arraytaskthrottle=3")
        eventually(lambda: len(self.queue("%i", "-t", "R")) == 3, "a third task runs")
        self.cluster.ok("scancel", f"{job}_1")
        eventually(lambda: self.queue("%i", "-t", "R") == [f"{job}_2", f"{job}_3", f"{job}_4"], "the next task follows the one that ended")
        self.assertEqual(self.queue("%i", "-t", "PD"), [f"{job}_[5-6%3]"])

    def test_a_requeued_task_waits_in_its_arrays_line(self):
        job = self.cluster.submit("--array=1-6%2", "--wrap", "sleep 1000")
        self.runs(f"{job}_2")
        self.cluster.ok("scontrol", "requeuehold", f"{job}_1")
        self.runs(f"{job}_3")
        self.becomes(f"{job}_1", "%t|%r", "PD|job requeued in held state")
        eventually(lambda: self.queue("%i|%R", "-t", "PD") == [f"{job}_[1,4-6]|(JobArrayTaskLimit,job requeued in held state)"], "both reasons")
        self.cluster.ok("scontrol", "release", f"{job}_1")
        self.becomes(f"{job}_1", "%r", "JobArrayTaskLimit")

    def test_tasks_know_who_they_are_and_write_files_of_their_own(self):
        script = self.cluster.script("echo $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $SLURM_ARRAY_TASK_COUNT $SLURM_ARRAY_TASK_MIN "
                                     "$SLURM_ARRAY_TASK_MAX $SLURM_ARRAY_TASK_STEP\n")
        job = self.cluster.submit("--array=2-8:3", "-o", "arr-%A-%a.txt", "--wait", script)
        for task in (2, 5, 8):
            self.assertEqual(self.cluster.read(f"arr-{job}-{task}.txt"), f"{job} {task} 3 2 8 3\n")

    def test_the_whole_array_can_be_held_released_requeued_and_cancelled_by_filter(self):
        job = self.cluster.submit("--array=1-3", "-J", "sweep", "--wrap", "sleep 1000")
        self.runs(f"{job}_3")
        self.cluster.ok("scontrol", "hold", job)
        self.cluster.ok("scontrol", "requeue", job)
        eventually(lambda: [line.split("|")[1] for line in self.queue("%i|%t", "-r")] == ["PD"] * 3, "all wait, held")
        self.cluster.ok("scontrol", "release", job)
        self.runs(f"{job}_1")
        done = self.cluster.run("scancel", "-n", "sweep")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        eventually(lambda: not self.queue("%i"), "all are gone")

    def test_a_bad_array_is_refused(self):
        for text in ("5-1", "x", "1-3%x", "1-9999999"):
            self.assertIn("Invalid job array specification", self.refused("sbatch", "--array=" + text, "--wrap", "true"), text)


if __name__ == "__main__":
    unittest.main()
