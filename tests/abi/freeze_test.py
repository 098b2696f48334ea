"""freeze_test.py ABI: a release is frozen once; what is frozen is noticed when it changes; first sizes come from there."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

ABI = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, str(ABI / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


class Freeze(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        load("refresh").freeze("1.0", self.folder, with_binaries=False)  # live_test.py has those
        self.release = self.folder / "1.0"

    def judge(self):
        run = subprocess.run([sys.executable, ABI / "gate", "frozen", self.release], stdout=subprocess.PIPE, text=True)
        return run.returncode, run.stdout

    def test_what_was_frozen_passes(self):
        self.assertEqual(self.judge(), (0, ""))

    def test_a_changed_comment_is_noticed(self):
        header = self.release / "include/spur/plugin/sched.h"
        header.write_text(header.read_text().replace("Required.", "Optional.", 1))
        code, output = self.judge()
        self.assertEqual(code, 1)
        self.assertIn("include/spur/plugin/sched.h", output)

    def test_a_new_file_is_noticed(self):
        (self.release / "sched" / "more.c").write_text("int more;\n")
        self.assertEqual(self.judge()[0], 1)

    def test_a_release_that_is_there_is_not_frozen_again(self):
        with self.assertRaises(SystemExit) as refused:
            load("refresh").freeze("1.0", self.folder, with_binaries=False)
        self.assertIn("is there already", str(refused.exception))
        self.assertEqual(self.judge()[0], 0)

    def test_half_a_release_is_none(self):
        refresh = load("refresh")
        refresh.build_binaries = lambda target: sys.exit("the compiler failed")
        with self.assertRaises(SystemExit):
            refresh.freeze("1.1", self.folder)
        self.assertFalse((self.folder / "1.1").exists())

    def test_drafts_are_not_frozen(self):
        self.assertFalse((self.release / "include/spur/plugin/draft").exists())
        self.assertFalse((self.release / "gpu").exists())

    def test_first_sizes_are_those_of_the_first_release_that_had_the_struct(self):
        header = self.release / "include/spur/plugin/sched.h"
        text = header.read_text()
        header.write_text(text.replace("    spur_plugin *self;\n} spur_selector;", "} spur_selector;"))
        sizes = load("first_sizes").text(ABI.parent / "include", self.folder)
        self.assertIn("first_size<spur_selector> = 16;", sizes)
        self.assertIn("first_size<spur_gpu_load> = ", sizes)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
