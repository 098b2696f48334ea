"""Containment as jobs and administrators meet it, on a real kernel. One cluster for all: starting one takes long here."""
import contextlib
import glob
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from spur_cluster import BUILD, Cluster, eventually

ROOT = "/sys/fs/cgroup/spur/n1"
DEVICES = ["/dev/spur_gpu0", "/dev/spur_gpu1"]  # /dev/zero and /dev/full by other names
JOB_PROCESSES = 60
KEPT_MIB = 1100


def read(path):
    with open(path) as file:
        return file.read().strip()


def alive(pid):
    return os.path.exists(f"/proc/{pid}")


def groups():
    return sorted(os.path.basename(path) for path in glob.glob(f"{ROOT}/job_*"))


def make_devices():
    for path, minor in zip(DEVICES, (5, 7)):
        if not os.path.exists(path):
            os.mknod(path, 0o666 | 0o020000, os.makedev(1, minor))
            os.chmod(path, 0o666)


class Kernel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        make_devices()
        subprocess.run(["modprobe", "loop"], check=True)
        files = ", ".join(f'"{number}:{path}"' for number, path in enumerate(DEVICES))
        settings = {
            "plugins": 'cgroup = "cgroup/v2"\ngpu = ["gpu/sim"]',
            'plugin."gpu/sim"': f'devices = ["sim:2"]\nfiles = [{files}]',
            'plugin."cgroup/v2"': f"job_processes = {JOB_PROCESSES}\nswap_percent = 50\nweights = true\ncpu_quota = true\n"
                                  'allowed_devices = ["/dev/kmsg", "c 10:237"]\nio_limits = ["/dev/loop0 read=1M write_ops=100"]',
            "jobs": "disable_root_jobs = false",
        }
        cls.cluster = Cluster(nodes=1, cpus=3, settings=settings, node_lines=f'gres = ["gpu:sim:2"]\nmem_spec_limit = {KEPT_MIB}')
        cls.cluster.prolog = cls.cluster.script(f"cat /proc/self/oom_score_adj > {cls.cluster.work}/prolog_score\n")
        cls.cluster.settings["agent"] = f'prolog = "{cls.cluster.prolog}"'
        cls.cluster.wrapper = ["nice", "-n", "-5"]  # agents, and commands as well
        cls.cluster.start()
        cls.agent = cls.cluster.agents["n1"]

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    def run_job(self, script, *words):
        """Its output and its record."""
        job = self.cluster.submit("-o", "out.%j", *words, self.cluster.script(script))
        return self.cluster.wait_ended(job), self.cluster.read(f"out.{job}")

    def start_job(self, script, *words):
        """One that says "up", and its number."""
        job = self.cluster.submit("-o", "out.%j", *words, self.cluster.script(script))
        eventually(lambda: "up" in self.cluster.read(f"out.{job}"), f"job {job} runs")
        return job

    # ---- cores ------------------------------------------------------------------------------------------------------

    def test_a_node_of_three_cpus_on_four_binds_jobs_to_real_ones(self):
        own = "grep Cpus_allowed_list /proc/self/status | cut -f2; cat /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/cpuset.cpus"
        for count in ("1", "3"):
            _, out = self.run_job(own, "-n1", "-c", count)
            allowed, confined = out.split()
            self.assertEqual(allowed, confined)
            numbers = {n for part in allowed.split(",") for n in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)}
            self.assertEqual(len(numbers), int(count), out)
            self.assertLessEqual(numbers, {0, 1, 2, 3})

    # ---- who is killed first ----------------------------------------------------------------------------------------

    def test_daemons_are_protected_and_what_they_start_is_not(self):
        for daemon in (self.agent, self.cluster.controllers[0]):
            self.assertEqual(read(f"/proc/{daemon.process.pid}/oom_score_adj"), "-1000")
        _, out = self.run_job("cat /proc/self/oom_score_adj; nice")
        self.assertEqual(out.split(), ["0", "0"])
        self.assertEqual(self.cluster.read("prolog_score").strip(), "0")

    # ---- limits -----------------------------------------------------------------------------------------------------

    def test_a_fork_bomb_stops_at_its_jobs_limit(self):
        machine = min(int(read("/proc/sys/kernel/pid_max")), int(read("/proc/sys/kernel/threads-max")))
        self.assertEqual(int(read(f"{ROOT}/pids.max")), machine - machine // 8)
        _, out = self.run_job("cat $(dirname /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup))/pids.max\n"
                              "exec python3 -c 'import os, time\nn = 0\ntry:\n  while n < 500:\n    if os.fork() == 0: time.sleep(1000)\n    n += 1\n"
                              "except OSError as why: print(n, why.errno)'")
        limit, count, error = out.split()
        self.assertEqual((limit, error), (str(JOB_PROCESSES), "11"))
        self.assertLess(int(count), JOB_PROCESSES)

    def test_jobs_without_a_limit_leave_the_system_its_memory(self):
        total = int(re.search(r"MemTotal:\s*(\d+)", read("/proc/meminfo")).group(1)) // 1024
        ceiling = int(read(f"{ROOT}/memory.max")) >> 20
        self.assertAlmostEqual(ceiling, total - KEPT_MIB, delta=4)
        subprocess.run(["dmesg", "-C"], check=True)
        job, out = self.run_job("exec python3 -c 'x = []\nwhile True: x.append(bytearray(16 << 20))'")
        self.assertEqual((job["JobState"], job["ExitCode"]), ("OUT_OF_MEMORY", "0:125"))
        self.assertRegex(out, r"slurmstepd: error: Detected \d+ oom-kill event\(s\) in StepId=\d+\.batch")
        told = subprocess.run(["dmesg"], capture_output=True, text=True, check=True).stdout
        self.assertIn("CONSTRAINT_MEMCG", told)
        self.assertNotIn("CONSTRAINT_NONE", told)

    def test_what_the_site_asks_for_is_set(self):
        _, out = self.run_job("step=/sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup); job=$(dirname $step)\n"
                              "cat $job/memory.max $job/memory.swap.max $step/memory.swap.max $job/cpu.weight $step/cpu.max $job/io.max",
                              "-n1", "-c2", "--mem=64M")
        self.assertEqual(out.splitlines(), ["67108864", "33554432", "33554432", "2", "200000 100000",
                                            "7:0 rbps=1048576 wbps=max riops=max wiops=100"])

    def test_a_kill_for_want_of_memory_is_in_the_log_at_once(self):
        job = self.start_job("python3 -c 'x = bytearray(200 << 20)'; echo up; while ! test -e told; do sleep 0.1; done", "--mem=32M")
        eventually(lambda: f"step {job}.batch: the kernel has killed 1 of its processes for want of memory" in self.agent.text(), "it is told")
        with open(f"{self.cluster.work}/told", "w"):
            pass
        self.assertEqual(self.cluster.wait_ended(job)["JobState"], "OUT_OF_MEMORY")

    def test_reads_and_writes_are_counted_by_the_group(self):
        _, out = self.run_job("cat /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/cgroup.controllers")
        self.assertLessEqual({"cpuset", "memory", "pids", "io"}, set(out.split()))

    # ---- devices ----------------------------------------------------------------------------------------------------

    def test_each_task_opens_its_own_device_only(self):
        look = "for n in 0 1; do (: < /dev/spur_gpu$n) 2>/dev/null && echo $SLURM_PROCID $n; done; true"
        _, out = self.run_job(f"srun -n2 --gpus-per-task=1 sh -c '{look}' | sort", "-n2", "--gpus-per-task=1")
        self.assertEqual(out.splitlines(), ["0 0", "1 1"])
        job, out = self.run_job(f"srun -n1 sh -c '{look}' 2>/dev/null", "-n1")  # srun says so where it has to wait
        self.assertEqual((job["JobState"], out), ("COMPLETED", ""), "a job that asked for none")

    def test_only_devices_on_the_list_can_be_opened(self):
        tried = ["/dev/null", "/dev/kmsg", "/dev/loop-control", "/dev/loop0", "/dev/mem"]
        _, out = self.run_job("for d in " + " ".join(tried) + "; do (: < $d) 2>/dev/null && echo $d; done; true")
        self.assertEqual(out.split(), ["/dev/null", "/dev/kmsg", "/dev/loop-control"])

    def test_a_task_of_srun_is_born_in_its_group(self):
        _, out = self.run_job("srun -n2 sh -c 'cut -d: -f3 /proc/self/cgroup'", "-n2")
        self.assertEqual([line.rsplit("/", 1)[-1] for line in out.split()], ["step_0", "step_0"])

    # ---- what is left -----------------------------------------------------------------------------------------------

    def test_a_dead_step_daemon_leaves_no_group(self):
        job = self.start_job("echo up; sleep 1000", "--no-requeue")
        for daemon in self.cluster.step_daemons():
            with contextlib.suppress(ProcessLookupError):  # one may go with another
                os.kill(daemon, signal.SIGKILL)
        ended = self.cluster.wait_ended(job)
        self.assertEqual((ended["JobState"], ended["ExitCode"]), ("NODE_FAIL", "0:1"))
        eventually(lambda: groups() == [], f"no group is left; there is {groups()}")

    def test_a_lost_spool_does_not_run_a_job_twice(self):
        script = "echo $$ >> runs; echo up; while ! test -e enough; do sleep 0.2; done"
        for name in ("runs", "enough"):
            if os.path.exists(f"{self.cluster.work}/{name}"):
                os.unlink(f"{self.cluster.work}/{name}")
        job = self.start_job(script)
        first = int(self.cluster.read("runs").split()[0])
        self.agent.kill()
        shutil.rmtree(self.agent.state)
        os.makedirs(self.agent.state)
        self.agent.start()
        eventually(self.agent.has_joined, "n1 has joined again")
        self.assertFalse(alive(first), "the first copy lives on")
        self.assertRegex(self.agent.text(), "killing .*spurstepd .*its directory|that an earlier spurd left here")
        eventually(lambda: len(self.cluster.read("runs").split()) == 2, f"job {job} starts anew")
        self.assertEqual(self.cluster.job(job)["Restarts"], "1")
        self.assertEqual(groups(), [f"job_{job}.2"])
        with open(f"{self.cluster.work}/enough", "w"):
            pass
        self.assertEqual(self.cluster.wait_ended(job)["JobState"], "COMPLETED")

    # ---- what is told -----------------------------------------------------------------------------------------------

    def test_everything_is_enforced_here_and_nobody_says_otherwise(self):
        self.assertNotIn("Unenforced", self.cluster.show("node", "n1"))


class Agent(unittest.TestCase):
    """Tests of spurd that need more than a container gives: here none lacks it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="spur-disk-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.disk = f"{self.folder}/disk"
        os.mkdir(self.disk)
        subprocess.run(["truncate", "-s", "64M", f"{self.folder}/image"], check=True)
        subprocess.run(["modprobe", "-a", "loop", "ext4"], check=True)
        subprocess.run(["mkfs.ext4", "-q", f"{self.folder}/image"], check=True)
        subprocess.run(["mount", "-o", "loop", f"{self.folder}/image", self.disk], check=True)
        self.addCleanup(subprocess.run, ["umount", self.disk], check=True)
        os.chmod(self.disk, 0o777)

    def test_groups_hold_kill_freeze_and_count(self):
        self.run_tests("AgentCgroup.*")

    # Root in a container may not, whatever spurstepd asks for: only here it shows.
    def test_root_raises_nobodys_limits(self):
        self.run_tests("AgentTrust.NobodysHardLimitIsRaised")

    def run_tests(self, names):
        tests = [f"{BUILD}/tests/bin/agent_system", f"--gtest_filter={names}", "--gtest_brief=1"]
        done = subprocess.run(tests, env={**os.environ, "SPUR_TEST_DISK": self.disk}, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("SKIPPED", done.stdout)


class Outspoken(unittest.TextTestResult):
    """Tells what is wrong at once: the machine may not live to the end."""

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.stream.writeln(self.failures[-1][1])

    def addError(self, test, error):
        super().addError(test, error)
        self.stream.writeln(self.errors[-1][1])


if __name__ == "__main__":
    unittest.main(testRunner=unittest.TextTestRunner(resultclass=Outspoken, verbosity=2))
