"""Dependencies through the commands, each kind of them."""
import unittest

from shared_case import SharedCluster
from spur_cluster import eventually


class Dependencies(SharedCluster):
    def after(self, dependency, *words):
        return self.cluster.submit("-d", dependency, *words, "--wrap", "true")

    def waits_for(self, job, shown, reason="Dependency"):
        self.becomes(job, "%t|%E|%r", f"PD|{shown}|{reason}")

    def test_each_kind_is_shown_as_slurm_shows_it(self):
        first = self.busy()
        array = self.cluster.submit("--array=1-3", "--wrap", "sleep 1000")
        self.runs(f"{array}_1")
        for typed, shown in ((f"after:{first}+1", f"after:{first}+1(unfulfilled)"), (f"afterany:{first}", f"afterany:{first}(unfulfilled)"),
                             (f"afterok:{first}", f"afterok:{first}(unfulfilled)"), (f"afternotok:{first}", f"afternotok:{first}(unfulfilled)"),
                             (f"{first}", f"afterany:{first}(unfulfilled)"), (f"afterok:{array}", f"afterok:{array}_*(unfulfilled)"),
                             (f"afterok:{array}_2", f"afterok:{array}_2(unfulfilled)"),
                             (f"afterok:{array}_[1-2]", f"afterok:{array}_1(unfulfilled),afterok:{array}_2(unfulfilled)"),
                             (f"afterok:{first}:{array}", f"afterok:{first}(unfulfilled),afterok:{array}_*(unfulfilled)"),
                             (f"afterok:{first},afterany:{array}", f"afterok:{first}(unfulfilled),afterany:{array}_*(unfulfilled)"),
                             (f"afterok:{first}?afterany:{array}", f"afterok:{first}(unfulfilled)?afterany:{array}_*(unfulfilled)"),
                             (f"afterok:{first},singleton", f"afterok:{first}(unfulfilled),singleton(unfulfilled)")):
            self.waits_for(self.after(typed), shown)

    def test_nonsense_is_a_dependency_problem(self):
        for text in ("foo:1", "afterok", "afterok:abc", "after:1+0", "singleton:3"):
            self.assertIn("Job dependency problem", self.refused("sbatch", "-d", text, "--wrap", "true"), text)

    def test_afterok_runs_after_success_and_never_after_failure(self):
        good = self.cluster.submit("--wrap", self.gate("good"))
        bad = self.cluster.submit("--wrap", self.gate("bad") + "; exit 3")
        ok, never, notok, gone = self.after(f"afterok:{good}"), self.after(f"afterok:{bad}"), self.after(f"afternotok:{bad}"), \
            self.after(f"afterok:{bad}", "--kill-on-invalid-dep=yes")
        self.open_gate("good"), self.open_gate("bad")
        self.ends(ok)
        self.ends(notok)
        self.waits_for(never, f"afterok:{bad}(failed)", "DependencyNeverSatisfied")
        self.assertEqual(self.ends(gone, "CANCELLED")["Reason"], "DependencyNeverSatisfied")
        self.ends(self.after(f"afterok:{good},afterany:{bad}"))

    def test_after_begins_when_the_other_has_begun(self):
        blocker = self.busy("-N4")
        first = self.cluster.submit("--wrap", "sleep 1000")
        second = self.after(f"after:{first}")
        self.waits_for(second, f"after:{first}(unfulfilled)")
        self.cluster.ok("scancel", blocker)
        self.ends(second)
        self.assertEqual(self.cluster.state(first), "RUNNING")

    def test_one_fulfilled_dependency_is_enough_with_a_question_mark(self):
        running = self.busy()
        first = self.cluster.submit("--wrap", self.gate("either"))
        either = self.after(f"afterok:{running}?afterok:{first}")
        self.open_gate("either")
        self.ends(either)

    def test_aftercorr_pairs_the_tasks_of_two_arrays(self):
        first = self.cluster.submit("--array=1-3", "--wrap", 'while [ ! -e corr$SLURM_ARRAY_TASK_ID ]; do sleep 0.05; done; exit $((SLURM_ARRAY_TASK_ID == 2))')
        second = self.cluster.submit("--array=1-3", "-d", f"aftercorr:{first}", "--wrap", "true")
        self.open_gate("corr1")
        self.ends(f"{second}_1")
        self.assertEqual(self.cluster.state(f"{second}_3"), "PENDING")
        self.open_gate("corr2"), self.open_gate("corr3")
        self.ends(f"{second}_3")
        self.becomes(f"{second}_2", "%r", "DependencyNeverSatisfied")

    def test_afterok_of_an_array_waits_for_all_its_tasks(self):
        array = self.cluster.submit("--array=1-2", "--wrap", "while [ ! -e all$SLURM_ARRAY_TASK_ID ]; do sleep 0.05; done")
        after = self.after(f"afterok:{array}")
        self.open_gate("all1")
        self.ends(f"{array}_1")
        self.assertEqual(self.cluster.state(after), "PENDING")
        self.open_gate("all2")
        self.ends(after)

    def test_singletons_of_one_name_run_one_after_the_other(self):
        first = self.cluster.submit("-J", "alone", "-d", "singleton", "--wrap", self.gate("alone"))
        second = self.cluster.submit("-J", "alone", "-d", "singleton", "--wrap", "true")
        other = self.cluster.submit("-J", "other", "-d", "singleton", "--wrap", "true")
        self.ends(other)
        self.waits_for(second, "singleton(unfulfilled)")
        self.open_gate("alone")
        self.ends(first)
        self.ends(second)

    def test_dependencies_can_be_changed_but_not_into_a_circle(self):
        first = self.busy()
        a, b = self.after(f"afterok:{first}"), self.after(f"afterok:{first}")
        self.cluster.ok("scontrol", "update", f"jobid={a}", f"dependency=afterok:{b}")
        self.waits_for(a, f"afterok:{b}(unfulfilled)")
        self.assertEqual(self.refused("scontrol", "update", f"jobid={b}", f"dependency=afterok:{a}"), f"Circular job dependency for job {b}")
        self.assertEqual(self.refused("scontrol", "update", f"jobid={b}", "dependency=bogus"), f"Job dependency problem for job {b}")
        self.assertEqual(self.refused("scontrol", "update", f"jobid={first}", f"dependency=afterok:{a}"),
                         f"Job is no longer pending execution for job {first}")
        self.cluster.ok("scontrol", "update", f"jobid={b}", "dependency=")
        self.ends(b)
        self.ends(a)


if __name__ == "__main__":
    unittest.main()
