#!/usr/bin/env python3
"""What jobs, steps and salloc's commands find in their environment, name by name, under Slurm and under Spur.

    environment.py collect FILE [PATTERN]  runs the cases below with the sbatch, srun and salloc in PATH and keeps what they saw
    environment.py compare SLURM SPUR      prints every variable that differs; exit code 1 if there is one

Both clusters should have the same shape: four nodes n1 to n4 with 8 CPUs and 4 GPUs of type tesla. Collect from a Slurm with SLURM_CONF
set and from Spur with SPUR_CONF; nothing is started or stopped here. What must differ (ids, ports, paths, which node) is not compared;
docs/environment.md says what else does, and why.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

SHAPES = {
    "plain": "", "nodes": "-N2", "tasks": "-n3", "all": "-N2 -n4 -c2", "cpus": "-c3", "memory": "--mem=500", "memory-cpu": "-n2 --mem-per-cpu=100",
    "whole": "--exclusive -N1", "per-node": "-N2 --ntasks-per-node=3", "per-core": "-n2 --ntasks-per-core=1", "threads": "--threads-per-core=1",
    "overcommit": "-O -n4", "cyclic": "-N2 -n4 -m cyclic", "plane": "-N2 -n4 -m plane=2", "name": "-J another", "directory": "-D /usr",
    "gres": "--gres=gpu:2", "gres-type": "--gres=gpu:tesla:2", "gpus": "--gpus=2", "gpus-node": "-N2 --gpus-per-node=1", "gpus-task": "-n2 --gpus-per-task=1",
    "cpus-gpu": "--gpus=2 --cpus-per-gpu=3", "tasks-gpu": "--gpus=2 --ntasks-per-gpu=1",
}
BATCH = {"array": "-a 1-5:2", "array-list": "-a 1,4,9", "append": "--open-mode=append", "none": "--export=NONE", "some": "--export=A=1,B", "more": "--export=ALL,A=1"}
STEPS = {  # of a job with: the step
    "plain": ("", ""), "fewer": ("-n4", "-n2"), "own-cpus": ("-c4", "-c2"), "inherited": ("-N2 -n4 -c2", ""), "one-node": ("-N2", "-N1"), "exact": ("-n4", "--exact -n1"),
    "one-gpu": ("--gres=gpu:2", "--gres=gpu:1"), "no-gpu": ("--gres=gpu:2", "--gres=none"), "name": ("-J job", "-J step"), "label": ("-n2", "-l"),
    "preserve": ("-N2 -n4", "-E -N1 -n1"), "overcommit": ("-n1", "-O -n3"), "memory": ("--mem=500", "--mem=200"),
}
# Ids, ports, times, and what only the machine or the other product decides.
NOT_COMPARED = re.compile(r"PATH|PWD|OLDPWD|SHLVL|_|SPUR_.*|SLURM_CONF|SLURM_CLUSTER_NAME|SLURM_WORKING_CLUSTER|SLURM_TASK_PID|SLURM_RLIMIT_.*|SLURM_JOB_QOS|"
                          r"SLURM_(SRUN_COMM|STEP_LAUNCHER|LAUNCH_NODE)_.*|SLURM_JOB_(ID|DEPENDENCY)|SLURM_JOBID|SLURM_ARRAY_JOB_ID|SLURM_JOB_(START|END)_TIME|"
                          r"HOSTNAME|SLURMD_NODENAME|SLURM_TOPOLOGY_ADDR|SLURM_(JOB_|STEP_)?NODELIST|CUDA_.*|ROCR_.*|GPU_DEVICE_ORDINAL|ZE_AFFINITY_MASK|SLURM_(JOB|STEP)_GPUS")
PRESENCE = re.compile(r"CUDA_.*|SLURM_(JOB|STEP)_GPUS")  # whether they are there is compared, and how many devices they name


def cases():
    """name: what to run; dumps go to files in the directory $OUT."""
    dump = '/usr/bin/env -0 > "$OUT/{}${{SLURM_ARRAY_TASK_ID:+.$SLURM_ARRAY_TASK_ID}}${{SLURM_PROCID:+.$SLURM_PROCID}}"'
    for name, options in {**SHAPES, **BATCH}.items():
        script = dump.format("batch").replace("$OUT", "{out}")
        yield f"batch {name}", f"sbatch -Q -W -o /dev/null {options} --wrap '{script}'"
    for name, options in SHAPES.items():
        script = dump.format("step").replace("$OUT", "{out}")
        yield f"srun {name}", f"srun -Q {options} sh -c '{script}'"
        script = dump.format("salloc").replace("$OUT", "{out}")
        yield f"salloc {name}", f"salloc -Q {options} sh -c '{script}'"
    for name, (job, step) in STEPS.items():
        script = dump.format("step").replace("$OUT", "{out}").replace('"', '\\"').replace("$", "\\$")
        yield f"step {name}", f"sbatch -Q -W -o /dev/null {job} --wrap 'srun -Q {step} sh -c \"{script}\"'"


def collect(file, pattern=""):
    keep = {name: os.environ[name] for name in ("PATH", "SLURM_CONF", "SPUR_CONF", "SPUR_CONTROLLER_ADDR") if name in os.environ}
    base = {**keep, "HOME": "/tmp", "USER": "nobody", "LOGNAME": "nobody", "SHELL": "/bin/sh", "LANG": "C", "TERM": "dumb", "B": "2"}
    found = {}
    with tempfile.TemporaryDirectory() as work:
        os.chmod(work, 0o777)
        for name, command in cases():
            if not re.search(pattern, name):
                continue
            out = os.path.join(work, re.sub(r"\W", "_", name))
            os.mkdir(out)
            done = subprocess.run(["sh", "-c", command.replace("{out}", out)], cwd=work, env=base, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
            dumps = {}
            for entry in sorted(os.listdir(out)):
                with open(os.path.join(out, entry), errors="replace") as dumped:
                    dumps[entry] = dict(pair.split("=", 1) for pair in dumped.read().replace(work, "WORK").split("\0") if "=" in pair)
            found[name] = {"code": done.returncode, "said": done.stderr, "dumps": dumps}
            print(f"{name}: {len(dumps)} environments", file=sys.stderr)
    with open(file, "w") as kept:
        json.dump(found, kept, indent=1)
    return 0


def comparable(environment):
    kept = {name: value for name, value in environment.items() if not NOT_COMPARED.fullmatch(name)}
    kept.update({name: f"{value.count(',') + 1} devices" for name, value in environment.items() if PRESENCE.fullmatch(name)})
    return kept


def compare(ours, theirs):
    with open(ours) as one, open(theirs) as other:
        one, other = json.load(one), json.load(other)
    different = 0
    for name in sorted({*one} & {*other}):
        ours, theirs = one[name]["dumps"], other[name]["dumps"]
        if sorted(ours) != sorted(theirs):
            different += 1
            print(f"{name}: {sorted(ours)} against {sorted(theirs)}")
        for dump in sorted({*ours} & {*theirs}):
            left, right = comparable(ours[dump]), comparable(theirs[dump])
            for variable in sorted({*left, *right}):
                if left.get(variable) == right.get(variable):
                    continue
                different += 1
                print(f"{name}, {dump}: {variable} is {left.get(variable)!r} against {right.get(variable)!r}")
    print(f"{different} differences")
    return different != 0


if __name__ == "__main__":
    if len(sys.argv) in (3, 4) and sys.argv[1] == "collect":
        sys.exit(collect(*sys.argv[2:]))
    if len(sys.argv) == 4 and sys.argv[1] == "compare":
        sys.exit(compare(*sys.argv[2:]))
    sys.exit(__doc__)
