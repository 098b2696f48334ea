#!/usr/bin/env python3
"""tests/bench/sim_bench.py [BUILD] [--jobs N] [--seed N]: what the policy plugins are worth, in virtual time.

Prints three tables: schedulers on one synthetic day, GPU fragmentation of select/gpu against its own first fit on another, and
how long a simulated day of 100,000 jobs takes. Each is one trace, so its lines can be compared with each other.
"""
import argparse
import json
import os
import resource
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

NODES = {
    "cpu": 'names = "n[001-064]"\ncpus = 64\nmemory_mb = 256000\n',
    "gpu": 'names = "g[001-032]"\ncpus = 64\nsockets = 2\ncores_per_socket = 32\nmemory_mb = 512000\ngres = ["gpu:8"]\n',
}


class Bench:
    def __init__(self, build, folder):
        self.spur = os.path.join(build, "bin", "spur")
        self.folder = folder

    def run(self, *words):
        done = subprocess.run([self.spur, "sim", *words], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"spur sim {' '.join(words)}: {done.stderr}")
        return done.stdout

    def config(self, kind):
        path = os.path.join(self.folder, kind + ".toml")
        with open(path, "w") as file:
            file.write(f'[[nodes]]\n{NODES[kind]}[[partitions]]\nname = "main"\nnodes = "ALL"\ndefault = true\n')
        return path

    def trace(self, kind, *words):
        path = os.path.join(self.folder, kind + ".jsonl")
        self.run("synth", "-c", self.config(kind), "-o", path, *words)
        return path

    def simulate(self, kind, trace, sched, select="select/gpu", priority="priority/basic", settings=(), words=()):
        chosen = ["-p", f"sched={sched}", "-p", f"select={select}", "-p", f"priority={priority}", *words]
        for setting in settings:
            chosen += ["-s", setting]
        before = cpu_time()
        report = json.loads(self.run("-c", self.config(kind), "--json", *chosen, trace))["simulations"][0]
        return report, cpu_time() - before


def cpu_time():
    """Of all simulations so far: what they took on a machine of their own."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table(head, rows):
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, ["-" * width for width in widths], *rows]:
        print("| " + " | ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)) + " |")
    print()


def clock(seconds):
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02}:{int(seconds) % 60:02}"


def schedulers(bench, jobs, seed):
    trace = bench.trace("cpu", "--seed", seed, "-n", jobs, "-l", "0.95", "-t", "2-0")
    print(f"Two synthetic days, {jobs} jobs, load 0.95, 64 nodes of 64 cores; select/gpu, priority/basic, seed {seed}:\n")
    rows = []
    for name, sched, settings in (("sched/fifo", "sched/fifo", ()),
                                  ("EASY: sched/backfill, reserve = 1", "sched/backfill", ('sched/backfill.reserve="1"',)),
                                  ("sched/backfill", "sched/backfill", ()),
                                  ("conservative: reserve = all", "sched/backfill", ("sched/backfill.reserve=all",))):
        report, took = bench.simulate("cpu", trace, sched, settings=settings)
        use, cost = report["utilisation"], report["cost"]["plan_ms"]
        rows.append([name, f"{use['cpus']:.1%}", f"{report['bounded_slowdown']['mean']:.1f}", clock(report["wait_s"]["mean"]),
                     clock(report["wait_s"]["p99"]), clock(report["starvation"]["longest_wait_s"]), f"{report['jain_slowdown']:.2f}",
                     f"{cost['mean']:.2f} ms", f"{cost['p99']:.2f} ms", f"{took:.1f} s"])
    table(["scheduler", "cores in use", "mean bounded slowdown", "mean wait", "p99 wait", "longest wait", "Jain", "plan, mean",
           "plan, p99", "CPU time"], rows)


def fragmentation(bench, jobs, seed):
    print(f"Three synthetic days of GPU jobs, {jobs} jobs each, load 0.85, 32 nodes of 8 GPUs; sched/backfill, priority/basic:\n")
    rows = []
    for day in range(int(seed), int(seed) + 3):
        trace = bench.trace("gpu", "--seed", str(day), "-n", jobs, "-l", "0.85", "-g", "1")
        for name, settings in (("select/gpu", ()), ("its gpu_choice = first_fit", ("select/gpu.gpu_choice=first_fit",))):
            report, took = bench.simulate("gpu", trace, "sched/backfill", settings=settings)
            use = report["utilisation"]
            rows.append([str(day), name, f"{use['gpu_fragmentation']:.1%}", f"{use['gpus']:.1%}",
                         f"{report['bounded_slowdown']['mean']:.1f}", clock(report["wait_s"]["mean"]), f"{took:.1f} s"])
    table(["seed", "selector", "free GPUs stranded", "GPUs in use", "mean bounded slowdown", "mean wait", "CPU time"], rows)


def speed(bench, jobs, seed):
    trace = bench.trace("cpu", "--seed", seed, "-n", jobs, "--max-cpus", "256", "-l", "0.5")
    print(f"One synthetic day, {jobs} jobs, load 0.5, 64 nodes of 64 cores; select/gpu:\n")
    rows = []
    for sched, priority, interval in (("sched/fifo", "priority/basic", 1), ("sched/backfill", "priority/basic", 1),
                                      ("sched/backfill", "priority/basic", 5), ("sched/backfill", "priority/fairshare", 5)):
        report, took = bench.simulate("cpu", trace, sched, priority=priority, words=("-i", str(interval)))
        rows.append([sched, priority, f"{interval} s", str(report["cycles"]), str(report["queue"]["max"]),
                     f"{report['cost']['plan_ms']['mean']:.2f} ms", f"{took:.1f} s"])
    table(["sched", "priority", "interval", "cycles", "longest queue", "plan, mean", "CPU time"], rows)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("build", nargs="?", default=os.path.join(HERE, "..", "..", "build"))
    options.add_argument("--jobs", type=int, default=3000, help="of the first two tables (default 3000)")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", choices=["schedulers", "fragmentation", "speed"])
    options.add_argument("--day", type=int, default=100000, help="jobs of the third table (default 100000)")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(chosen.build, folder)
        for part, jobs in ((schedulers, chosen.jobs), (fragmentation, chosen.jobs), (speed, chosen.day)):
            if chosen.only in (None, part.__name__):
                part(bench, str(jobs), str(chosen.seed))


if __name__ == "__main__":
    main()
