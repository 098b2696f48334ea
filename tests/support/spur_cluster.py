"""A real cluster on this machine for the system tests: spurctld and any number of spurd, on free ports, in a directory of its own.

    with Cluster(nodes=2) as cluster:
        job = cluster.submit("--wrap", "hostname")
        assert cluster.wait_ended(job)["JobState"] == "COMPLETED"

The build under test is $SPUR_BUILD_DIR (bin, slurm-bin, lib/spur), or a copy of it where other users could not reach it. Nothing here sleeps for a fixed time: everything polls
with a deadline. Daemons are ended by their process ids. The directory is kept, and named, when a test fails or $SPUR_KEEP is set.
"""
import atexit
import base64
import hmac
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time



def reachable(build):
    """The build itself, or a copy of its programs and plugins if jobs of other users, whom root's tests start, could not look into it."""
    folders = [build]
    while folders[-1] != os.path.dirname(folders[-1]):
        folders.append(os.path.dirname(folders[-1]))
    if not build or os.geteuid() != 0 or all(os.stat(folder).st_mode & 0o001 for folder in folders):
        return build
    copy = tempfile.mkdtemp(prefix="spur-build-")
    atexit.register(shutil.rmtree, copy, ignore_errors=True)
    os.chmod(copy, 0o755)
    for part in ("bin", "slurm-bin", "lib/spur", "tests/lib"):
        shutil.copytree(os.path.join(build, part), os.path.join(copy, part), symlinks=True)
    return copy


BUILD = reachable(os.environ.get("SPUR_BUILD_DIR", ""))
POLL = 0.02
PATIENCE = float(os.environ.get("SPUR_TEST_PATIENCE", "30"))  # seconds: for slow machines, raise it
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY", "PREEMPTED"}


def program(name):
    for folder in ("bin", "slurm-bin"):
        path = os.path.join(BUILD, folder, name)
        if os.path.exists(path):
            return path
    raise FileNotFoundError(f"{name} is not in {BUILD or '(SPUR_BUILD_DIR is not set)'}; build it first")


def free_port(above=None):
    """A port nobody has now, whose neighbour `above` it is free as well: controllers meet a hundred ports higher."""
    while True:
        with socket.socket() as probe, socket.socket() as neighbour:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
            try:
                neighbour.bind(("127.0.0.1", port + (above or 0)) if above else ("127.0.0.1", 0))
            except (OSError, OverflowError):
                continue
            return port


def eventually(check, what, patience=None):
    """Calls check() until it returns something true, and returns that. An AssertionError names `what` and the last answer."""
    deadline = time.monotonic() + (patience or PATIENCE)
    answer = None
    while True:
        answer = check()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"still not true after {patience or PATIENCE:g} s: {what}; the last answer was {answer!r}")
        time.sleep(POLL)


def plugin_process(daemon, type):
    """The pid of the process in which this daemon keeps the plugin `type` apart; None while there is none."""
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/cmdline") as line, open(f"/proc/{entry}/stat") as stat:
                if line.read().startswith(f"spur-plugin-child: {type}\0") and int(stat.read().rpartition(")")[2].split()[1]) == daemon.process.pid:
                    return int(entry)
        except OSError:
            pass  # it has just gone
    return None


def jwt(key, expires, user="root", algorithm="HS256", **claims):
    """A token of auth/jwt, good until `expires` if `key` is the cluster's."""
    def coded(part):
        return base64.urlsafe_b64encode(part).rstrip(b"=")
    text = b".".join(coded(json.dumps(part).encode()) for part in ({"alg": algorithm, "typ": "JWT"}, {"sun": user, "iat": expires - 5000, "exp": expires, **claims}))
    return (text + b"." + coded(hmac.digest(key, text, "sha256"))).decode()


class Daemon:
    """One process with its log. kill() is SIGKILL, stop() asks politely; both wait for the end."""

    def __init__(self, command, log, env=None):
        self.command, self.log, self.env, self.process = command, log, env, None
        self.mark = 0  # where in the log the present process began

    def start(self):
        self.mark = os.path.getsize(self.log) if os.path.exists(self.log) else 0
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env)

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def text(self):
        if not os.path.exists(self.log):
            return ""
        with open(self.log, errors="replace") as log:
            log.seek(self.mark)
            return log.read()

    def sanitizer_reports(self):
        """In builds with one: what it says went wrong, in all that this daemon has logged."""
        if not os.path.exists(self.log):
            return []
        with open(self.log, errors="replace") as log:
            return [f"{self.log}: {line.strip()}" for line in log if re.search(r"SUMMARY: \w+Sanitizer|: runtime error: ", line)]

    def signal(self, number):
        if self.alive():
            self.process.send_signal(number)

    def kill(self):
        self.signal(signal.SIGKILL)
        if self.process:
            self.process.wait()

    def stop(self, patience=PATIENCE):
        self.signal(signal.SIGTERM)
        if self.process:
            self.process.wait(patience)


class Controller(Daemon):
    def __init__(self, cluster, number, port):
        self.cluster, self.number, self.port, self.host = cluster, number, port, "127.0.0.1"
        self.folder = os.path.join(cluster.dir, f"ctld{number}")
        os.makedirs(os.path.join(self.folder, "state"), mode=0o700, exist_ok=True)
        self.config, self.wrapper = os.path.join(self.folder, "spur.conf"), []
        super().__init__([], os.path.join(self.folder, "spurctld.log"))

    @property
    def address(self):
        return f"{self.host}:{self.port}"

    def start(self):
        self.cluster.write_config(self)
        self.command = [*self.wrapper, program("spurctld"), "-D", "-v", "-f", self.config]
        super().start()

    def is_serving(self):
        if not self.alive():
            raise AssertionError(f"spurctld ended with {self.process.returncode}:\n{self.text()}")
        return "serving on port" in self.text()

    def leads(self):
        """By its own word; one that was cut off may not have noticed yet."""
        words = re.findall(r"this controller (leads|follows)", self.text())
        return self.alive() and bool(words) and words[-1] == "leads"


class Agent(Daemon):
    def __init__(self, cluster, name):
        self.cluster, self.name, self.boot_id, self.config = cluster, name, f"boot-of-{name}", None  # None: the first controller's
        self.listens = True  # on a free port; False: where the configuration says
        self.state = os.path.join(cluster.dir, name)
        os.makedirs(self.state, mode=0o755, exist_ok=True)
        super().__init__([], os.path.join(cluster.dir, f"{name}.log"))

    def start(self):
        self.command = [*self.cluster.wrapper, program("spurd"), "-D", "-v", "-f", self.config or self.cluster.controllers[0].config, "-N", self.name, "--virtual",
                        "--state-dir", self.state, *(["--listen", f"{self.cluster.host}:0"] if self.listens else []),
                        "--controller", self.cluster.controller_list(), "--boot-id", self.boot_id]
        super().start()

    def has_joined(self):
        if not self.alive():
            raise AssertionError(f"spurd for {self.name} ended with {self.process.returncode}:\n{self.text()}")
        return "joined cluster" in self.text()


class Cluster:
    """The whole. `settings` adds lines to the configuration by section: {"jobs": 'kill_wait = 1'}; `policies` names plugins that are
    to be used instead of the usual ones: {"sched": "fifo"}; `node_lines` are added to the nodes: 'gres = ["gpu:2"]'."""

    def __init__(self, nodes=2, cpus=2, settings=None, controllers=1, partitions="", auth=None, wait=True, policies=None, node_lines=""):
        if not BUILD:
            raise RuntimeError("SPUR_BUILD_DIR does not say which build to test")
        self.dir = tempfile.mkdtemp(prefix="spur-system-")
        os.chmod(self.dir, 0o755)  # jobs of other users work here too
        self.work = os.path.join(self.dir, "work")
        os.mkdir(self.work)
        os.chmod(self.work, 0o777)
        self.cpus, self.settings, self.partitions, self.auth = cpus, dict(settings or {}), partitions, auth
        self.node_lines = node_lines  # more about every node: 'gres = ["gpu:8"]'
        self.keep = bool(os.environ.get("SPUR_KEEP"))
        self.wrapper, self.host = [], "127.0.0.1"  # where agents and commands run: put before each of them, and their address
        self.helpers = []  # further daemons to end with the cluster: munged
        self.controllers = [Controller(self, i, free_port(above=100)) for i in range(1, controllers + 1)]
        self.agents = {f"n{i}": Agent(self, f"n{i}") for i in range(1, nodes + 1)}
        self.wait = wait
        self.policies = dict(policies or {})

    # ---- life -------------------------------------------------------------------------------------------------------

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.keep = True
            self.close()
            raise
        return self

    def __exit__(self, kind, *_):
        self.keep = self.keep or kind is not None
        self.end_daemons()  # what a sanitizer has to say about leaks comes now
        reports = [line for daemon in [*self.agents.values(), *self.controllers] for line in daemon.sanitizer_reports()]
        self.keep = self.keep or bool(reports)
        self.close()
        if reports and kind is None:
            raise AssertionError("a sanitizer found something:\n" + "\n".join(reports))

    def start(self):
        for attempt in range(5):
            for controller in self.controllers:
                controller.start()
            try:
                for controller in self.controllers:
                    eventually(controller.is_serving, "spurctld serves")
                break
            except AssertionError as problem:  # somebody else took the port in between
                if "in use" not in str(problem) or attempt == 4:
                    raise
                for controller in self.controllers:
                    controller.kill()
                    controller.port = free_port(above=100)
        for agent in self.agents.values():
            agent.start()
        if self.wait and self.agents:
            self.wait_nodes()
        elif self.wait:  # the first configuration is a command like any other: it is in force a moment after the controller serves
            eventually(lambda: self.run("scontrol", "show", "partition", "main").returncode == 0, "the configuration is in force")

    def end_daemons(self):
        daemons = [*self.agents.values(), *self.controllers]
        for agent in self.agents.values():
            agent.signal(signal.SIGCONT)
        for controller in self.controllers:
            controller.signal(signal.SIGCONT)
        for daemon in daemons:
            daemon.signal(signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE / 6
        for daemon in daemons:
            while daemon.alive() and time.monotonic() < deadline:
                time.sleep(POLL)
            daemon.kill()

    def close(self):
        self.end_daemons()
        for step in self.step_daemons():
            try:
                os.kill(step, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for helper in self.helpers:
            helper.kill()
        if self.keep:
            print(f"\nlogs and state are kept in {self.dir}", file=sys.stderr)
        else:
            shutil.rmtree(self.dir, ignore_errors=True)

    def step_daemons(self):
        """Process ids of the step daemons that work below this cluster's directory, whoever their parent is by now."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    is_step = file.read().startswith(b"spurstepd: [")
                if is_step and os.readlink(f"/proc/{pid}/cwd").startswith(self.dir + "/"):
                    found.append(int(pid))
            except OSError:
                continue
        return found

    # ---- configuration ----------------------------------------------------------------------------------------------

    def write_config(self, controller):
        hosts = ""
        if len(self.controllers) > 1:
            hosts = "hosts = [" + ", ".join(f'"{c.address}"' for c in self.controllers) + "]\n"
        sections = {
            "controller": f'listen_addr = "{controller.address}"\nstate_dir = "{controller.folder}/state"\n{hosts}',
            "scheduler": f'plugin = "{self.policies["sched"]}"\n' if "sched" in self.policies else "",
            "plugins": f'dirs = ["{BUILD}/lib/spur"]\npriority = "priority/basic"\ncgroup = "cgroup/none"\n' +
                       (f'select = "select/{self.policies["select"]}"\n' if "select" in self.policies else ""),
            "auth": self.auth or f'key_file = "{self.dir}/auth.key"\n',
            "agent": "heartbeat_secs = 1\n",
            "jobs": "kill_wait = 1\ndisable_root_jobs = false\n",
        }
        for name, lines in self.settings.items():  # a key that is given again replaces the one above
            given = {line.split("=")[0].strip() for line in lines.splitlines()}
            kept = [line for line in sections.get(name, "").splitlines() if line.split("=")[0].strip() not in given]
            sections[name] = "\n".join(kept + [lines.strip()]) + "\n"
        text = 'cluster_name = "test"\n' + sections.pop("", "")
        text += "".join(f"[{name}]\n{lines}" for name, lines in sections.items())
        names = f"n[1-{len(self.agents)}]" if len(self.agents) != 1 else "n1"
        if self.agents:
            text += f'[[nodes]]\nnames = "{names}"\ncpus = {self.cpus}\nmemory_mb = 4000\n{self.node_lines}\n'
            text += f'[[partitions]]\nname = "main"\nnodes = "{names}"\ndefault = true\n'
        else:  # nobody runs, but jobs can be kept
            text += '[[nodes]]\nnames = "n1"\ncpus = 2\nmemory_mb = 4000\n[[partitions]]\nname = "main"\nnodes = "n1"\ndefault = true\n'
        text += self.partitions
        with open(controller.config, "w") as file:
            file.write(text)

    def controller_list(self):
        return ",".join(controller.address for controller in self.controllers)

    # ---- commands ---------------------------------------------------------------------------------------------------

    def environment(self):
        env = {k: v for k, v in os.environ.items() if not re.match(r"SLURM|SBATCH|SRUN|SALLOC|SQUEUE|SINFO|SCANCEL|SPUR_", k)}
        env["SPUR_CONF"] = self.controllers[0].config
        env["SPUR_CONTROLLER_ADDR"] = self.controller_list()
        env["PATH"] = f"{BUILD}/slurm-bin:{BUILD}/bin:" + env.get("PATH", "/usr/bin:/bin")
        return env

    def popen(self, name, *words, wrapper=(), env=None, **how):
        how.setdefault("stdin", subprocess.DEVNULL)
        how.setdefault("stdout", subprocess.PIPE)
        how.setdefault("stderr", subprocess.PIPE)
        return subprocess.Popen([*self.wrapper, *wrapper, program(name), *map(str, words)], cwd=self.work, text=True,
                                env={**self.environment(), **(env or {})}, **how)

    def run(self, name, *words, input=None, patience=PATIENCE, **how):
        """The finished process: returncode, stdout, stderr."""
        with self.popen(name, *words, **({"stdin": subprocess.PIPE} if input is not None else {}), **how) as process:
            try:
                out, err = process.communicate(input, timeout=patience)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
                raise AssertionError(f"{name} {' '.join(map(str, words))} did not end within {patience:g} s\n{out}{err}") from None
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def ok(self, name, *words, **how):
        """stdout of a command that must succeed."""
        done = self.run(name, *words, **how)
        if done.returncode != 0:
            raise AssertionError(f"{name} {' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def submit(self, *words, **how):
        """The id of a new job."""
        return int(self.ok("sbatch", "--parsable", *words, **how).split(";")[0])

    def script(self, text):
        handle, path = tempfile.mkstemp(dir=self.work, suffix=".sh")
        with os.fdopen(handle, "w") as file:
            file.write(text if text.startswith("#!") else "#!/bin/sh\n" + text)
        os.chmod(path, 0o755)
        return path

    def read(self, name):
        path = os.path.join(self.work, name)
        if not os.path.exists(path):
            return ""
        with open(path) as file:
            return file.read()

    # ---- looking ----------------------------------------------------------------------------------------------------

    def show(self, what, name):
        """scontrol show as a dictionary: the first record."""
        done = self.run("scontrol", "-o", "show", what, name)
        if done.returncode != 0:
            return {}
        line = done.stdout.splitlines()[0]
        keys = list(re.finditer(r"(?:^|\s)([A-Za-z][A-Za-z0-9_/:.]*)=", line))
        ends = [key.start() for key in keys[1:]] + [len(line)]
        return {key.group(1): line[key.end():end].strip() for key, end in zip(keys, ends)}

    def job(self, job):
        return self.show("job", job)

    def state(self, job):
        return self.job(job).get("JobState", "")

    def wait_state(self, job, *states, patience=None):
        eventually(lambda: self.state(job) in states, f"job {job} is {' or '.join(states)}; it is {self.state(job)}", patience)
        return self.job(job)

    def wait_ended(self, job, patience=None):
        """The job's record once it has ended."""
        found = {}

        def ended():
            found.update(self.job(job))
            return found.get("JobState") in ENDED

        try:
            eventually(ended, f"job {job} has ended", patience)
        except AssertionError as problem:
            raise AssertionError(f"{problem}; it is {found}") from None
        return found

    def node_state(self, node):
        return self.show("node", node).get("State", "")

    def wait_nodes(self, patience=None):
        """Until every agent has joined and its node can take jobs."""
        for agent in self.agents.values():
            eventually(agent.has_joined, f"{agent.name} has joined", patience)
        for name in self.agents:
            eventually(lambda: self.node_state(name) in ("IDLE", "MIXED", "ALLOCATED"), f"{name} is up; it is {self.node_state(name)}", patience)
