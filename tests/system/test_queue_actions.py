"""What users and operators do to jobs: hold, release, requeue, suspend, change, make smaller; and when jobs begin and end."""
import os
import time
import unittest

from shared_case import SharedCluster
from spur_cluster import eventually


class Actions(SharedCluster):
    def test_holds_are_the_users_or_the_operators(self):
        self.busy("-N4")
        job = self.cluster.submit("--wrap", "true")
        for hold, reason in (("hold", "JobHeldAdmin"), ("uhold", "JobHeldUser")):
            self.cluster.ok("scontrol", hold, job)
            self.assertEqual(self.field(job, "%r|%Q"), f"{reason}|0")
            self.assertEqual(self.refused("scontrol", "update", f"jobid={job}", "priority=3"),
                             f"Job is in held state, pending scheduler release for job {job}")
            self.cluster.ok("scontrol", "release", job)
            self.becomes(job, "%r", "Resources")

    def test_a_running_job_that_is_held_stays_so_when_it_is_requeued(self):
        job = self.busy()
        self.cluster.ok("scontrol", "hold", job)
        self.assertEqual(self.cluster.state(job), "RUNNING")
        self.cluster.ok("scontrol", "requeue", job)
        self.becomes(job, "%T|%r", "PENDING|JobHeldAdmin")
        self.cluster.ok("scontrol", "release", job)
        self.runs(job)
        self.assertEqual(self.cluster.job(job)["Restarts"], "1")

    def test_requeue_needs_a_batch_job_that_allows_it(self):
        job = self.busy("--no-requeue")
        self.assertEqual(self.refused("scontrol", "requeue", job), f"Requested operation is presently disabled for job {job}")
        self.cluster.ok("scontrol", "update", f"jobid={job}", "requeue=1")
        self.cluster.ok("scontrol", "requeuehold", job)
        self.becomes(job, "%T|%r", "PENDING|job requeued in held state")
        self.assertEqual(self.refused("scontrol", "requeue", job), f"Job is pending execution for job {job}")
        self.cluster.ok("scontrol", "release", job)
        self.runs(job)

    def test_a_special_exit_is_held_under_a_state_of_its_own(self):
        job = self.busy()
        self.cluster.ok("scontrol", "requeuehold", "State=SpecialExit", job)
        self.becomes(job, "%t", "SE")
        self.cluster.ok("scontrol", "release", job)
        self.runs(job)

    def test_a_script_knows_that_it_was_requeued(self):
        job = self.cluster.submit("-o", "restart.txt", "--wrap", 'echo ${SLURM_RESTART_COUNT:-first}; [ "$SLURM_RESTART_COUNT" ] || sleep 1000')
        eventually(lambda: self.cluster.read("restart.txt") == "first\n", "the job has begun")
        self.cluster.ok("scontrol", "requeue", job)
        self.ends(job)
        self.assertEqual(self.cluster.read("restart.txt"), "1\n")

    def test_suspended_jobs_stand_still_and_give_their_cores_away(self):
        job = self.busy("-N4", "--exclusive")
        other = self.cluster.submit("--wrap", "true")
        self.cluster.ok("scontrol", "suspend", job)
        self.becomes(job, "%t", "S")
        self.cluster.ok("scontrol", "suspend", job)
        self.assertEqual(self.refused("scontrol", "suspend", other), f"Job is pending execution for job {other}")
        self.cluster.ok("scontrol", "resume", job)
        self.becomes(job, "%t", "R")
        self.assertEqual(self.refused("scontrol", "resume", job), f"Job is not suspended for job {job}")

    def test_nice_and_priority_decide_who_is_first(self):
        blocker = self.busy("-N4")
        low, high = self.cluster.submit("-N4", "--nice=100", "--wrap", self.gate("nice")), self.cluster.submit("-N4", "--wrap", self.gate("nice"))
        top = self.cluster.submit("-N4", "--priority=4294967290", "--wrap", self.gate("nice"))
        self.becomes(top, "%r|%Q", "Resources|4294967290")
        self.becomes(low, "%r", "Priority")
        order = [line.split("|")[0] for line in self.cluster.ok("squeue", "-h", "-t", "PD", "-o", "%i|%y").splitlines()]
        self.assertEqual(order, [str(top), str(high), str(low)])
        self.cluster.ok("scontrol", "update", f"jobid={top}", "priority=1")
        self.cluster.ok("scontrol", "top", low)
        self.becomes(top, "%r", "Priority")
        self.cluster.ok("scancel", blocker)
        self.runs(low)
        self.open_gate("nice")
        self.ends(top)

    def test_begin_times_are_waited_for_and_shown(self):
        job = self.cluster.submit("--begin=now+1hour", "-t", "10", "--wrap", "true")
        self.assertEqual(self.field(job, "%r"), "BeginTime")
        record = self.cluster.job(job)
        self.assertNotIn("Unknown", (record["StartTime"], record["EndTime"]))
        self.assertEqual(self.field(job, "%S"), record["StartTime"])
        self.cluster.ok("scontrol", "update", f"jobid={job}", "starttime=now")
        self.ends(job)
        soon = time.time()
        self.ends(self.cluster.submit("--begin=now+1", "--wrap", "true"))
        self.assertGreaterEqual(time.time() - soon, 0.5)

    def test_a_job_that_cannot_meet_its_deadline_ends(self):
        self.busy("-N4", "--exclusive")
        job = self.cluster.submit("--deadline=now+1minute", "-t", "0:59", "--wrap", "true")
        self.assertEqual(self.ends(job, "DEADLINE")["Reason"], "DeadLine")

    def test_immediate_means_now_or_not_at_all(self):
        self.busy("-N4", "--exclusive")
        begun = time.monotonic()
        sentence = "Unable to allocate resources: Immediate execution impossible, insufficient priority"
        self.assertEqual(self.refused("srun", "-I", "true"), f"srun: error: {sentence}")
        self.assertIn(f"salloc: error: {sentence}\nsalloc: Job allocation", self.refused("salloc", "-I1", "true"))
        self.assertLess(time.monotonic() - begun, 25)
        self.assertEqual(self.queue("%i", "-t", "PD"), [])

    def test_time_limits_change_by_values_and_differences(self):
        job = self.busy("-t", "10")
        for typed, shown in (("timelimit=20", "20:00"), ("timelimit=+5", "25:00"), ("timelimit-=10", "15:00"), ("timelimit=1-0", "1-00:00:00")):
            self.cluster.ok("scontrol", "update", f"jobid={job}", typed)
            self.assertEqual(self.field(job, "%l"), shown)
        self.assertEqual(self.refused("scontrol", "update", f"jobid={job}", "timelimit=bogus"), "scontrol: error: Invalid TimeLimit value")
        self.cluster.ok("scontrol", "update", f"jobid={job}", "endtime=now+30minutes")
        self.assertIn(self.cluster.job(job)["TimeLimit"], ("00:30:00", "00:31:00"))

    def test_every_common_key_of_a_waiting_job_can_be_changed(self):
        job = self.cluster.submit("-H", "--wrap", "true")
        changes = {"JobName": "other", "Nice": "7", "TimeLimit": "00:20:00", "TimeMin": "00:05:00", "Comment": "hello", "AdminComment": "note",
                   "ReqNodeList": "n1", "ExcNodeList": "n2", "Contiguous": "1", "Requeue": "0", "MinMemoryNode": "200M", "MinTmpDiskNode": "0",
                   "StdOut": "/tmp/x", "WorkDir": "/tmp", "Account": "physics", "NumTasks": "3", "CPUs/Task": "2"}
        typed = {"CPUs/Task": "cpuspertask", "MinMemoryNode": "minmemorynode"}
        values = {"MinMemoryNode": "200"}
        self.cluster.ok("scontrol", "update", f"jobid={job}", *(f"{typed.get(key, key)}={values.get(key, value)}" for key, value in changes.items()),
                        "mailuser=me", "mailtype=END,FAIL", "switches=1@5", "delayboot=5", "reqsockets=1", "reqcores=1", "reqthreads=1", "oversubscribe=yes")
        record = self.cluster.job(job)
        self.assertEqual({key: record[key] for key in changes}, changes)
        self.assertEqual((record["MailType"], record["Switches"], record["DelayBoot"], record["Socks/Node"]), ("END,FAIL", "1@00:05:00", "00:05:00", "1"))
        self.assertIn("not supported: bogus=1", self.refused("scontrol", "update", f"jobid={job}", "bogus=1"))
        self.assertEqual(self.refused("scontrol", "update", f"jobid={job}", "partition=nope"), f"Invalid partition name specified for job {job}")

    def test_what_a_job_asked_for_is_fixed_once_it_runs(self):
        job = self.busy()
        for change in ("features=x", "numtasks=9", "starttime=now+1hour", "partition=other"):
            self.assertRegex(self.refused("scontrol", "update", f"jobid={job}", change), "Job is no longer pending|Invalid partition", change)
        self.cluster.ok("scontrol", "update", f"jobid={job}", "name=running", "comment=x", "priority=4", "partition=main")
        self.assertEqual(self.field(job, "%j|%k"), "running|x")

    def test_a_running_job_gives_nodes_back_and_gets_a_script_for_its_environment(self):
        script = self.cluster.script("scontrol update jobid=$SLURM_JOB_ID numnodes=1; . ./slurm_job_${SLURM_JOB_ID}_resize.sh\n"
                                     "echo $SLURM_JOB_NODELIST $SLURM_NNODES ${SLURM_TASKS_PER_NODE:-unset} > smaller.txt\n" + self.gate("smaller") + "\n")
        job = self.cluster.submit("-N3", "--exclusive", script)
        eventually(lambda: self.cluster.read("smaller.txt"), "the job has made itself smaller")
        self.assertEqual(self.cluster.read("smaller.txt"), "n1 1 unset\n")
        record = self.cluster.job(job)
        self.assertEqual((record["NumNodes"], record["NodeList"], record["NumTasks"]), ("1", "n1", "1"))
        self.assertIn("ResizeTime", record)
        self.assertTrue(os.path.exists(f"{self.cluster.work}/slurm_job_{job}_resize.csh"))
        self.runs(self.cluster.submit("-N3", "--exclusive", "--wrap", "sleep 1000"))
        self.assertEqual(self.refused("scontrol", "update", f"jobid={job}", "numnodes=3"),
                         f"Requested operation not supported on this system for job {job}")
        self.open_gate("smaller")
        self.ends(job)

    def test_unknown_jobs_and_names_are_told(self):
        for action in ("hold", "release", "requeue", "requeuehold", "suspend", "resume", "top"):
            self.assertEqual(self.refused("scontrol", action, 99999), "Invalid job id specified for job 99999")
        self.cluster.submit("-H", "-J", "named", "--wrap", "true")
        self.cluster.ok("scontrol", "hold", "name=named")
        self.assertEqual(self.queue("%r"), ["JobHeldAdmin"])
        self.cluster.ok("scontrol", "release", "jobname=named")


if __name__ == "__main__":
    unittest.main()
