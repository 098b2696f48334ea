"""The same running jobs for any Slurm-compatible cluster, and what sstat then says of them.

    python3 sstat_workload.py /usr/bin > expected/sstat.txt     # against a real Slurm 22.05 with jobacct_gather/linux: its answers are the expectations

The cluster has two nodes n[1-2] with two CPUs or more, and nobody else on it. Numbers, nodes and jobs are made alike, and how far apart cells of a row are: what is compared
is which rows and cells there are, how they are written, the heads of the columns, what is said on stderr, and the exit code.

What is not compared: --help and --version, which name the program.
"""
import os
import re
import shlex
import subprocess
import sys
import time

# %(steps)s has a script and two steps, %(plain)s a script alone, %(over)s has ended.
LINES = """
sstat -j %(steps)s
sstat -a -j %(steps)s
sstat -j %(steps)s.batch
sstat -j %(steps)s.0
sstat %(steps)s
sstat %(steps)s.1 -n
sstat
sstat -j
sstat -j 4711
sstat -j %(steps)s.7
sstat -j %(steps)s.extern
sstat -j abc
sstat -j %(steps)s.xyz
sstat -j ,
sstat -i -j %(steps)s
sstat -a -i -j %(steps)s
sstat -i -P -a -j %(steps)s
sstat -p -a -j %(steps)s
sstat -P -n -a -j %(steps)s
sstat --noconvert -P -j %(steps)s
sstat -e
sstat --helpformat
sstat --usage
sstat -o JobID,MaxRSS%%20,AveCPU%%-15 -j %(steps)s
sstat -o nonsense -j %(steps)s
sstat -o jobid,max -j %(steps)s
sstat -j %(steps)s,%(over)s -o jobid
sstat -j %(plain)s -o jobid,maxrss
sstat -a -j %(plain)s -o jobid,ntasks,nodelist,reqcpufreq,consumedenergyraw
sstat -j %(steps)s.0,%(steps)s.batch -o jobid,ntasks,tresusageinave,tresusageinmaxtask,tresusageoutmax,tresusageoutmaxnode -P
sstat --allsteps --jobs=%(steps)s --format=JobID --parsable2 --noheader
sstat --fields=ntasks%%3 -a -j %(steps)s
sstat -n -p -o jobid,ntasks -a -j %(steps)s
sstat -a -j %(over)s
sstat -x
""".strip().splitlines()


class Workload:
    def __init__(self, folder, env, work, patience=60):
        self.folder, self.env, self.work, self.patience = folder, {**env, "LC_ALL": "C"}, work, patience

    def run(self, name, *words):
        return subprocess.run([os.path.join(self.folder, name), *words], cwd=self.work, env=self.env, text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=self.patience)

    def submit(self, *words):
        done = self.run("sbatch", "--parsable", "--mem=200", "-o", "/dev/null", *words)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout.strip().split(";")[0]

    def until(self, check, what):
        deadline = time.monotonic() + self.patience
        while not check():
            if time.monotonic() > deadline:
                raise AssertionError(f"still not true: {what}")
            time.sleep(0.1)

    def start(self):
        """The jobs run, and their steps have tasks that were measured once."""
        jobs = {"over": self.submit("--wrap", "true")}
        self.until(lambda: not self.run("squeue", "-h", "-j", jobs["over"]).stdout.strip(), "the first job is over")
        jobs["steps"] = self.submit("-N2", "-n2", "--wrap", "srun -N2 -n2 sh -c '>started; exec sleep 1000' & "
                                    "until [ -e started ]; do sleep 0.1; done; srun --overlap -N1 -n1 sleep 1000 & wait")
        jobs["plain"] = self.submit("-n1", "--wrap", "sleep 1000")
        wanted = [jobs["steps"] + suffix for suffix in (".batch", ".0", ".1")]
        measured = lambda: re.findall(r"^(\S+)\|\d*[1-9]\d*$", self.run("sstat", "-n", "-P", "--noconvert", "-a", "-j", jobs["steps"], "-o", "jobid,maxrss").stdout, re.M)
        self.until(lambda: sorted(measured()) == sorted(wanted), "both steps are measured")
        self.until(lambda: self.run("sstat", "-n", "-a", "-j", jobs["plain"], "-o", "maxrss").stdout.strip() not in ("", "0"), "the script is measured")
        return jobs

    def answers(self, jobs):
        text = ""
        for line in LINES:
            name, *words = shlex.split(line % jobs)
            done = self.run(name, *words)
            said = done.stderr.replace(self.folder + "/", "")
            text += f"$ {line}\n{alike(done.stdout, jobs)}{alike(said, jobs)}exit code {done.returncode}\n"
        return text

    def end(self, jobs):
        self.run("scancel", *jobs.values())


def alike(text, jobs):
    """Heads stay as they are; of rows the jobs get names, numbers and nodes become N and n, and runs of blanks one."""
    lines = []
    for line in text.splitlines():
        if re.match(r"[- ]+$|JobID|[A-Z][A-Za-z]+ +[A-Z]|Usage:", line):
            lines.append(line)
            continue
        for name, job in jobs.items():
            line = re.sub(rf"(^|StepId=|for job |specified: ){job}(?=$|\.)", rf"\g<1>{name.upper()}", line)
        step = re.match(r"(STEPS|PLAIN|OVER)\.\w+\+?", line)
        kept, line = (step.group(0), line[step.end():]) if step else ("", line)
        line = re.sub(r"\bn(\d+|\[[\d,-]+\])", "n", line)
        line = re.sub(r"\d+(,\d+)+\+?", "N", line)
        line = re.sub(r"\d+(\.\d+)?[KMGT]?\b", "N", line)
        lines.append((kept + re.sub(r" +", " ", line)).rstrip())
    return "".join(line + "\n" for line in lines)


def main(folder):
    workload = Workload(folder, dict(os.environ), os.getcwd())
    jobs = workload.start()
    try:
        print(workload.answers(jobs), end="")
    finally:
        workload.end(jobs)


if __name__ == "__main__":
    main(sys.argv[1])
