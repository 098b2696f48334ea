"""What programs written for Slurm ask of the commands, and how they read the answers."""
import re
import unittest

from shared_case import SharedCluster
from spur_cluster import eventually


class Questions(SharedCluster):
    """Command lines as workflow managers, dashboards and launchers type them; the answers are those of Slurm 22.05."""
    settings = {"plugins": 'priority = "priority/fairshare"\n', "licenses": "ansys = 10\nmatlab = 5\n"}
    policies = {}

    def test_versions_have_the_shape_that_programs_look_for(self):
        for command in ("sbatch", "srun", "squeue", "sinfo", "scontrol"):
            self.assertRegex(self.cluster.ok(command, "--version"), r"^slurm \d+\.\d+\.\d+\n$")

    def test_one_waiting_task_of_an_array_is_shown_as_a_job_of_its_own(self):
        job = self.cluster.submit("--hold", "-a", "1-9", "-o", "out-%A_%a", "--wrap", "true")
        record = self.cluster.show("job", f"{job}_3")
        self.assertEqual((record["ArrayTaskId"], record["StdOut"]), ("3", f"{self.cluster.work}/out-{job}_3"))
        both = self.cluster.ok("scontrol", "-o", "show", "job", f"{job}_[2,7]")
        self.assertEqual(re.findall(r"ArrayTaskId=(\S+)", both), ["2", "7"])
        self.assertEqual(self.cluster.ok("squeue", "-h", "-j", f"{job}_4", "-O", "stdout:100").strip(), f"{self.cluster.work}/out-{job}_4")

    def test_what_is_not_found_is_said_on_standard_output(self):
        for entity in ("node", "partition", "reservation"):
            done = self.cluster.run("scontrol", "show", entity, "nosuch")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (1, f"{entity.capitalize()} nosuch not found\n", ""))

    def test_licenses_are_listed_with_how_many_are_in_use(self):
        self.busy("-L", "matlab:2")
        self.assertEqual(self.cluster.ok("scontrol", "-o", "show", "lic"),
                         "LicenseName=ansys Total=10 Used=0 Free=10 Reserved=0 Remote=no\nLicenseName=matlab Total=5 Used=2 Free=3 Reserved=0 Remote=no\n")
        self.assertEqual(self.cluster.ok("scontrol", "show", "lic", "matlab"), "LicenseName=matlab\n    Total=5 Used=2 Free=3 Reserved=0 Remote=no\n")
        self.assertEqual(self.cluster.ok("scontrol", "show", "lic", "nosuch"), "")

    def test_a_node_has_an_address_and_a_port(self):
        address, port = self.cluster.ok("sinfo", "-h", "-n", "n1", "-O", "nodeaddr:30,port:10").split()
        self.assertEqual(address, "127.0.0.1")
        record = self.cluster.show("node", "n1")
        self.assertEqual((record["NodeAddr"], record["Port"]), (address, port))

    def test_the_kinds_of_mpi_are_listed(self):
        self.assertEqual(self.cluster.ok("srun", "--mpi=list"), "MPI plugin types are...\n\tnone\n")

    def test_a_step_says_what_it_has(self):
        job = self.cluster.submit("-N2", "-n3", "--wrap", "srun -n3 sleep 1000")
        eventually(lambda: self.queue("%i", "-s", "-j", job)[:1] == [f"{job}.0"], "the step runs")
        shown = self.cluster.ok("scontrol", "show", "step", f"{job}.0")
        self.assertIn("TRES=cpu=3,mem=0,node=2", shown)
        self.assertIn("Dist=Block", shown)
        pid = int(re.search(r"SrunHost:Pid=\S+:(\d+)", shown)[1])
        with open(f"/proc/{pid}/cmdline", "rb") as command:
            self.assertIn(b"sleep", command.read(), "the pid is that of srun")

    def test_sprio_takes_its_jobs_as_a_word_of_their_own(self):
        jobs = [self.cluster.submit("-b", "now+1hour", "--wrap", "true") for _ in range(3)]
        busy = [self.busy("--exclusive") for _ in range(self.nodes)]
        waiting = [self.cluster.submit("--wrap", "true") for _ in range(3)]
        listed = lambda *words: {int(line.split()[0]) for line in self.cluster.ok("sprio", "-h", *words).splitlines()}
        eventually(lambda: set(waiting) <= listed(), "they have a priority")
        for words in (("-j", f"{waiting[0]},{waiting[2]}"), (f"-j{waiting[0]},{waiting[2]}",), (f"--jobs={waiting[0]},{waiting[2]}",)):
            self.assertEqual(listed(*words), {waiting[0], waiting[2]})
        self.assertIn("Invalid job id: x", self.refused("sprio", "-j", "x"))
        self.assertFalse(set(busy + jobs) & listed("-j", str(waiting[1])))

    def test_a_login_shells_environment_lies_below_what_is_exported(self):
        script = self.cluster.script("#!/bin/sh\n#SBATCH --get-user-env\n/usr/bin/printenv HOME FOO SLURM_GET_USER_ENV > login.txt\n")
        job = self.cluster.submit(script, env={"FOO": "bar"}, wrapper=("env", "-u", "HOME"))
        self.ends(job)
        home, foo, asked = self.cluster.read("login.txt").split()
        self.assertEqual((foo, asked), ("bar", "1"))
        self.assertTrue(home.startswith("/"))
        self.assertIn("--get-user-env=10S is not supported yet", self.refused("sbatch", "--get-user-env=10S", "--wrap", "true"))
        self.assertIn("Invalid --get-user-env specification", self.refused("sbatch", "--get-user-env=soon", "--wrap", "true"))

    def test_a_cluster_may_be_named_if_it_is_this_one(self):
        submitted = self.cluster.ok("sbatch", "-M", "test", "--hold", "--wrap", "true")
        job = re.fullmatch(r"Submitted batch job (\d+) on cluster test\n", submitted).group(1)
        self.assertRegex(self.cluster.ok("sbatch", "--parsable", "--cluster=test", "--hold", "--wrap", "true"), r"^\d+;test\n$")
        self.assertEqual(self.cluster.ok("squeue", "--clusters=all", "-j", job, "-o", "%i"), f"CLUSTER: test\nJOBID\n{job}\n")
        self.assertEqual(self.cluster.ok("squeue", "-h", "-M", "test", "-j", job, "-o", "%i"), f"{job}\n")
        self.assertEqual(self.cluster.ok("sinfo", "-M", "test", "-o", "%P"), "CLUSTER: test\nPARTITION\nmain*\n")
        self.assertIn(f"JobId={job} ", self.cluster.ok("scontrol", "-M", "test", "show", "job", job))
        self.assertEqual(self.cluster.ok("srun", "-M", "test", "-n1", "echo", "hi"), "hi\n")
        self.cluster.ok("scancel", "-M", "test", job)
        for words in (("sbatch", "-M", "foo", "--wrap", "true"), ("squeue", "-M", "test,foo"), ("sinfo", "-M", "foo"), ("scancel", "-M", "foo", job),
                      ("scontrol", "-M", "foo", "show", "job", job), ("srun", "-M", "foo", "true"), ("salloc", "-M", "foo", "true")):
            self.assertEqual(self.refused(*words), f"{words[0]}: error: 'foo' can't be reached now, or it is an invalid entry for --cluster.  "
                                                   "Use 'sacctmgr list clusters' to see available clusters.")


if __name__ == "__main__":
    unittest.main()
