"""How steps and jobs end, and what is said about it: words that scripts look for, compared with a real Slurm 22.05."""
import os
import re
import signal
import unittest

from spur_cluster import Cluster, eventually

WHEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


class Ends(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(nodes=2, cpus=4).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    def plain(self, text):
        """Without what differs from run to run. Whether two ends are told in one line depends on how far apart they were."""
        text = WHEN.sub("TIME", text)
        text = re.sub(r"(StepId=|STEP |JOB |JobId=|job |allocation )\d+", r"\1J", text)
        text = re.sub(r"\bn[12]\b", "nX", text)
        return re.sub(r"(srun: error: nX: task)s 0-1(.*)", r"\1 0\2\n\1 1\2", text).splitlines()

    def mark(self, name):
        return os.path.join(self.cluster.work, f"{self.id()}.{name}")

    def wait_mark(self, name):
        eventually(lambda: os.path.exists(self.mark(name)), f"{name} is there")

    def srun(self, *words, **how):
        done = self.cluster.run("srun", *words, **how)
        return done.returncode, done.stdout, self.plain(done.stderr)

    def in_batch(self, body, act, *words):
        """The record and the output of a job to which something is done once its script has touched `up`."""
        output = self.mark("out")
        job = self.cluster.submit("-o", output, *words, self.cluster.script("#!/bin/bash\nup() { touch " + self.mark("up") + "; }\n" + body))
        self.wait_mark("up")
        act(job)
        record = self.cluster.wait_ended(job)
        return record, sorted(self.plain(self.cluster.read(output)))

    # ---- steps ------------------------------------------------------------------------------------------------------

    def test_exit_codes_and_signals_of_tasks(self):
        code, _, err = self.srun("-n2", "sh", "-c", "exit $((SLURM_PROCID+3))")
        self.assertEqual((code, sorted(err)), (4, ["srun: error: nX: task 0: Exited with exit code 3", "srun: error: nX: task 1: Exited with exit code 4"]))
        code, _, err = self.srun("-n2", "sh", "-c", "kill -9 $$")
        self.assertEqual((code, sorted(err)), (137, ["srun: Force Terminated StepId=J.0", "srun: error: nX: task 0: Killed", "srun: error: nX: task 1: Killed"]))
        self.assertEqual(self.srun("sh", "-c", "ulimit -c 0; kill -SEGV $$"), (139, "", ["srun: error: nX: task 0: Segmentation fault"]))

    def test_a_failed_task_ends_the_others_with_K(self):
        code, _, err = self.srun("-K", "-n2", "sh", "-c", "test $SLURM_PROCID = 0 || exit 3; sleep 60")
        self.assertEqual((code, err), (143, ["srun: error: nX: task 1: Exited with exit code 3",
                                             "srun: launch/slurm: _step_signal: Terminating StepId=J.0",
                                             "slurmstepd: error: *** STEP J.0 ON nX CANCELLED AT TIME ***",
                                             "srun: error: nX: task 0: Terminated",
                                             "srun: Force Terminated StepId=J.0"]))

    def test_the_others_are_waited_for_with_W(self):
        code, _, err = self.srun("-W", "1", "-n2", "sh", "-c", "test $SLURM_PROCID = 0 || sleep 60")
        self.assertEqual(code, 137)
        self.assertEqual(sorted(err), sorted(["srun: First task exited 1s ago", "srun: StepId=J.0 task 1: running", "srun: StepId=J.0 task 0: exited",
                                              "srun: launch/slurm: _step_signal: Terminating StepId=J.0",
                                              "slurmstepd: error: *** STEP J.0 ON nX CANCELLED AT TIME ***",
                                              "srun: Job step aborted: Waiting up to 3 seconds for job step to finish.",
                                              "srun: error: nX: task 1: Killed"]))

    def test_files_of_tasks_that_cannot_be_opened_fail_the_step(self):
        code, _, err = self.srun("-o", "/no/such/dir/%t", "true")
        self.assertEqual(code, 1)
        self.assertIn("Could not open stdout file /no/such/dir/0: No such file or directory", err[0])

    # ---- srun's own signals -----------------------------------------------------------------------------------------

    def interrupted(self, *words, signals, command=None):
        ready = self.mark("ready")
        process = self.cluster.popen("srun", *words, "sh", "-c", command or f"touch {ready}.$SLURM_PROCID; exec sleep 60")
        for task in range(2 if "-n2" in words else 1):
            eventually(lambda: os.path.exists(f"{ready}.{task}"), "the tasks run")
        for number in signals:
            process.send_signal(number)
        out, err = process.communicate(timeout=30)
        return process.returncode, out, self.plain(err)

    def heard(self, name, *words):
        """A command whose stderr can be looked at while it runs."""
        with open(self.mark(name), "w") as file:
            process = self.cluster.popen(*words, stderr=file)
        return process, lambda: self.plain(self.cluster.read(self.mark(name)))

    def test_one_interrupt_asks_two_abort(self):
        ready = self.mark("one")
        process, said = self.heard("asked", "srun", "sh", "-c", f"touch {ready}; until [ -e {ready}.go ]; do sleep 0.05; done")
        eventually(lambda: os.path.exists(ready), "the task runs")
        process.send_signal(signal.SIGINT)
        question = ["srun: interrupt (one more within 1 sec to abort)", "srun: StepId=J.0 task 0: running"]
        eventually(lambda: said() == question, "srun asks")
        open(ready + ".go", "w").close()
        self.assertEqual((process.wait(30), said()), (0, question))
        process.communicate()

        process, said = self.heard("aborted", "srun", "-n2", "sh", "-c", f"touch {ready}.$SLURM_PROCID; exec sleep 60")
        for task in (0, 1):
            eventually(lambda: os.path.exists(f"{ready}.{task}"), "the tasks run")
        process.send_signal(signal.SIGINT)
        eventually(said, "srun asks")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(30), 130)
        process.communicate()
        self.assertEqual([line for line in said() if "slurmstepd" not in line],
                         ["srun: interrupt (one more within 1 sec to abort)", "srun: StepId=J.0 tasks 0-1: running", "srun: sending Ctrl-C to StepId=J.0",
                          "srun: forcing job termination", "srun: Job step aborted: Waiting up to 3 seconds for job step to finish."])

    def test_a_trap_has_a_moment_after_ctrl_c(self):
        code, out, err = self.interrupted("--quit-on-interrupt", signals=[signal.SIGINT],
                                          command=f"trap 'echo int; exit 6' INT; touch {self.mark('ready')}.0; while :; do sleep 0.05; done")
        self.assertEqual((code, out), (6, "int\n"))
        self.assertIn("srun: error: nX: task 0: Exited with exit code 6", err)

    def test_sigterm_to_srun_ends_the_step(self):
        code, _, err = self.interrupted("-n2", signals=[signal.SIGTERM])
        self.assertEqual((code, err[:2], sorted(err[2:])),
                         (137, ["srun: forcing job termination", "srun: Job step aborted: Waiting up to 3 seconds for job step to finish."],
                          ["slurmstepd: error: *** STEP J.0 ON nX CANCELLED AT TIME ***", "srun: error: nX: task 0: Killed",
                           "srun: error: nX: task 1: Killed"]))

    def test_a_waiting_srun_gives_its_request_back(self):
        process, said = self.heard("waits", "srun", "--begin=now+1hour", "true")
        eventually(said, "it waits")
        process.send_signal(signal.SIGINT)
        self.assertEqual((process.wait(30), said()), (1, ["srun: job J queued and waiting for resources", "srun: Job allocation J has been revoked",
                                                          "srun: Force Terminated JobId=J"]))
        process.communicate()

    # ---- scancel ----------------------------------------------------------------------------------------------------

    def test_a_cancelled_job(self):
        record, out = self.in_batch("up\nsleep 60\n", lambda job: self.cluster.ok("scancel", job))
        self.assertEqual((record["JobState"], record["ExitCode"]), ("CANCELLED", "0:15"))
        self.assertEqual(out, ["slurmstepd: error: *** JOB J ON nX CANCELLED AT TIME ***"])

    def step_body(self):
        return f"srun -N2 -n2 sh -c 'touch {self.mark('step')}.$SLURM_PROCID; exec sleep 60'\necho rc $?\n"

    def wait_steps(self):
        for task in (0, 1):
            self.wait_mark(f"step.{task}")

    def test_a_cancelled_step_leaves_the_job(self):
        def act(job):
            self.wait_steps()
            self.cluster.ok("scancel", f"{job}.0")

        record, out = self.in_batch("up\n" + self.step_body(), act, "-N2")
        self.assertEqual(record["JobState"], "COMPLETED")
        self.assertEqual(out, ["rc 137", "slurmstepd: error: *** STEP J.0 ON nX CANCELLED AT TIME ***",
                               "srun: Job step aborted: Waiting up to 3 seconds for job step to finish.",
                               "srun: error: nX: task 0: Killed", "srun: error: nX: task 1: Killed"])

    def test_signals_reach_steps_or_the_batch_shell_or_both(self):
        body = (f"trap 'echo batch got' USR1\ncat > {self.mark('step')} <<'Y'\ntrap 'echo step got; exit 0' USR1\n"
                f"touch {self.mark('up')}\nwhile :; do sleep 0.05; done\nY\nsrun bash {self.mark('step')} &\nwait; wait\necho end\n")
        for words, expected in ((["-s", "USR1"], {"step got", "end"}), (["-f", "-s", "USR1"], {"step got", "batch got", "end"})):
            if os.path.exists(self.mark("up")):
                os.unlink(self.mark("up"))
            record, out = self.in_batch(body, lambda job: self.cluster.ok("scancel", *words, job))
            self.assertEqual((record["JobState"], {line for line in out if "signal" not in line}), ("COMPLETED", expected), words)

    def test_sigkill_ends_the_job_or_with_b_its_script(self):
        for words, state, reason, code in ((["-s", "KILL"], "CANCELLED", "None", "0:15"), (["-b"], "FAILED", "JobLaunchFailure", "0:9"),
                                           (["-b", "-s", "KILL"], "FAILED", "JobLaunchFailure", "0:9")):
            if os.path.exists(self.mark("up")):
                os.unlink(self.mark("up"))
            record, out = self.in_batch("up\nsleep 60\n", lambda job: self.cluster.ok("scancel", *words, job))
            self.assertEqual((record["JobState"], record["Reason"], record["ExitCode"]), (state, reason, code), words)
            self.assertEqual(out, ["slurmstepd: error: *** JOB J ON nX CANCELLED AT TIME ***"], words)

    def test_steps_that_outlive_their_script_are_told_why(self):
        for code, words in ((0, "CANCELLED AT TIME"), (3, "FAILED (non-zero exit code or other failure mode)")):
            go, up = self.mark(f"go{code}"), self.mark(f"up{code}")
            job = self.cluster.submit("-N2", "--wrap", f"until [ -e {go} ]; do sleep 0.05; done; exit {code}")
            self.cluster.wait_state(job, "RUNNING")
            process, said = self.heard(f"said{code}", "srun", f"--jobid={job}", "-N2", "-n2", "sh", "-c", f"touch {up}.$SLURM_PROCID; exec sleep 60")
            for task in (0, 1):
                eventually(lambda: os.path.exists(f"{up}.{task}"), "the step runs")
            open(go, "w").close()
            self.assertEqual((process.wait(30), sorted(said())),
                             (143, [f"slurmstepd: error: *** STEP J.0 ON nX {words} ***", "srun: Job step aborted: Waiting up to 3 seconds for job step to finish.",
                                    "srun: error: nX: task 0: Terminated", "srun: error: nX: task 1: Terminated"]))
            process.communicate()

    # ---- salloc -----------------------------------------------------------------------------------------------------

    def salloc(self, name, *words):
        go = self.mark(name)
        process, said = self.heard(name + ".said", "salloc", *words, "sh", "-c", f"touch {go}; until [ -e {go}.end ]; do sleep 0.05; done; exit 7")
        eventually(lambda: os.path.exists(go), "the command runs")
        return process, said, lambda: open(go + ".end", "w").close()

    REVOKED = ["salloc: Granted job allocation J", "salloc: Job allocation J has been revoked."]

    def test_salloc_notices_that_its_allocation_is_gone(self):
        process, said, _ = self.salloc("killed", "-J", "killed", "-K")
        self.cluster.ok("scancel", "-n", "killed")
        self.assertEqual((process.wait(30), said()), (1, self.REVOKED))
        process.communicate()
        process, said, end = self.salloc("left", "-J", "left")
        self.cluster.ok("scancel", "-n", "left")
        eventually(lambda: said() == self.REVOKED, "salloc says so")
        end()
        self.assertEqual((process.wait(30), said()), (7, self.REVOKED))
        process.communicate()

    def test_salloc_gives_its_allocation_back_when_told_to(self):
        process, said, end = self.salloc("told")
        process.send_signal(signal.SIGTERM)
        eventually(lambda: said() == self.REVOKED, "salloc says so")
        end()
        self.assertEqual((process.wait(30), said()), (7, self.REVOKED))
        process.communicate()

    def test_salloc_hands_on_what_its_command_says(self):
        process, said, end = self.salloc("usual")
        end()
        self.assertEqual((process.wait(30), said()), (7, ["salloc: Granted job allocation J", "salloc: Relinquishing job allocation J"]))
        process.communicate()

    # ---- batch jobs -------------------------------------------------------------------------------------------------

    def test_a_script_whose_files_cannot_be_opened_fails_at_once(self):
        for words in (["-o", "/no/such/dir/out"], ["-i", "/no/such/file"]):
            record = self.cluster.wait_ended(self.cluster.submit(*words, "--wrap", "true"))
            self.assertEqual((record["JobState"], record["Reason"], record["ExitCode"], record["Restarts"]), ("FAILED", "JobLaunchFailure", "0:53", "0"), words)

    def test_exit_codes_and_the_highest_of_the_steps(self):
        for body, code, derived in (("srun sh -c 'exit 4'; exit 0", "0:0", "4:0"), ("srun sh -c 'exit 4'; srun sh -c 'exit 2'; exit 1", "1:0", "4:0"),
                                    ("srun sh -c 'kill -9 $$'; exit 0", "0:0", "0:9"), ("srun true; exit 3", "3:0", "0:0")):
            job = self.cluster.submit("--wrap", body)
            self.assertEqual(self.cluster.wait_ended(job)["ExitCode"], code, body)
            eventually(lambda: re.search(rf"DerivedExitCode={derived}\b", self.cluster.ok("scontrol", "-d", "show", "job", job)), f"DerivedExitCode={derived} after {body}")

    # ---- output -----------------------------------------------------------------------------------------------------

    def test_one_tasks_output_has_its_errors_and_no_others(self):
        done = self.cluster.run("srun", "-n3", "-o", "1", "sh", "-c", "echo o$SLURM_PROCID; echo e$SLURM_PROCID >&2")
        self.assertEqual((done.stdout, done.stderr), ("o1\n", "e1\n"))

    def test_labels_are_written_into_files_of_tasks_too(self):
        self.cluster.ok("srun", "-n2", "-l", "-o", self.mark("%t"), "sh", "-c", "echo out; echo err >&2; printf 'no end'")
        for task in (0, 1):
            self.assertEqual(sorted(self.cluster.read(self.mark(str(task))).splitlines()), [f"{task}: err", f"{task}: no end", f"{task}: out"])

    def test_a_closed_stdin_is_an_empty_one(self):
        done = self.cluster.run("srun", "cat", wrapper=["sh", "-c", 'exec "$0" "$@" <&-'])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main()
