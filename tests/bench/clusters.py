"""The two clusters beside_slurm compares: a Slurm from Debian's packages and a Spur, alike in nodes and partitions, each in a
folder of its own on free ports, each with its daemons and jobs in a CPU-accounting cgroup of its own where that can be had."""
import glob
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from spur_cluster import free_port  # noqa: E402

SLURM_PACKAGES = ["slurmctld", "slurmd", "slurm-client", "munge", "libslurm-dev"]
TUNED = ("batch_sched_delay=0,default_queue_depth=5000,bf_continue,bf_interval=10,bf_max_job_test=5000,bf_resolution=300,"
         "bf_yield_interval=1000000,bf_yield_sleep=100000")


def until(check, what, patience=120, pause=0.005):
    deadline = time.monotonic() + patience
    while not check():
        if time.monotonic() > deadline:
            raise RuntimeError(f"still not after {patience} s: {what}")
        time.sleep(pause)


class CpuGroup:
    """A cgroup that adds up the CPU time of everything started in it. Without privileges it counts nothing: used_ms() is None."""

    def __init__(self, name):
        self.dir = self.usage = None
        for root, usage in (("/sys/fs/cgroup/cpuacct", "cpuacct.usage"), ("/sys/fs/cgroup", "cpu.stat"), ("/sys/fs/cgroup/unified", "cpu.stat")):
            path = os.path.join(root, f"spur-bench-{os.getpid()}-{name}")
            try:
                os.mkdir(path)
            except OSError:
                continue
            if os.path.exists(os.path.join(path, usage)):
                self.dir, self.usage = path, os.path.join(path, usage)
                return
            os.rmdir(path)

    def enter(self):
        if self.dir:
            with open(os.path.join(self.dir, "cgroup.procs"), "w") as file:
                file.write("0")

    def used_ms(self):
        if not self.dir:
            return None
        with open(self.usage) as file:
            text = file.read()
        return int(text.split()[1]) / 1e3 if "usec" in text else int(text) / 1e6

    def remove(self):
        if not self.dir:
            return
        for _ in range(200):
            try:
                return os.rmdir(self.dir)
            except OSError:
                time.sleep(0.02)


class Rival:
    """What both have: a folder, daemons by process id, commands, and a program that submits fast."""

    def __init__(self, name, folder, nodes, cpus):
        self.name, self.folder, self.nodes, self.cpus = name, folder, nodes, cpus
        self.group = CpuGroup(name)
        self.clients = CpuGroup(name + "-clients")  # the commands that are measured; what only watches stays outside
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("SLURM", "SBATCH", "SPUR", "SQUEUE", "SINFO"))}
        self.daemons = {}  # name -> Popen
        for name in ("", "work"):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        self.work = os.path.join(folder, "work")

    def spawn(self, name, *command):
        with open(os.path.join(self.folder, name + ".log"), "ab") as log:
            self.daemons[name] = subprocess.Popen(command, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                                                  preexec_fn=self.group.enter)

    def stop_daemon(self, name, how=signal.SIGTERM):
        process = self.daemons.pop(name)
        process.send_signal(signal.SIGCONT)
        process.send_signal(how)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def run(self, command, *words, measured=False, check=True):
        done = subprocess.run([self.program(command), *words], env=self.env, cwd=self.work, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, preexec_fn=self.clients.enter if measured else None)
        if check and done.returncode != 0:
            raise RuntimeError(f"{self.name}: {command} {' '.join(words)} failed: {done.stdout}{done.stderr}")
        return done.stdout

    def queue_length(self):
        return len(self.run("squeue", "-h", "-r", "-o", "%i").split())

    def wait_idle(self, patience=600):
        # Looking costs the machine something: a quick squeue must not be asked more often than a slow one.
        until(lambda: self.queue_length() == 0, f"{self.name}: the queue is empty", patience, pause=0.05)

    def cancel_all(self):
        self.run("scancel", "-u", str(os.getuid()) if self.name == "Spur" else "root", check=False)
        self.wait_idle()

    def nodes_are_up(self):
        states = self.run("sinfo", "-h", "-N", "-o", "%t", check=False).split()
        return len(states) == self.nodes and all(state in ("idle", "mix", "alloc") for state in states)

    def controller_kib(self):
        with open(f"/proc/{self.daemons[self.controller].pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))

    def close(self):
        for name in list(self.daemons):
            if name != "munged":
                self.stop_daemon(name)
        for name in list(self.daemons):
            self.stop_daemon(name)
        for group in (self.group, self.clients):
            group.remove()


class Slurm(Rival):
    controller = "slurmctld"

    @staticmethod
    def missing():
        needed = ["/usr/sbin/slurmctld-wlm", "/usr/sbin/slurmd-wlm", "/usr/bin/sbatch", "/usr/sbin/munged", "/usr/include/slurm/slurm.h"]
        return [path for path in needed if not os.path.exists(path)]

    def __init__(self, folder, nodes, cpus, tuned=True):
        super().__init__("Slurm", folder, nodes, cpus)
        self.tuned = tuned
        for name in ("state", "run", "munge", "sbin", "spool"):
            os.makedirs(os.path.join(folder, name), mode=0o755, exist_ok=True)
        for name in ("slurmctld", "slurmd", "slurmstepd"):  # the daemons look at the name they are started under
            os.symlink(f"/usr/sbin/{name}-wlm", os.path.join(folder, "sbin", name))
        self.env["SLURM_CONF"] = os.path.join(folder, "slurm.conf")
        self.loader = os.path.join(folder, "submit_load_slurm")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "submit_load_slurm.c")
        subprocess.run(["cc", "-O2", "-o", self.loader, source, "-lslurm"], check=True)

    def program(self, name):
        return self.loader if name == "submit_load" else f"/usr/bin/{name}"

    def write_config(self):
        host, port = os.uname().nodename.split(".")[0], free_port()
        ports = [free_port() for _ in range(self.nodes)]
        lines = [
            "ClusterName=bench", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={port}", "SlurmUser=root", "SlurmdUser=root",
            "AuthType=auth/munge", "CredType=cred/munge", f"AuthInfo=socket={self.folder}/munge/socket",
            "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny", f"StateSaveLocation={self.folder}/state",
            f"SlurmctldPidFile={self.folder}/run/slurmctld.pid", f"SlurmdPidFile={self.folder}/run/slurmd.%n.pid",
            f"SlurmdSpoolDir={self.folder}/spool/%n", "SlurmctldDebug=error", "SlurmdDebug=error",
            f"PluginDir={glob.glob('/usr/lib/*/slurm-wlm')[0]}", "MailProg=/usr/bin/true", "TaskPlugin=task/none",
            "JobAcctGatherType=jobacct_gather/none", "SwitchType=switch/none", "MpiDefault=none", "ReturnToService=2", "SlurmdTimeout=300",
            "MaxJobCount=500000", "MaxArraySize=100001", "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU",
            "SchedulerType=sched/backfill", "PriorityType=priority/basic", "SlurmdParameters=config_overrides",
            f"ProctrackType=proctrack/{'pgid' if self.tuned else 'linuxproc'}",
        ]
        if self.tuned:
            lines.append(f"SchedulerParameters={TUNED}")
        for number, node_port in enumerate(ports, 1):
            lines.append(f"NodeName=n{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={node_port} CPUs={self.cpus} RealMemory=256000")
        lines.append(f"PartitionName=main Nodes=n[1-{self.nodes}] Default=YES MaxTime=INFINITE DefaultTime=60 State=UP")
        with open(self.env["SLURM_CONF"], "w") as file:
            file.write("\n".join(lines) + "\n")

    def start(self):
        self.write_config()
        key = os.path.join(self.folder, "munge", "key")
        with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o400), "wb") as file:
            file.write(os.urandom(128))
        munge = os.path.join(self.folder, "munge")
        self.spawn("munged", "/usr/sbin/munged", "--foreground", "--force", f"--socket={munge}/socket", f"--key-file={key}", "--num-threads=4",
                   f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        until(lambda: os.path.exists(f"{munge}/socket"), "munged answers")
        self.start_controller()
        for number in range(1, self.nodes + 1):
            self.spawn(f"slurmd{number}", f"{self.folder}/sbin/slurmd", "-D", "-N", f"n{number}", "-d", f"{self.folder}/sbin/slurmstepd")
        until(self.nodes_are_up, "Slurm's nodes are up")
        time.sleep(4)  # a fresh slurmctld schedules nothing in its first seconds

    def start_controller(self):
        self.spawn("slurmctld", f"{self.folder}/sbin/slurmctld", "-D")
        until(lambda: "UP" in self.run("scontrol", "ping", check=False), "slurmctld answers")


class Spur(Rival):
    controller = "spurctld"

    def __init__(self, folder, nodes, cpus, build):
        super().__init__("Spur", folder, nodes, cpus)
        self.build, self.port = build, free_port(above=100)
        self.conf = self.env["SPUR_CONF"] = os.path.join(folder, "spur.conf")
        os.makedirs(os.path.join(folder, "state"), mode=0o700)

    def program(self, name):
        for where in ("bench", "slurm-bin", "bin"):
            path = os.path.join(self.build, where, name)
            if os.path.exists(path):
                return path
        raise FileNotFoundError(f"{name} is not in {self.build}; build it first")

    def has_plugin(self, name):
        return os.path.exists(os.path.join(self.build, "lib", "spur", name.replace("/", "_") + ".so"))

    def start(self):
        self.select = "select/gpu" if self.has_plugin("select/gpu") else "select/linear"
        self.sched = "sched/backfill" if self.has_plugin("sched/backfill") else "sched/fifo"
        with open(self.conf, "w") as file:
            file.write(f'''cluster_name = "bench"
[controller]
listen_addr = "127.0.0.1:{self.port}"
state_dir = "{self.folder}/state"
[plugins]
dirs = ["{self.build}/lib/spur"]
state = "state/raft"
sched = "{self.sched}"
select = "{self.select}"
priority = "priority/basic"
cgroup = "cgroup/none"
[auth]
key_file = "{self.folder}/auth.key"
[jobs]
disable_root_jobs = false
[[nodes]]
names = "n[1-{self.nodes}]"
cpus = {self.cpus}
memory_mb = 256000
[[partitions]]
name = "main"
nodes = "ALL"
default = true
''')
        self.start_controller()
        for number in range(1, self.nodes + 1):
            os.makedirs(os.path.join(self.folder, f"n{number}"))
            self.spawn(f"spurd{number}", self.program("spurd"), "-D", "-f", self.conf, "-N", f"n{number}", "--virtual",
                       "--state-dir", f"{self.folder}/n{number}", "--listen", "127.0.0.1:0", "--controller", f"127.0.0.1:{self.port}")
        until(self.nodes_are_up, "Spur's nodes are up")

    def start_controller(self):
        self.spawn("spurctld", self.program("spurctld"), "-D", "-f", self.conf)
        until(lambda: "UP" in self.run("scontrol", "ping", check=False), "spurctld answers")


def remove_folder(folder):
    shutil.rmtree(folder, ignore_errors=True)
