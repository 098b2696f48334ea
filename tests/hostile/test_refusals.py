"""Every plugin of the corpus on its own: what `spur plugin list`, `spurctld -t` and `spur-plugin-check` say of it."""

import json
import resource
import shutil
import unittest

import corpus

# Broken before an instance exists: the sentence of -t behind the name of the file. {type} and {file} stand for the plugin's.
LOAD = {
    "no_entry": "it does not export spur_module_v1() as spurctld needs, so it is no Spur plugin or its symbol is hidden; build it "
                "with spur_add_plugin() or mark the function SPUR_EXPORT",
    "epoch_two": "it exports spur_module_v2 and spurctld speaks spur_module_v1; install its release for Spur 1.x",
    "null_module": "its spur_module_v1() returned NULL",
    "small_module": "its spur_module is 4 bytes and spurctld needs at least 24; build the plugin with the headers of Spur 1.0 or later",
    "huge_module": "its spur_module claims to be 1073741824 bytes long; its `size` was not set to sizeof",
    "wild_module": "its spur_module lies in memory that cannot be read; build the plugin again with its headers",
    "wrong_epoch": "it was built for ABI epoch 7 and spurctld speaks epoch 1; install its release for Spur 1.x",
    "no_plugins": "it holds no plugin",
    "small_desc": "descriptor 0 is 16 bytes and spurctld needs at least 88; build the plugin with the headers of Spur 1.0 or later",
    "huge_desc": "descriptor 0 claims to be 2147483647 bytes long; its `size` was not set to sizeof",
    "wild_desc": "descriptor 0 lies in memory that cannot be read; build the plugin again with its headers",
    "wild_type": "its `type` is not a terminated string of at most 64 bytes",
    "endless_summary": "the `summary` of {type} is not a terminated string of at most 1024 bytes",
    "wrong_name": "it holds sched/something, which belongs in sched_something.so; rename the file or its type",
    "null_create": "create() of {type} is NULL and required",
    "wild_create": "create() of {type} does not point to code",
    "twice_option": '{type} declares option "depth" twice',
    "undefined_symbol": "the dynamic linker says: undefined symbol: nobody_defines_this; link it against all it needs, nothing comes "
                        "from the daemon",
}

# Loads, and is refused when an instance is wanted: the whole sentence of -t.
TABLES = {
    "major_two": "plugin {type} refused: it speaks spur.sched/2, this spurctld speaks spur.sched/1; install a release of the plugin "
                 "for Spur 1.x",
    "null_query": "plugin {type} refused: it lists spur.sched/1 and its query() answers NULL for it; this spurctld needs the table",
    "null_op": "plugin {type} refused: plan() of its spur.sched/1 table is NULL and this spurctld requires it",
    "short_ops": "plugin {type} refused: its spur.sched/1 table is 8 bytes and ends before plan(), which this spurctld requires; "
                 "build it with the headers of Spur 1.0 or later",
    "huge_ops": "plugin {type} refused: its spur.sched/1 table claims to be 4294967295 bytes long; its `size` was not set to sizeof",
    "wild_ops": "plugin {type} refused: its query() answers with a pointer that cannot be read",
    "wild_op": "plugin {type} refused: plan() of its spur.sched/1 table does not point to code",
    "create_nothing": "plugin {type} refused: its create() succeeded without making an instance",
}
CREATE = {
    "throws_in_create": "plugin {type} threw an exception out of create(): nobody catches this",
    "eats_in_create": "plugin {type} threw an exception out of create(): std::bad_alloc",
    "fails_silently": "plugin {type} failed in create() and does not say why (I/O failed)",
    "garbles_its_error": "plugin {type}: " + " " * 8,
}

# Takes the process along: the last words of the daemon, and how it ends.
DEADLY = {
    "segfaults_in_create": ("plugin {type} crashed in create: Segmentation fault", -corpus.SEGV),
    "exits_in_create": ("plugin {type} called exit() in create", corpus.EX_SOFTWARE),
    "segfaults_in_destroy": ("plugin {type} crashed in destroy: Segmentation fault", -corpus.SEGV),
    "exits_in_destroy": ("plugin {type} called exit() in destroy", corpus.EX_SOFTWARE),
}

# Kills, hangs or feeds on whoever opens it.
LISTED = {
    "crash_on_load": "it crashed while it was loaded: Segmentation fault",
    "exit_on_load": "it called exit(3) while it was loaded",
    "loop_on_load": "it did not finish loading within ",
    "eat_on_load": "it crashed while it was loaded: Aborted, or it wanted more than ",
}

# The case of the checker that finds it, and words of what it says.
CHECKED = {
    "throws_in_create": ("create", "nobody catches this"),
    "throws_in_destroy": ("", "nobody catches this"),
    "throws_in_plan": ("", "plan"),
    "segfaults_in_create": ("create", "SIGSEGV"),
    "segfaults_in_plan": ("", "SIGSEGV"),
    "segfaults_in_destroy": ("", "SIGSEGV"),
    "exits_in_create": ("create", "exit(0)"),
    "exits_in_plan": ("", "exit(0)"),
    "aborts_in_plan": ("", "SIGABRT"),
    "fails_silently": ("create", ""),
    "leaves_a_thread": ("threads-joined", "still runs after destroy()"),
    "exports_too_much": ("exports", "SSL_write"),
    "plans_on_a_thread": ("", "thread"),
    "reads_the_clock": ("plan-no-clock", "clock"),
    "oversubscribes": ("plan-sound", "it starts job"),
    "names_unknown_nodes": ("plan-sound", "4000000"),
    "starts_strangers": ("plan-sound", "123456"),
    "repeats_a_job": ("plan-sound", ""),
    "starts_nowhere": ("plan-sound", ""),
}


class Refusals(corpus.Case):
    def try_one(self, name, folder, preexec=None):
        file = self.bring(name, folder)
        self.configure(name)
        run = self.try_configuration(preexec)
        return run, {"file": str(file), "type": f"sched/{name}"}

    def test_what_cannot_be_loaded_is_refused_in_one_sentence(self):
        for name, sentence in LOAD.items():
            with self.subTest(name):
                run, names = self.try_one(name, "host_plugins")
                self.assertEqual(run.stderr, f"spurctld: error: plugin file {names['file']} refused: {sentence.format(**names)}\n")
                self.assertEqual(run.returncode, corpus.EX_SOFTWARE)

    def test_what_has_no_usable_table_is_refused_in_one_sentence(self):
        for name, sentence in TABLES.items():
            with self.subTest(name):
                run, names = self.try_one(name, "host_plugins")
                self.assertEqual(run.stderr, f"spurctld: error: {sentence.format(**names)}\n")
                self.assertEqual(run.returncode, corpus.EX_SOFTWARE)

    def test_what_fails_in_create_is_refused_with_its_reason(self):
        def little_memory():
            resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

        for name, sentence in CREATE.items():
            with self.subTest(name):
                run, names = self.try_one(name, "hostile_plugins", little_memory if name == "eats_in_create" else None)
                self.assertTrue(run.stderr.startswith(f"spurctld: error: {sentence.format(**names)}"), run.stderr)
                self.assertEqual(run.stderr.count("\n"), 1, "one line, whatever the plugin wrote")
                self.assertEqual(run.returncode, corpus.EX_SOFTWARE)

    def test_what_kills_the_process_is_named_before(self):
        for name, (words, status) in DEADLY.items():
            with self.subTest(name):
                run, names = self.try_one(name, "hostile_plugins")
                self.assertEqual(run.stderr, f"spurctld: {words.format(**names)}\n")
                self.assertEqual(run.returncode, status)
                self.assertFalse((self.root / "state" / "crashes.log").exists(), "a trial is not held against a plugin")

    def test_an_exception_out_of_destroy_is_an_error_in_the_log_and_no_more(self):
        run, names = self.try_one("throws_in_destroy", "hostile_plugins")
        self.assertIn("plugin sched/throws_in_destroy threw an exception out of destroy(): nobody catches this", run.stderr)
        self.assertEqual(run.returncode, 0)

    def test_a_create_that_does_not_return_is_named(self):
        self.bring("loops_in_create")
        self.configure("loops_in_create")
        daemon = self.start_controller()
        self.assertTrue(daemon.wait_for(r"plugin sched/loops_in_create has been in create\(\) for 5 s and nothing goes on until it "
                                        r"returns; if it does not, choose another plugin"), daemon.text())
        daemon.process.kill()

    def test_a_list_goes_on_to_the_next_choice(self):
        self.bring("null_op", "host_plugins")
        self.bring("throws_in_create")
        self.bring("well_behaved")
        self.configure(["null_op", "throws_in_create", "well_behaved"])
        daemon = self.start_serving()
        self.assertIn("plan() of its spur.sched/1 table is NULL and this spurctld requires it", daemon.text())
        self.assertIn("nobody catches this; sched/well_behaved is used instead", daemon.text())
        self.assertEqual(daemon.stop(), 0)


class Listing(corpus.Case):
    def setUp(self):
        super().setUp()
        for folder in corpus.BUILT.values():
            for file in folder.glob("*.so"):
                shutil.copyfile(file, self.plugins / file.name)
                (self.plugins / file.name).chmod(0o755)
        for name, content in {"text": b"hello\n", "empty": b""}.items():
            (self.plugins / f"sched_{name}.so").write_bytes(content)
        whole = (self.plugins / "sched_well_behaved.so").read_bytes()
        (self.plugins / "sched_cut.so").write_bytes(whole[:1000])
        (self.plugins / "sched_loop_of_links.so").symlink_to(self.plugins / "sched_loop_of_links.so")
        self.configure("well_behaved")

    def test_the_whole_corpus_in_one_listing(self):
        run = self.run_program("spur", "plugin", "list", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        listed = {}
        for line in json.loads(run.stdout)["plugins"]:
            listed.setdefault(line["file"], []).append(line)
        ours = {file: lines for file, lines in listed.items() if file.startswith(str(self.plugins))}
        self.assertEqual(set(ours), {str(file) for file in self.plugins.iterdir()}, "every file has its line")
        self.assertGreaterEqual(len(ours), 60)

        def line(name):
            return ours[str(self.plugins / f"sched_{name}.so")][0]

        for name, sentence in {**LOAD, **LISTED}.items():
            with self.subTest(name):
                self.assertEqual(line(name)["state"], "refused")
                expected = sentence.format(type=f"sched/{name}").replace("spurctld", "Spur")
                self.assertTrue(line(name)["error"].startswith(f"plugin file {self.plugins}/sched_{name}.so refused: {expected}"),
                                line(name)["error"])
        for name in [*TABLES, *CREATE, *DEADLY, "loops_in_create", "exports_too_much", "segfaults_in_plan"]:
            with self.subTest(name):
                self.assertEqual(line(name)["state"], "available", "listing makes no instance")
        for name in ("text", "empty", "cut", "loop_of_links"):
            self.assertEqual(line(name)["state"], "refused")
        self.assertEqual(line("well_behaved")["state"], "selected")

    def test_the_text_has_one_line_for_each_file_and_one_for_each_refusal(self):
        run = self.run_program("spur", "plugin", "list")
        lines = run.stdout.splitlines()
        for file in self.plugins.iterdir():
            rows = [line for line in lines if line.endswith(f" {file}")]
            self.assertEqual(len(rows), 1, f"{file.name}: {rows}")
            said = [line for line in lines if line.startswith("refused: ") and f"{file} " in line]
            self.assertEqual(len(said), 1 if " refused " in rows[0] else 0, f"{file.name}: {said}")


class Checker(corpus.Case):
    def test_the_checker_finds_each_fault(self):
        for name, (case, words) in CHECKED.items():
            with self.subTest(name):
                file = self.bring(name)
                run = self.run_program("spur-plugin-check", "--json", "--rounds", "3", str(file))
                self.assertEqual(run.returncode, 1, run.stdout[-2000:] + run.stderr)
                failed = {line["case"]: line["text"] for line in json.loads(run.stdout)["cases"] if line["result"] == "failed"}
                found = [text for which, text in failed.items() if which.startswith(case) and words in text]
                self.assertTrue(found, failed)


if __name__ == "__main__":
    unittest.main()
