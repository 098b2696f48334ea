"""The everyday commands through real daemons: one controller, two nodes of two CPUs."""
import os
import signal
import subprocess
import unittest

from spur_cluster import Cluster, eventually, program


class OneCluster(unittest.TestCase):
    """All tests of a class share one cluster; each uses jobs of its own."""

    settings = {}

    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(nodes=2, cpus=2, settings=cls.settings).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            self.cluster.keep = True

    def ends(self, job, state, exit_code):
        record = self.cluster.wait_ended(job)
        self.assertEqual((record["JobState"], record["ExitCode"]), (state, exit_code), record)
        return record


class Jobs(OneCluster):
    def test_a_job_that_succeeds_is_completed_and_its_output_is_in_slurm_id_out(self):
        job = self.cluster.submit("--wrap", "echo hello from $SLURM_JOB_ID; echo oops >&2")
        self.ends(job, "COMPLETED", "0:0")
        self.assertEqual(self.cluster.read(f"slurm-{job}.out"), f"hello from {job}\noops\n")

    def test_a_failing_script_leaves_its_exit_code(self):
        self.ends(self.cluster.submit("--wrap", "exit 7"), "FAILED", "7:0")

    def test_a_script_that_dies_of_a_signal_leaves_that_signal(self):
        self.ends(self.cluster.submit("--wrap", "kill -KILL $$"), "FAILED", "0:9")

    def test_output_and_error_go_where_the_patterns_say(self):
        job = self.cluster.submit("-J", "named", "-o", "%x-%j.txt", "-e", "%j-%N.err", "--wrap", "echo out; echo err >&2")
        self.assertEqual(self.cluster.wait_ended(job)["JobState"], "COMPLETED")
        self.assertEqual(self.cluster.read(f"named-{job}.txt"), "out\n")
        node = self.cluster.job(job)["BatchHost"]
        self.assertEqual(self.cluster.read(f"{job}-{node}.err"), "err\n")

    def test_directives_in_the_script_and_a_script_on_standard_input_are_followed(self):
        text = "#!/bin/sh\n#SBATCH -J from-stdin\n#SBATCH --output=stdin.txt\necho $SLURM_JOB_NAME $1\n"
        job = self.cluster.submit(input=text)
        self.assertEqual(self.cluster.wait_ended(job)["JobName"], "from-stdin")
        self.assertEqual(self.cluster.read("stdin.txt"), "from-stdin\n")

    def test_a_held_job_waits_until_it_is_released(self):
        job = self.cluster.submit("-H", "--wrap", "true")
        record = self.cluster.job(job)
        self.assertEqual((record["JobState"], record["Reason"]), ("PENDING", "JobHeldUser"))
        self.cluster.ok("scontrol", "release", job)
        self.ends(job, "COMPLETED", "0:0")

    def test_a_pending_job_can_be_held_and_changed(self):
        job = self.cluster.submit("--begin=now+1hour", "--wrap", "true")
        self.cluster.ok("scontrol", "hold", job)
        self.assertEqual(self.cluster.job(job)["Priority"], "0")
        self.cluster.ok("scontrol", "update", f"jobid={job}", "name=renamed", "timelimit=17")
        record = self.cluster.job(job)
        self.assertEqual((record["JobName"], record["TimeLimit"]), ("renamed", "00:17:00"))
        self.cluster.ok("scancel", job)
        self.assertEqual(self.cluster.state(job), "CANCELLED")

    def test_a_cancelled_job_ends_with_its_processes(self):
        mark = os.path.join(self.cluster.work, "sleeper.pid")
        job = self.cluster.submit("--wrap", f"sleep 600 & echo $! > {mark}; wait")
        pid = int(eventually(lambda: self.cluster.read("sleeper.pid").strip(), "the job has started"))
        self.cluster.ok("scancel", job)
        self.assertEqual(self.cluster.wait_ended(job)["JobState"], "CANCELLED")
        eventually(lambda: not alive(pid), "the job's process is gone")

    def test_scancel_with_a_signal_delivers_it(self):
        script = self.cluster.script("trap 'echo caught; exit 3' USR1\necho ready\nwhile :; do sleep 0.05; done\n")
        job = self.cluster.submit(script)
        eventually(lambda: "ready" in self.cluster.read(f"slurm-{job}.out"), "the job is ready")
        self.cluster.ok("scancel", "--batch", "--signal=USR1", job)
        self.ends(job, "FAILED", "3:0")
        self.assertIn("caught", self.cluster.read(f"slurm-{job}.out"))

    def test_a_requeued_job_runs_again(self):
        # The first time it waits; the second time it finds its own mark.
        job = self.cluster.submit("--wrap", "[ -e again.$SLURM_JOB_ID ] && exit 0; touch again.$SLURM_JOB_ID; sleep 600")
        eventually(lambda: os.path.exists(os.path.join(self.cluster.work, f"again.{job}")), "the first run has begun")
        self.cluster.ok("scontrol", "requeue", job)
        self.assertEqual(self.ends(job, "COMPLETED", "0:0")["Restarts"], "1")

    def test_every_task_of_an_array_runs_once(self):
        job = self.cluster.submit("-a", "1-5%2", "-o", "task-%A_%a.txt", "--wrap", "echo $SLURM_ARRAY_TASK_ID >> array.log")
        eventually(lambda: len(self.cluster.read("array.log").split()) == 5, "five tasks have run")
        eventually(lambda: not self.cluster.ok("squeue", "-h", "-j", job).strip(), "the array has left the queue")
        self.assertEqual(sorted(self.cluster.read("array.log").split()), ["1", "2", "3", "4", "5"])
        self.assertTrue(os.path.exists(os.path.join(self.cluster.work, f"task-{job}_3.txt")))

    def test_afterok_waits_for_success_and_never_follows_a_failure(self):
        first = self.cluster.submit("-H", "--wrap", "echo first >> order.log")
        second = self.cluster.submit(f"--dependency=afterok:{first}", "--wrap", "echo second >> order.log")
        self.assertEqual(self.cluster.job(second)["Reason"], "Dependency")
        self.cluster.ok("scontrol", "release", first)
        self.ends(second, "COMPLETED", "0:0")
        self.assertEqual(self.cluster.read("order.log"), "first\nsecond\n")
        bad = self.cluster.submit("--wrap", "exit 1")
        never = self.cluster.submit(f"--dependency=afterok:{bad}", "--wrap", "true")
        eventually(lambda: self.cluster.job(never)["Reason"] == "DependencyNeverSatisfied", "the dependency is broken")
        self.cluster.ok("scancel", never)

    def test_the_script_can_be_read_back_as_it_was_submitted(self):
        text = "#!/bin/sh\n# a script\necho done\n"
        job = self.cluster.submit("-H", self.cluster.script(text))
        self.assertEqual(self.cluster.ok("scontrol", "write", "batch_script", job, "-"), text)
        self.cluster.ok("scancel", job)

    def test_suspend_freezes_a_job_and_resume_lets_it_end(self):
        job = self.cluster.submit("--wrap", "while [ ! -e go.$SLURM_JOB_ID ]; do sleep 0.05; done")
        self.cluster.wait_state(job, "RUNNING")
        self.cluster.ok("scontrol", "suspend", job)
        self.cluster.wait_state(job, "SUSPENDED")
        open(os.path.join(self.cluster.work, f"go.{job}"), "w").close()
        self.cluster.ok("scontrol", "resume", job)
        self.ends(job, "COMPLETED", "0:0")


class Refusals(OneCluster):
    def test_a_partition_that_does_not_exist_is_refused(self):
        done = self.cluster.run("sbatch", "-p", "nowhere", "--wrap", "true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("invalid partition", done.stderr.lower())

    def test_a_job_that_is_not_there_is_an_error(self):
        for words in (("scontrol", "show", "job", "99999"), ("scontrol", "hold", "99999"), ("scancel", "-v", "99999")):
            done = self.cluster.run(*words)
            self.assertIn("Invalid job id", done.stderr + done.stdout, words)

    def test_an_unknown_option_is_an_error(self):
        done = self.cluster.run("sbatch", "--no-such-option", "--wrap", "true")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no-such-option", done.stderr)


class Steps(OneCluster):
    def test_srun_outside_an_allocation_makes_one_and_labels_lines(self):
        out = self.cluster.ok("srun", "-N", "2", "-n", "2", "-l", "printenv", "SLURM_PROCID")
        self.assertEqual(sorted(out.splitlines()), ["0: 0", "1: 1"])

    def test_a_range_of_nodes_is_as_many_as_are_free(self):
        nodes = lambda *words: self.cluster.ok("srun", *words, "sh", "-c", "echo $SLURM_JOB_NUM_NODES").split()
        self.assertEqual(nodes("-N1-2"), ["2", "2"])
        self.assertEqual(nodes("-N1-2", "--use-min-nodes"), ["1"])
        self.assertEqual(nodes("-N1-2", "-n1"), ["1"])

    def test_srun_ends_with_the_highest_exit_code_of_its_tasks(self):
        done = self.cluster.run("srun", "-n", "2", "sh", "-c", "exit $((SLURM_PROCID + 3))")
        self.assertEqual(done.returncode, 4, done.stderr)

    def test_srun_passes_standard_input_to_its_tasks(self):
        self.assertEqual(self.cluster.ok("srun", "-n", "1", "cat", input="one\ntwo\n"), "one\ntwo\n")

    def test_srun_inside_a_batch_job_uses_its_allocation(self):
        job = self.cluster.submit("-N", "2", "--ntasks-per-node=1", "--wrap", "srun -l printenv SLURM_JOB_ID; srun -n1 false; echo $?")
        self.assertEqual(self.cluster.wait_ended(job)["JobState"], "COMPLETED")
        lines = self.cluster.read(f"slurm-{job}.out").splitlines()
        self.assertEqual(sorted(line for line in lines if line[0].isdigit() and ": " in line), [f"0: {job}", f"1: {job}"])
        self.assertEqual(lines[-1], "1")

    def test_salloc_gives_its_command_an_allocation_and_its_exit_code(self):
        done = self.cluster.run("salloc", "-n", "1", "sh", "-c", "echo job $SLURM_JOB_ID; srun printenv SLURM_JOB_ID; exit 5")
        self.assertEqual(done.returncode, 5, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 2, done.stdout + done.stderr)
        self.assertEqual(lines[0], f"job {lines[1]}")
        eventually(lambda: self.cluster.state(lines[1]) in ("COMPLETED", "FAILED"), "the allocation is given back")

    def test_an_interrupted_srun_leaves_nothing_behind(self):
        process = self.cluster.popen("srun", "-J", "interrupted", "sh", "-c", "echo $$; exec sleep 600")
        try:
            pid = int(process.stdout.readline())
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=20)
        finally:
            process.kill()
            process.communicate()
        eventually(lambda: not alive(pid), "the task is gone")
        eventually(lambda: not self.cluster.ok("squeue", "-h", "-n", "interrupted").strip(), "the job has left the queue")


class Administration(OneCluster):
    def test_sinfo_shows_the_partition_and_its_nodes(self):
        eventually(lambda: self.cluster.ok("sinfo", "-h", "-o", "%P %D %T %N").split() == ["main*", "2", "idle", "n[1-2]"], "both are idle")

    def test_show_node_and_show_partition_say_what_is_configured(self):
        node = self.cluster.show("node", "n1")
        self.assertEqual((node["CPUTot"], node["RealMemory"], node["Partitions"]), ("2", "4000", "main"))
        partition = self.cluster.show("partition", "main")
        self.assertEqual((partition["Nodes"], partition["State"], partition["TotalCPUs"]), ("n[1-2]", "UP", "4"))

    def test_a_drained_node_takes_no_job_until_it_is_resumed(self):
        self.cluster.ok("scontrol", "update", "nodename=n2", "state=drain", "reason=broken fan")
        node = self.cluster.show("node", "n2")
        self.assertIn("DRAIN", node["State"])
        self.assertTrue(node["Reason"].startswith("broken fan"), node["Reason"])
        other = self.cluster.submit("--wrap", "true")
        self.assertEqual(self.cluster.wait_ended(other)["NodeList"], "n1")
        job = self.cluster.submit("-w", "n2", "--wrap", "true")
        self.assertEqual(self.cluster.state(job), "PENDING")
        self.cluster.ok("scontrol", "update", "nodename=n2", "state=resume")
        self.assertEqual(self.cluster.wait_ended(job)["NodeList"], "n2")

    def test_reconfigure_brings_in_a_new_partition_and_refuses_a_broken_file(self):
        cluster = self.cluster
        cluster.partitions = '[[partitions]]\nname = "extra"\nnodes = "n1"\n'
        cluster.write_config(cluster.controllers[0])
        cluster.ok("scontrol", "reconfigure")
        self.assertEqual(cluster.show("partition", "extra")["Nodes"], "n1")
        cluster.partitions = "[[partitions]]\nnaem = 1\n"
        cluster.write_config(cluster.controllers[0])
        # By hand: the commands would trip over the same file.
        cluster.controllers[0].signal(signal.SIGHUP)
        eventually(lambda: "naem" in cluster.controllers[0].text(), "the mistake is in the log")
        cluster.partitions = ""
        cluster.write_config(cluster.controllers[0])
        self.assertEqual(cluster.show("partition", "extra")["Nodes"], "n1")
        cluster.ok("scontrol", "reconfigure")
        self.assertEqual(cluster.show("partition", "extra"), {})

    def test_plugin_stats_names_the_plugins_and_counts_their_calls(self):
        out = self.cluster.ok("spur", "plugin", "stats")
        for plugin in ("sched/backfill", "select/gpu", "state/raft", "auth/local"):
            self.assertIn(plugin, out)

    def test_plugin_metrics_are_openmetrics_of_the_controller_and_of_a_node(self):
        out = self.cluster.ok("spur", "plugin", "metrics")
        self.assertIn("# TYPE spur_state_raft_entries counter", out)
        self.assertRegex(out, r"(?m)^spur_state_raft_entries_total [1-9][0-9e+.]*$")
        self.assertRegex(out, r'(?m)^spur_state_raft_commit_ns_bucket\{le="\+Inf"\} [1-9]')
        self.assertRegex(out, r'(?m)^spur_plugin_calls_total\{plugin="sched/backfill",op="plan"\} [0-9]')
        self.assertTrue(out.endswith("# EOF\n"))
        self.assertIn('spur_plugin_calls_total{plugin="auth/local"', self.cluster.ok("spur", "plugin", "metrics", "n1"))

    def test_ping_names_the_controller(self):
        self.assertIn("UP", self.cluster.ok("scontrol", "ping"))

    def test_a_graceful_restart_of_the_controller_keeps_jobs_and_their_ids_go_on(self):
        held = self.cluster.submit("-H", "--wrap", "true")
        running = self.cluster.submit("--wrap", "while [ ! -e go ]; do sleep 0.05; done; exit 6")
        self.cluster.wait_state(running, "RUNNING")
        controller = self.cluster.controllers[0]
        controller.stop()
        controller.start()
        eventually(controller.is_serving, "it serves again")
        self.assertEqual(self.cluster.state(held), "PENDING")
        self.assertGreater(self.cluster.submit("-H", "--wrap", "true"), running)
        open(os.path.join(self.cluster.work, "go"), "w").close()
        record = self.cluster.wait_ended(running)
        self.assertEqual((record["JobState"], record["ExitCode"]), ("FAILED", "6:0"))


def alive(pid):
    """Is there such a process, other than a zombie?"""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Trial(unittest.TestCase):
    def test_a_configuration_whose_state_directory_does_not_exist_yet_passes_and_is_left_so(self):
        cluster = Cluster(nodes=1, auth="\n")  # auth/local then keeps its key in the state directory
        try:
            controller = cluster.controllers[0]
            state = os.path.join(controller.folder, "state")
            os.rmdir(state)
            cluster.write_config(controller)
            done = subprocess.run([program("spurctld"), "-t", "-f", controller.config], capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertFalse(os.path.exists(state))
        finally:
            cluster.close()

    def test_a_mistake_in_a_plugins_options_is_an_error_and_no_other_plugin_hides_it(self):
        cluster = Cluster(nodes=1, settings={'plugin."sched/backfill"': 'windw = "1-0"\n'})
        try:
            controller = cluster.controllers[0]
            cluster.write_config(controller)
            done = subprocess.run([program("spurctld"), "-t", "-f", controller.config], capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, r'plugin sched/backfill has no option "windw"; did you mean "window"\? .* \(.*spur.conf:\d+\)')
        finally:
            cluster.close()


if __name__ == "__main__":
    unittest.main()
