"""The spur sim command as people run it: files in, tables, JSON and CSV out."""
import json
import os
import re
import subprocess
import tempfile
import unittest

BUILD = os.environ["SPUR_BUILD_DIR"]
CONF = """
[plugins]
sched = "sched/fifo"
select = "select/linear"
priority = "priority/basic"
[[nodes]]
names = "n[01-16]"
cpus = 4
memory_mb = 1000
[[partitions]]
name = "main"
nodes = "ALL"
default = true
"""
SWF = """; UnixStartTime: 1000000000
1 0 -1 100 8 -1 -1 8 120 -1 1 1 1 -1 -1 -1 -1 -1
2 10 -1 50 64 -1 -1 64 60 -1 1 2 1 -1 -1 -1 -1 -1
3 20 -1 10 4 -1 -1 4 60 -1 1 2 1 -1 -1 -1 -1 -1
"""


class SimCommand(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.addCleanup(self.dir.cleanup)
        self.conf = self.write("a.toml", CONF)

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def sim(self, *words, code=0):
        done = subprocess.run([os.path.join(BUILD, "bin", "spur"), "sim", *words], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def test_a_log_in_standard_workload_format_runs(self):
        trace = self.write("log.swf", SWF)
        report = json.loads(self.sim("-c", self.conf, "--json", trace))["simulations"][0]
        self.assertEqual(report["jobs"]["completed"], 3)
        self.assertEqual(report["makespan_s"], 160)  # 2 waits for 1, and first come is first served
        self.assertEqual(report["wait_s"]["max"], 130)
        self.assertEqual(report["starvation"]["longest_waiter"], "3")
        self.assertEqual(report["begins"], 1000000000)
        self.assertIn("makespan", self.sim("-c", self.conf, trace))

    def test_a_synthetic_day_gives_the_same_bytes_each_time(self):
        trace = self.path("day.jsonl")
        self.sim("synth", "--seed", "3", "-n", "300", "-c", self.conf, "-o", trace)
        runs = []
        for name in ("one.csv", "two.csv"):
            report = json.loads(self.sim("-c", self.conf, "--json", "--schedule", self.path(name), trace))
            for simulation in report["simulations"]:
                del simulation["cost"]
            with open(self.path(name)) as file:
                runs.append((report, file.read()))
        self.assertEqual(runs[0], runs[1])
        rows = [row.split(",") for row in runs[0][1].splitlines()[1:]]
        self.assertEqual(len(rows), 300)
        starts = [int(row[4]) for row in rows]
        self.assertEqual(starts, sorted(starts))  # fifo

    def test_configurations_are_compared_side_by_side(self):
        trace = self.write("log.swf", SWF)
        half = self.write("half.toml", CONF.replace("n[01-16]", "n[01-08]"))
        text = self.sim("compare", self.conf, half, trace)
        self.assertIn("worse", text)
        self.assertIn("half.toml", text)
        both = json.loads(self.sim("compare", "-j", self.conf, half, trace))["simulations"]
        self.assertEqual([one["cluster"]["nodes"] for one in both], [16, 8])

    def test_the_page_is_whole_and_needs_nothing_from_elsewhere(self):
        trace = self.write("log.swf", SWF)
        self.sim("-c", self.conf, "--html", self.path("page.html"), trace)
        with open(self.path("page.html")) as file:
            page = file.read()
        self.assertTrue(page.startswith("<!DOCTYPE html>"))
        self.assertTrue(page.rstrip().endswith("</html>"))
        for loads in ("src=", "href=", "@import", "url(http", "fetch("):
            self.assertNotIn(loads, page)
        self.assertEqual(set(re.findall(r"https?://[^\"]*", page)), {"http://www.w3.org/2000/svg"})
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
        data = json.loads(found.group(1))
        self.assertEqual(len(data["nodes"]), 16)
        self.assertEqual([bar[3:] for bar in data["bars"] if data["jobs"][bar[1]][0] == "1"], [[0, 100], [0, 100]])
        self.assertEqual(max(data["series"]["cpus"]), 1)

    def test_names_in_a_trace_cannot_break_out_of_the_page(self):
        trace = self.write("evil.jsonl", json.dumps({"submit": 0, "run": 5, "user": "</script><script>alert(1)</script>"}) + "\n")
        self.sim("-c", self.conf, "--html", self.path("page.html"), trace)
        with open(self.path("page.html")) as file:
            self.assertNotIn("<script>alert", file.read())

    def test_mistakes_are_told_and_nothing_is_printed_for_them(self):
        self.assertIn("bad.swf:1: 2 fields", self.sim("-c", self.conf, self.write("bad.swf", "1 2\n"), code=1))
        self.assertIn("cannot be opened", self.sim("-c", self.conf, self.path("nowhere.swf"), code=1))
        self.assertIn("cannot be opened", self.sim("-c", self.path("no.toml"), self.write("log.swf", SWF), code=1))
        self.assertIn("sched/none_such", self.sim("-c", self.conf, "-p", "sched=none_such", self.path("log.swf"), code=1))
        self.assertIn("AXIS=TYPE", self.sim("-p", "sched", self.path("log.swf"), code=2))
        self.assertIn("the simulator uses", self.sim("-c", self.conf, "-p", "state=raft", self.path("log.swf"), code=1))
        self.assertIn("--interval", self.sim("-i", "0", self.path("log.swf"), code=2))
        self.assertIn("which trace", self.sim(code=2))
        unknown = self.sim("-c", self.conf, "-s", "sched/fifo.nonesuch=1", self.path("log.swf"), code=1)
        self.assertIn("nonesuch", unknown)

    def test_an_option_in_quotes_is_a_text_even_if_it_looks_like_a_number(self):
        trace = self.write("log.swf", SWF)
        easy = ["-c", self.conf, "-p", "sched=sched/backfill", "-p", "select=select/gpu"]
        self.sim(*easy, "-s", 'sched/backfill.reserve="1"', trace)
        self.assertIn("must be a text", self.sim(*easy, "-s", "sched/backfill.reserve=1", trace, code=1))

    def test_help_names_every_command(self):
        text = self.sim("--help")
        for word in ("compare", "synth", "record", "--plugin", "--json"):
            self.assertIn(word, text)
        self.assertIn("--seed", self.sim("synth", "--help"))


if __name__ == "__main__":
    unittest.main()
