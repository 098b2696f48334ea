"""Plugins that go wrong while a controller runs with them: what it says, what it goes on doing, and how it ends."""

import json
import re
import signal
import time
import unittest

import corpus

# Plans that make no sense. The daemon says so, and the job still waits.
NONSENSE = {
    "names_unknown_nodes": r"plugin {type}: job \d+: names node 4000000, which does not exist",
    "names_unknown_partitions": r"plugin {type}: job \d+: names partition 77, which does not exist",
    "starts_nowhere": r"plugin {type}: job \d+: starts it on no node",
    "claims_all_bits": r"plugin {type}: job \d+: claims 4294967295 cores of node n1, which has \d+",
    "names_a_node_twice": r"plugin {type}: job \d+: names (node 0 twice|2 nodes, and there are 1)",
    "starts_strangers": r"plugin {type}: starts slot 123456, which holds no waiting job",
    "preempts_strangers": r"plugin {type}: preempts slot 99, which holds no running job",
    "brings_short_records": r"plugin {type}: job \d+: brings 3 generic resources of 4 bytes each on node n1",
    "throws_in_plan": r"scheduling cycle failed: plugin {type} threw an exception of unknown type out of plan\(\)",
    "plans_on_a_thread": r"plugin {type} breaks a rule: sink->waits\(\) was called from another thread than plan\(\)'s",
}

# Ends of the process: the last words on stderr, and the signal or the exit code.
DEADLY = {
    "segfaults_in_plan": (r"spurctld: plugin {type} crashed in plan \(job 1\): Segmentation fault\n", -corpus.SEGV),
    "aborts_in_plan": (r"spurctld: plugin {type} crashed in plan: Aborted\n", -corpus.ABRT),
    "overflows_in_plan": (r"spurctld: plugin {type} crashed in plan: Segmentation fault\n", -corpus.SEGV),
    "jumps_out_of_plan": (r"spurctld: plugin {type} crashed in plan: Aborted\n", -corpus.ABRT),
    "ends_its_thread": (r"plugin {type} ended the thread that called plan\(\) \(pthread_exit or pthread_cancel\)\n"
                        r"(?:.*\n)*spurctld: plugin {type} crashed in plan: Aborted\n", -corpus.ABRT),
    "exits_in_plan": (r"spurctld: plugin {type} called exit\(\) in plan\n", corpus.EX_SOFTWARE),
}


class Running(corpus.Case):
    def serve(self, name):
        self.bring(name)
        self.configure(name)
        return self.start_serving(name)

    def plan_calls(self, sched):
        stats = json.loads(self.run_program("spur", "plugin", "stats", "--json").stdout)
        return sum(op["calls"] for plugin in stats["plugins"] if plugin["type"] == sched for op in plugin["ops"] if op["op"] == "plan")

    def eventually(self, done):
        end = time.monotonic() + corpus.DEADLINE_S
        while not done() and time.monotonic() < end:
            time.sleep(0.02)
        return done()

    def assert_waits(self, job):
        run = self.run_program("spur", "squeue", "-h", "-o", "%i %t")
        self.assertIn(f"{job} PD", run.stdout.splitlines(), run.stderr)

    def test_plans_that_make_no_sense_are_named_and_not_carried_out(self):
        for name, words in NONSENSE.items():
            with self.subTest(name):
                daemon = self.serve(name)
                job = self.submit()
                self.assertTrue(daemon.wait_for(words.format(type=f"sched/{name}")), daemon.text())
                self.assert_waits(job)
                self.assertEqual(daemon.stop(), 0, daemon.text())

    def test_a_job_is_started_once_however_often_the_plan_says_so(self):
        daemon = self.serve("repeats_a_job")
        self.submit()
        self.assertTrue(daemon.wait_for(r"plugin sched/repeats_a_job: starts job \d+ more than once"), daemon.text())
        self.assertEqual(daemon.stop(), 0, daemon.text())

    def test_a_plan_that_oversubscribes_starts_what_fits_and_no_more(self):
        daemon = self.serve("oversubscribes")
        jobs = [self.submit("--hold") for _ in range(3)]
        agent = self.start_agent()
        self.assertTrue(agent.wait_for("joined cluster"), agent.text())
        self.run_program("spur", "scontrol", "release", ",".join(map(str, jobs)))
        self.assertTrue(daemon.wait_for(r"a planned start was refused: .*n1"), daemon.text())
        running = self.run_program("spur", "squeue", "-h", "-t", "R,CG", "-o", "%i").stdout.split()
        self.assertLessEqual(len(running), 1, "two jobs with all cores of one node")
        self.assertEqual(daemon.stop(), 0, daemon.text())

    def test_a_crash_is_one_line_that_names_plugin_and_function(self):
        for name, (words, status) in DEADLY.items():
            with self.subTest(name):
                daemon = self.serve(name)
                self.submit_and_forget()
                self.assertEqual(daemon.wait(), status, daemon.text())
                self.assertRegex(daemon.text(), words.format(type=f"sched/{name}"))
                self.assertIn(f"\tsched/{name}\tplan\t", (self.root / "state/crashes.log").read_text())

    def test_what_ends_the_process_past_every_handler_leaves_its_status_and_no_word(self):
        for name, status in {"quits_in_plan": 3, "overflows_a_thread": -corpus.SEGV}.items():
            with self.subTest(name):
                daemon = self.serve(name)
                self.submit_and_forget()
                self.assertEqual(daemon.wait(), status, daemon.text())
                self.assertNotIn("crashed", daemon.text())
                self.assertEqual((self.root / "state/crashes.log").read_text(), "")

    def test_what_a_plugin_changes_of_the_daemon_is_put_back(self):
        daemon = self.serve("leaves_a_mess")
        self.assertIn("plugin sched/leaves_a_mess breaks a rule: create() changed the signal mask, the umask, the working directory, "
                      "the handler of crashes of spurctld; put back", daemon.text())
        self.assertEqual(daemon.stop(), 0, daemon.text())

    def test_a_copy_that_a_plugin_forked_ends_and_the_daemon_goes_on(self):
        daemon = self.serve("forks_in_plan")
        job = self.submit()
        self.assertTrue(daemon.wait_for(r"plugin sched/forks_in_plan came back from plan\(\) in a fork of spurctld; that copy ends"),
                        daemon.text())
        self.assert_waits(job)
        self.assertEqual(daemon.stop(), 0, daemon.text())

    def test_a_table_that_changes_later_is_not_looked_at_again(self):
        daemon = self.serve("rewrites_its_table")
        for calls in (1, 2):
            job = self.submit()
            self.assertTrue(self.eventually(lambda: self.plan_calls("sched/rewrites_its_table") > calls), daemon.text())
        self.assert_waits(job)
        self.assertEqual(daemon.stop(), 0, daemon.text())

    def test_a_flood_of_log_lines_is_cut_short(self):
        daemon = self.serve("floods_the_log")
        self.assertEqual(daemon.text().count("sched/floods_the_log: once more"), 1000)
        self.assertIn("plugin sched/floods_the_log wrote 1000 lines to the log within 10 s; the rest of them is dropped", daemon.text())

    def test_a_plan_that_gives_less_than_was_asked_for_starts_nothing(self):
        daemon = self.serve("gives_too_little")
        job = self.submit("--hold", "-n2")
        agent = self.start_agent()
        self.assertTrue(agent.wait_for("joined cluster"), agent.text())
        self.run_program("spur", "scontrol", "release", str(job))
        self.assertTrue(daemon.wait_for(r"a planned start was refused: the plan gives job \d+ 1 cpus.*, and it asks for 2"), daemon.text())
        self.assert_waits(job)

    def test_a_selector_or_a_priority_that_lies_does_no_harm(self):
        lies = [("select", name) for name in ("hands_out_busy_nodes", "forgets_what_is_taken", "gives_half", "ignores_buffers")]
        lies += [("priority", name) for name in ("divides_by_zero", "gives_zero", "names_twice")]
        for axis, name in lies:
            with self.subTest(f"{axis}/{name}"):
                self.bring(name, "faulty", axis=axis)
                self.configure("fifo", **{axis: name})
                daemon = self.start_serving(name)
                jobs = [self.submit("--hold", "--exclusive") for _ in range(3)]
                agent = self.start_agent(f"agent_{name}")
                self.assertTrue(agent.wait_for("joined cluster"), agent.text())
                self.run_program("spur", "scontrol", "release", ",".join(map(str, jobs)))
                for _ in range(20):
                    running = self.run_program("spur", "squeue", "-h", "-t", "R,CG", "-o", "%i").stdout.split()
                    self.assertLessEqual(len(running), 1, "two jobs have all of one node")
                agent.stop()
                self.assertEqual(daemon.stop(), 0, daemon.text())

    def test_the_third_crash_puts_a_plugin_into_quarantine(self):
        self.bring("segfaults_in_plan")
        self.bring("well_behaved")
        self.configure(["segfaults_in_plan", "well_behaved"])
        for round_number in range(3):
            daemon = self.start_serving(f"round{round_number}")
            self.submit_and_forget()
            self.assertEqual(daemon.wait(), -corpus.SEGV, daemon.text())
        daemon = self.start_serving("after")
        self.assertIn("plugin sched/segfaults_in_plan is quarantined: it crashed spurctld at least 3 times within 10 minutes; install a "
                      f"repaired {self.plugins}/sched_segfaults_in_plan.so, or remove {self.root}/state/crashes.log to try it again; "
                      "sched/well_behaved is used instead", daemon.text())
        self.submit()
        stats = self.run_program("spur", "plugin", "stats").stdout
        self.assertRegex(stats, r"(?s)sched/segfaults_in_plan.*quarantined")
        shown = self.run_program("spur", "scontrol", "show", "config").stdout
        self.assertRegex(shown, r"SchedulerType +=[ ]sched/well_behaved\n")
        self.assertRegex(shown, r"QuarantinedPlugins +=[ ]sched/segfaults_in_plan\n")
        listed = self.run_program("spur", "plugin", "list").stdout
        self.assertRegex(listed, r"sched/segfaults_in_plan .* quarantined ")
        self.assertRegex(listed, r"sched/well_behaved .* in force ")
        self.assertEqual(daemon.stop(), 0)

        # Alone on its axis it is replaced by a default of Spur's own.
        self.configure("segfaults_in_plan")
        daemon = self.start_serving("alone")
        self.assertRegex(daemon.text(), r"is quarantined: .*\n?.*sched/(backfill|fifo) is used instead")
        self.assertEqual(daemon.stop(), 0)

    def test_an_agent_goes_on_without_a_gpu_plugin_that_crashed_it_three_times(self):
        self.bring("segfaults_in_scan", axis="gpu")
        self.bring("well_behaved")
        self.configure("well_behaved", gpu="segfaults_in_scan")
        self.start_serving()
        for round_number in range(3):
            agent = self.start_agent(f"round{round_number}")
            self.assertEqual(agent.wait(), -corpus.SEGV, agent.text())
            self.assertIn("spurd: plugin gpu/segfaults_in_scan crashed in scan: Segmentation fault\n", agent.text())
        agent = self.start_agent("after")
        self.assertTrue(agent.wait_for("joined cluster"), agent.text())
        self.assertRegex(agent.text(), r"plugin gpu/segfaults_in_scan is quarantined: it crashed spurd at least 3 times within 10 minutes; "
                                       r"install a repaired .*; spurd goes on without gpu")

    def test_a_planner_that_never_returns_is_named_and_cannot_keep_the_daemon(self):
        daemon = self.serve("loops_in_plan")
        job = self.submit()
        self.assertTrue(daemon.wait_for(r"plugin sched/loops_in_plan has been in plan\(\) for \d\.\d s and its budget is 0\.2 s: no job "
                                        r"starts until it returns; if it does not, restart with another sched plugin"), daemon.text())
        self.assert_waits(job)
        stats = json.loads(self.run_program("spur", "plugin", "stats", "--json").stdout)
        plan = next(op for plugin in stats["plugins"] if plugin["type"] == "sched/loops_in_plan" for op in plugin["ops"] if op["op"] == "plan")
        self.assertEqual((plan["calls"], plan["running"], plan["overruns"]), (0, 1, 1))
        self.assertGreater(plan["running_ns"], 10**9)
        self.assertRegex(self.run_program("spur", "plugin", "stats").stdout, r"sched/loops_in_plan \S+ +active +plan +0 .* 1 for [0-9.]+s\n")
        for _ in range(2):
            why = self.run_program("spur", "why", str(job))
            self.assertEqual(why.returncode, 0, why.stderr)
            self.assertIn("The scheduler could not be asked about it: the policy plugins have not answered within 10 s; `spur plugin stats` "
                          "shows what they do.", why.stdout)
        self.assertEqual(daemon.stop(), corpus.EX_SOFTWARE)
        self.assertIn("a plugin has not returned 10 s after the order to stop; leaving without it", daemon.text())

    def test_a_forgotten_thread_is_told_on_and_does_no_harm(self):
        self.serve("leaves_a_thread").stop()
        daemon = self.start_serving("again")
        self.bring("well_behaved")
        self.configure("well_behaved")
        daemon.process.send_signal(signal.SIGHUP)
        self.assertTrue(daemon.wait_for(r"plugin sched/leaves_a_thread used spur\.log/1 after destroy\(\): it left a thread behind; "
                                        r"every thread must be joined there"), daemon.text())
        self.assertEqual(daemon.stop(), 0, daemon.text())

    def test_a_bad_reconfiguration_leaves_the_old_plugin_at_work(self):
        daemon = self.serve("well_behaved")
        for name, folder in {"throws_in_create": "hostile_plugins", "null_op": "host_plugins", "wrong_epoch": "host_plugins"}.items():
            with self.subTest(name):
                self.bring(name, folder)
                self.configure(name)
                before = len(re.findall("the old configuration stays", daemon.text()))
                daemon.process.send_signal(signal.SIGHUP)
                self.assertTrue(daemon.wait_for("(?s)" + "the old configuration stays.*" * (before + 1) + name), daemon.text())
                self.assertIn("sched/well_behaved", self.run_program("spur", "plugin", "stats").stdout)
        self.assert_waits(self.submit())
        self.assertEqual(daemon.stop(), 0, daemon.text())


if __name__ == "__main__":
    unittest.main()
