"""What the tests of the hostile corpus share: a place with copies of the plugins, a spur.conf, and daemons that run until told to stop."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ.get("SPUR_BUILD_DIR", "build"))
BUILT = {name: BUILD / "tests" / name for name in ("hostile_plugins", "host_plugins")}
FAULTY = BUILD / "tests/conformance/faulty"  # those the checker is tried on
DEADLINE_S = 30


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Daemon:
    """A program in the foreground whose stderr is a file, so that it can be looked at while it runs."""

    def __init__(self, words, log, environment):
        self.log = log
        with open(log, "wb") as out:
            self.process = subprocess.Popen(words, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=environment)

    def text(self):
        return self.log.read_text(errors="replace")

    def wait_for(self, pattern):
        """The first match of `pattern` in what it has written; None once it is gone or the time is up."""
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            ended = self.process.poll() is not None
            if found := re.search(pattern, self.text()):
                return found
            if ended:
                return None
            time.sleep(0.02)
        return None

    def wait(self):
        return self.process.wait(timeout=DEADLINE_S)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(timeout=DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Case(unittest.TestCase):
    """A test with a folder of its own: `plugins` for copies of bad plugins, a spur.conf that looks there first."""

    maxDiff = None

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="spur-hostile-")).resolve()
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.plugins = self.root / "plugins"
        self.plugins.mkdir(mode=0o755)
        self.plugins.chmod(0o755)
        self.conf = self.root / "spur.conf"
        self.port = free_port()
        self.environment = {**os.environ, "SPUR_CONF": str(self.conf), "LC_ALL": "C"}

    def bring(self, name, folder="hostile_plugins", to=None, axis="sched"):
        """A copy of <axis>_<name>.so that the daemon may trust."""
        target = (to or self.plugins) / f"{axis}_{name}.so"
        shutil.copyfile(BUILT.get(folder, FAULTY) / target.name, target)
        target.chmod(0o755)
        return target

    def configure(self, sched, dirs=None, extra="", gpu="none", select="linear", priority="basic", state="memory"):
        names = sched if isinstance(sched, list) else [sched]
        words = ", ".join(f'"sched/{name}"' for name in names)
        places = ", ".join(f'"{place}"' for place in dirs or [self.plugins])
        self.conf.write_text(f"""cluster_name = "hostile"
[controller]
listen_addr = "127.0.0.1:{self.port}"
state_dir = "{self.root}/state"
[scheduler]
budget_secs = 0.2
[plugins]
dirs = [{places}]
state = "state/{state}"
sched = [{words}]
select = "select/{select}"
priority = "priority/{priority}"
cgroup = "cgroup/none"
gpu = ["gpu/{gpu}"]
[plugin."auth/local"]
key_file = "{self.root}/auth.key"
[jobs]
disable_root_jobs = false
[[nodes]]
names = "n1"
cpus = 2
memory_mb = 1000
[[partitions]]
name = "main"
nodes = "n1"
default = true
{extra}""")
        self.conf.chmod(0o644)

    def run_program(self, *words, preexec=None):
        return subprocess.run([BUILD / "bin" / words[0], *words[1:]], env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", timeout=60, preexec_fn=preexec, cwd=self.root)

    def try_configuration(self, preexec=None):
        return self.run_program("spurctld", "-t", "-f", str(self.conf), preexec=preexec)

    def start_controller(self, name="spurctld"):
        daemon = Daemon([BUILD / "bin/spurctld", "-D", "-v", "-f", self.conf], self.root / f"{name}.log", self.environment)
        self.addCleanup(daemon.stop)
        return daemon

    def start_serving(self, name="spurctld"):
        daemon = self.start_controller(name)
        self.assertTrue(daemon.wait_for(r"serving on port"), daemon.text())
        return daemon

    def start_agent(self, name="spurd"):
        daemon = Daemon([BUILD / "bin/spurd", "-D", "-f", self.conf, "-N", "n1", "--virtual", "--listen", "127.0.0.1:0",
                         "--controller", f"127.0.0.1:{self.port}", "--state-dir", self.root / "agent"],
                        self.root / f"{name}.log", self.environment)
        self.addCleanup(daemon.stop)
        return daemon

    def submit_and_forget(self):
        """A job for a daemon that may not live long enough to answer."""
        run = subprocess.Popen([BUILD / "bin/spur", "sbatch", "-n1", "--wrap", "true"], env=self.environment, cwd=self.root,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (run.kill(), run.wait()))

    def submit(self, *options):
        run = self.run_program("spur", "sbatch", "-n1", *options, "--wrap", "true")
        self.assertEqual(run.returncode, 0, run.stderr)
        return int(re.search(r"\d+", run.stdout)[0])


SEGV, ABRT = signal.SIGSEGV, signal.SIGABRT
EX_SOFTWARE = 70
