"""The same jobs for any Slurm-compatible cluster, and what sacct then says of them.

    python3 sacct_workload.py /usr/bin > expected/sacct.txt     # against a real Slurm 22.05 with slurmdbd: its answers are the expectations

Ids, times, hosts, users and paths are made alike, so that answers of two clusters can be compared line by line. The cluster must be new (its first job is 1) and have nobody
else on it: four nodes n[1-4] of 4 CPUs with the features fast and amd, CPUs and memory given out (CR_CPU_Memory, DefMemPerCPU=100); partitions main (default, DefaultTime=60) of
all nodes, small of n[1-2] with MaxTime=30 and DefaultTime=10; AccountingStoreFlags=job_comment,job_env,job_script, TrackWCKey=yes, KillWait=1.

What is not compared: what was measured (another's test), Flags, SubmitLine, DBIndex, WCKeyID, who cancelled a step, and a wckey that nobody gave (Slurm's users have a default one, "*").
"""
import grp
import os
import pwd
import re
import shlex
import subprocess
import sys
import time

ME = pwd.getpwuid(os.geteuid()).pw_name

# Whatever differs from run to run: its shape is kept, its value is not.
TIMES = {"elapsed", "cputime", "reserved", "resvcpu", "totalcpu", "usercpu", "systemcpu", "suspended"}
NUMBERS = {"elapsedraw", "cputimeraw", "resvcpuraw", "associd", "priority", "qosraw", "uid", "gid"}
NAMES = {"user": "USER", "group": "GROUP", "cluster": "CLUSTER"}
LEFT_OUT = re.compile(r"(ave|max|min|tresusage|consumedenergy).*|flags|submitline|dbindex|wckeyid")


class Workload:
    def __init__(self, folder, env, work, patience=120):
        self.folder, self.env, self.work, self.patience = folder, {**env, "TZ": "UTC", "LC_ALL": "C"}, work, patience
        self.jobs = {}

    # ---- commands ---------------------------------------------------------------------------------------------------

    def run(self, name, *words):
        return subprocess.run([os.path.join(self.folder, name), *map(str, words)], cwd=self.work, env=self.env, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=self.patience)

    def ok(self, name, *words):
        done = self.run(name, *words)
        if done.returncode != 0:
            raise AssertionError(f"{name} {' '.join(map(str, words))}: {done.stdout}{done.stderr}")
        return done.stdout

    def submit(self, label, *words):
        self.jobs[label] = self.ok("sbatch", "--parsable", "-o", "/dev/null", "-J", label, *words).strip().split(";")[0]
        return self.jobs[label]

    def until(self, check, what):
        deadline = time.monotonic() + self.patience
        while not check():
            if time.monotonic() > deadline:
                raise AssertionError(f"still not true: {what}")
            time.sleep(0.1)

    def next_second(self):
        """Jobs of one second are sorted by more than their number."""
        now = int(time.time())
        self.until(lambda: int(time.time()) > now, "a second has passed")

    def state(self, job):
        found = re.findall(r"JobState=(\w+)", self.run("scontrol", "show", "job", job).stdout)
        return found[0] if found else ""

    def wait(self, job, *states):
        self.until(lambda: self.state(job) in states, f"job {job} is {states}")

    def ended(self, job):
        self.until(lambda: not re.search("PENDING|RUNNING|COMPLETING|SUSPENDED|CONFIGURING", self.ok("squeue", "-h", "-j", job, "-t", "all", "-o", "%T")), f"job {job} has ended")
        self.until(lambda: not self.run("squeue", "-h", "-j", job, "-o", "%i").stdout.strip(), f"job {job} has left its nodes")

    def done(self, label, *words):
        self.ended(self.submit(label, *words))

    # ---- what is run ------------------------------------------------------------------------------------------------

    def accounts(self):
        change = lambda *words: self.ok("sacctmgr", "-i", *words)
        for name in ("physics", "chem"):
            change("add", "account", name)
            change("add", "user", ME, f"account={name}")
        for name in ("high", "low"):
            change("add", "qos", name)
        for name in ("physics", "chem"):
            change("modify", "user", "where", f"name={ME}", f"account={name}", "set", "qos=normal,high,low", "defaultqos=normal")
        change("modify", "user", "where", f"name={ME}", "set", "defaultaccount=physics")

    def all(self):
        self.accounts()
        # Over its limit after a minute, while the others run elsewhere.
        self.submit("late", "-t", "1", "-w", "n4", "--exclusive", "--wrap", "srun sleep 600")
        self.wait(self.jobs["late"], "RUNNING")
        self.done("plain", "-n2", "-t", "5", "--comment=some words", "--wrap", "srun -J inner true")
        self.done("bad", "--wrap", "exit 3")
        self.done("steps", "-n2", "--wrap", "srun -n1 -J one false; srun -n2 -J two sh -c 'exit 7'; true")
        self.done("killed", "--wrap", "kill -9 $$")
        self.done("account", "-A", "chem", "-q", "high", "-p", "small", "--wrap", "true")
        self.done("other", "-A", "chem", "-q", "low", "-t", "1-02:03:00", "--wrap", "srun -n1 -J inner true; exit 1")
        self.done("a-very-long-name-of-a-job", "-C", "fast", "--mem=500M", "--wrap", "true")
        self.done("percpu", "-n2", "--mem-per-cpu=1G", "-C", "fast&amd", "--wrap", "srun true")
        self.done("wide", "-N2", "--ntasks-per-node=2", "-p", "small", "--wrap", "srun -J spread true")
        self.done("threads", "-c3", "--wckey=green", "--wrap", "srun -c3 true")
        self.done("many", "--array=1-3", "--wrap", "exit $((SLURM_ARRAY_TASK_ID == 2))")
        self.next_second()
        running = self.submit("gone", "-n1", "--wrap", "srun -J inner sleep 600")
        self.until(lambda: self.ok("squeue", "-h", "-s", "-j", running).count("\n") >= 2, "its step runs")
        self.ok("scancel", running)
        self.ended(running)
        self.submit("never", "-H", "--wrap", "true")
        self.until(lambda: self.state_in_history("never") == "PENDING", "history has heard of it")
        self.ok("scancel", self.jobs["never"])
        self.ended(self.jobs["never"])
        stepwise = self.submit("stepwise", "-n1", "--wrap", "srun -J first sleep 600; srun -J second true")
        self.until(lambda: re.search(r"\.0\b", self.ok("squeue", "-h", "-s", "-j", stepwise, "-o", "%i")), "its step runs")
        self.ok("scancel", f"{stepwise}.0")
        self.ended(stepwise)
        self.done("het", "-n1", ":", "-n2", "--wrap", "srun --het-group=0,1 -J both true")
        again = self.submit("again", "--requeue", "--wrap", "sleep 600")
        self.wait(again, "RUNNING")
        self.ok("scontrol", "requeuehold", again)
        self.wait(again, "PENDING")
        self.until(lambda: self.state_in_history("again") == "PENDING", "history has heard of it")
        self.ok("scancel", again)
        self.wait(again, "CANCELLED")
        self.ok("srun", "-J", "direct", "-n2", "true")
        self.ok("salloc", "-J", "shell", "-n1", "true")
        self.ok("salloc", "-J", "inside", "-n2", os.path.join(self.folder, "srun"), "-J", "within", "-n1", "true")
        for name in ("direct", "shell", "inside"):
            self.jobs[name] = self.named(name)
        paused = self.submit("paused", "-n1", "--wrap", "sleep 3")
        self.wait(paused, "RUNNING")
        if self.run("scontrol", "suspend", paused).returncode == 0:
            self.wait(paused, "SUSPENDED")
            self.ok("scontrol", "resume", paused)
        self.ended(paused)
        # Those that go on while sacct is asked.
        live = self.submit("live", "-w", "n3", "-n4", "--wrap", "srun -n2 --exact -J going sleep 600")
        self.until(lambda: re.search(r"\.0\b", self.ok("squeue", "-h", "-s", "-j", live, "-o", "%i")), "its step runs")
        self.submit("queued", "-w", "n3", "-n4", "--wrap", "true")
        self.submit("held", "-H", "--wrap", "true")
        self.submit("after", "-d", f"afterok:{live}", "--wrap", "true")
        self.submit("later", "-b", "now+1hour", "--wrap", "true")
        self.submit("waiting", "--array=5-9%2", "-H", "--wrap", "true")
        self.ended(self.jobs["late"])
        self.until(lambda: self.state_in_history("late") == "TIMEOUT" and self.state_in_history("waiting") == "PENDING", "history has heard of it all")
        self.next_second()  # what has just ended was running in this one

    def state_in_history(self, label):
        lines = self.run("sacct", "-n", "-X", "-P", "-o", "state", "-j", self.jobs[label]).stdout.splitlines()
        return lines[0] if lines else ""

    def named(self, name):
        found = []
        self.until(lambda: found.extend(self.run("sacct", "-n", "-X", "-P", "-o", "jobid", f"--name={name}").stdout.split()) or found, f"history has {name}")
        return found[0]

    def end(self):
        for label in ("live", "queued", "held", "waiting", "after", "later"):
            self.run("scancel", self.jobs.get(label, 0))

    # ---- what is asked ----------------------------------------------------------------------------------------------

    def answer(self, line):
        """The normalised answer to a command line, with names of jobs in braces."""
        group = grp.getgrgid(os.getegid()).gr_name
        words = shlex.split(line.format(**self.jobs, cut=self.jobs["a-very-long-name-of-a-job"], me=ME, group=group))
        env = dict(word.split("=", 1) for word in words if re.match(r"[A-Z_]+=", word))
        words = [word for word in words if not re.match(r"[A-Z_]+=", word)]
        done = subprocess.run([os.path.join(self.folder, words[0]), *words[1:]], cwd=self.work, env={**self.env, **env}, text=True, capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=self.patience)
        text = self.normal(done.stdout, words) + "".join(f"stderr: {part}\n" for part in self.plain(done.stderr).splitlines())
        return text + (f"exit code {done.returncode}\n" if done.returncode else "")

    def plain(self, text):
        text = text.replace(self.work, "WORK")
        text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", "YYYY-MM-DDThh:mm:ss", text)
        return re.sub(rf"CANCELLED by {os.geteuid()}\b", "CANCELLED by 0", text)

    def normal(self, text, words):
        lines = self.plain(text).splitlines()
        delimiter = next((word.split("=", 1)[1] for word in words if word.startswith("--delimiter=")), "|")
        if len(lines) >= 2 and re.fullmatch(r"(-+ )+", lines[1]):  # aligned: the second line has the widths
            widths, places, at = [], [], 0
            for dashes in lines[1].split():
                places.append(at)
                widths.append(len(dashes))
                at += len(dashes) + 1
            names = [lines[0][p:p + w].strip() for p, w in zip(places, widths)]
            lefts = [lines[0][p:p + w] == n.ljust(w) and w != len(n) for p, w, n in zip(places, widths, names)]
            out = lines[:2]
            for line in lines[2:]:
                cells = [line[p:p + w].strip() for p, w in zip(places, widths)]
                cells = [c[:w] for c, w in zip(row_alike(names, cells), widths)]
                out.append("".join((c.ljust(w) if l else c.rjust(w)) + " " for c, w, l in zip(cells, widths, lefts)))
        elif lines and delimiter in lines[0] and "-n" not in words:
            names = lines[0].split(delimiter)
            out = [lines[0]] + [delimiter.join(row_alike(names, line.split(delimiter))) for line in lines[1:]]
        else:
            out = lines
        return "".join(line.rstrip() + "\n" for line in out)


def row_alike(names, cells):
    """Cells of one line; who cancelled a step is not compared, for we do not keep it."""
    is_step = any(name.lower().startswith("jobid") and "." in cell for name, cell in zip(names, cells))
    return [re.sub(r"^CANCELLED( by \d+|\+)$", "CANCELLED", cell) if is_step and name.lower() == "state" else alike(name, cell) for name, cell in zip(names, cells)]


def alike(name, value):
    name = name.lower()
    if not value:
        return value
    if name in NAMES:
        return NAMES[name]
    if name in TIMES and re.fullmatch(r"[-+:.0-9]+", value):
        return "time"
    if name in NUMBERS and re.fullmatch(r"[+0-9]+", value):
        return "#"
    if LEFT_OUT.fullmatch(name) or value == "*":
        return ""
    return value


def command_lines():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "sacct_lines.txt")) as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def report(workload):
    return "".join(f"$ {line}\n{workload.answer(line)}\n" for line in command_lines())


def main(folder):
    import tempfile
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o777)
        workload = Workload(folder, dict(os.environ), work)
        try:
            workload.all()
            sys.stdout.write(report(workload))
        finally:
            workload.end()


if __name__ == "__main__":
    main(sys.argv[1])
