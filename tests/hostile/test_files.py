"""Files and configurations that are refused before a plugin gets to run: what `spurctld -t` says of each, word for word."""

import unittest

import corpus


class Files(corpus.Case):
    def refusal(self):
        """What -t says, which must not be yes."""
        run = self.try_configuration()
        self.assertEqual(run.returncode, corpus.EX_SOFTWARE, run.stdout + run.stderr)
        self.assertTrue(run.stderr.startswith("spurctld: error: "), run.stderr)
        return run.stderr.removeprefix("spurctld: error: ").strip()

    def expect(self, file, sentence):
        self.assertEqual(self.refusal(), f"plugin file {file} refused: {sentence}")
        # A daemon whose required axis cannot load does not start, with the same sentence.
        daemon = self.start_controller()
        self.assertEqual(daemon.wait(), corpus.EX_SOFTWARE)
        self.assertIn(f"plugin file {file} refused: {sentence}", daemon.text())

    def place(self, content):
        file = self.plugins / "sched_x.so"
        file.write_bytes(content)
        file.chmod(0o755)
        self.configure("x")
        return file

    def test_a_text_file_is_no_plugin(self):
        file = self.place(b"#!/bin/sh\nexit 0\n")
        self.expect(file, r'it is not an ELF shared object but begins with "#!/bin/sh\x0aexit 0"; install the built plugin')

    def test_an_empty_file_is_no_plugin(self):
        self.expect(self.place(b""), "it is not an ELF shared object but empty; install the built plugin")

    def test_a_truncated_plugin_is_not_mapped(self):
        whole = (corpus.BUILT["hostile_plugins"] / "sched_well_behaved.so").read_bytes()
        half = len(whole) // 2
        self.expect(self.place(whole[:half]),
                    f"it is cut short: its headers reach beyond its {half} bytes; copy or build it again")

    def test_a_program_is_no_plugin(self):
        file = self.place((corpus.BUILD / "bin/spurd").read_bytes())
        self.expect(file, "it is a program, not a shared object; link it with -shared")

    def test_a_link_to_a_file_that_everyone_may_write_is_not_followed(self):
        elsewhere = self.root / "elsewhere"
        elsewhere.mkdir(mode=0o755)
        target = self.bring("well_behaved", to=elsewhere)
        target.chmod(0o777)
        link = self.plugins / "sched_well_behaved.so"
        link.symlink_to(target)
        self.configure("well_behaved")
        self.expect(link, f"its target {target} is writable by everyone (mode 0777); run chmod go-w {target}")

    def test_a_file_in_a_directory_that_everyone_may_write_is_not_opened(self):
        file = self.bring("well_behaved")
        self.plugins.chmod(0o777)
        self.configure("well_behaved")
        self.expect(file, f"its directory {self.plugins} is writable by everyone (mode 0777); run chmod go-w {self.plugins}")

    def test_a_file_that_its_group_may_write_is_not_opened(self):
        file = self.bring("well_behaved")
        file.chmod(0o775)
        self.configure("well_behaved")
        self.expect(file, f"it is writable by its group (mode 0775); run chmod go-w {file}")

    def test_a_dangling_link_says_where_it_leads(self):
        link = self.plugins / "sched_x.so"
        link.symlink_to(self.root / "nowhere.so")
        self.configure("x")
        self.expect(link, f"{self.root}/nowhere.so does not exist")

    def test_a_directory_is_no_plugin(self):
        (self.plugins / "sched_x.so").mkdir()
        self.configure("x")
        self.expect(self.plugins / "sched_x.so", "it is not a regular file")


class Options(corpus.Case):
    def setUp(self):
        super().setUp()
        self.bring("well_behaved")

    def say(self, *lines):
        self.configure("well_behaved", extra='[plugin."sched/well_behaved"]\n' + "\n".join(lines) + "\n")
        run = self.try_configuration()
        self.assertNotEqual(run.returncode, 0, run.stdout)
        return run.stderr

    def line_of(self, text):
        return next(i for i, line in enumerate(self.conf.read_text().splitlines(), 1) if line == text)

    def test_an_unknown_option_is_refused_with_its_line_and_the_nearest_one(self):
        self.assertEqual(self.say("depht = 3"),
                         'spurctld: error: plugin sched/well_behaved has no option "depht"; did you mean "depth"? '
                         f"It knows: depth ({self.conf}:{self.line_of('depht = 3')})\n")

    def test_a_value_of_the_wrong_kind_is_refused_with_its_line(self):
        self.assertEqual(self.say('depth = "deep"'),
                         'spurctld: error: plugin sched/well_behaved: option depth must be a whole number, not "deep" '
                         f"({self.conf}:" + str(self.line_of('depth = "deep"')) + ")\n")

    def test_a_value_out_of_range_is_refused_with_its_line(self):
        self.assertEqual(self.say("depth = 101"),
                         "spurctld: error: plugin sched/well_behaved: option depth must lie between 0 and 100, and 101 does not "
                         f"({self.conf}:{self.line_of('depth = 101')})\n")

    def test_the_same_key_twice_is_refused_with_its_line(self):
        said = self.say("depth = 1", "depth = 2")
        self.assertIn("depth", said)
        self.assertIn(f"{self.conf}:{self.line_of('depth = 2')}", said)

    def test_the_first_directory_wins_and_the_log_says_so(self):
        second = self.root / "second"
        second.mkdir(mode=0o755)
        other = self.bring("well_behaved", to=second)
        self.configure("well_behaved", dirs=[self.plugins, second])
        run = self.try_configuration()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn(f"plugin sched/well_behaved is in two directories: {self.plugins}/sched_well_behaved.so is used and "
                      f"{other} is not; the order of [plugins] dirs decides", run.stderr)
        listed = self.run_program("spur", "plugin", "list").stdout
        self.assertRegex(listed, rf"sched/well_behaved .* selected +{self.plugins}/sched_well_behaved.so")
        self.assertRegex(listed, rf"sched/well_behaved .* shadowed +{other}")


if __name__ == "__main__":
    unittest.main()
