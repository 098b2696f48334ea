"""gate_test.py GATE INCLUDE: a change of the headers without a change of the baseline is noticed, whatever it is."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

GATE, INCLUDE = sys.argv[1:3]


class Gate(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.include = pathlib.Path(self.scratch.name) / "include"
        shutil.copytree(INCLUDE, self.include)

    def edit(self, header, old, new):
        path = self.include / "spur" / "plugin" / header
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1))

    def gate(self, *arguments):
        run = subprocess.run([sys.executable, GATE, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
        return run.returncode, run.stdout

    def expect_noticed(self, *words):
        code, output = self.gate("layout", self.include)
        self.assertEqual(code, 1, output)
        for word in words:
            self.assertIn(word, output)
        self.assertIn("plugin-api/abi/refresh", output)

    def test_headers_as_they_are_pass(self):
        self.assertEqual(self.gate("layout", self.include)[0], 0)
        self.assertEqual(self.gate("compatible", INCLUDE, self.include)[0], 0)

    def test_a_member_in_the_middle_is_noticed_and_incompatible(self):
        self.edit("sched.h", "    spur_plugin *self;\n} spur_selector;", "    uint64_t mood;\n    spur_plugin *self;\n} spur_selector;")
        self.expect_noticed("spur_selector", "mood")
        code, output = self.gate("compatible", INCLUDE, self.include)
        self.assertEqual(code, 1)
        self.assertIn("spur_selector.self was 16", output)

    def test_a_member_at_the_tail_is_noticed_and_compatible(self):
        self.edit("sched.h", "} spur_selector;", "    uint64_t mood;\n} spur_selector;")
        self.expect_noticed("spur_selector", "mood")
        self.assertEqual(self.gate("compatible", INCLUDE, self.include)[0], 0)

    def test_a_record_that_never_grows_may_not_grow(self):
        self.edit("view.h", "} spur_node_share;", "    uint64_t mood;\n} spur_node_share;")
        self.expect_noticed("spur_node_share")
        self.assertEqual(self.gate("compatible", INCLUDE, self.include)[0], 1)

    def test_another_parameter_of_a_function_is_noticed_and_incompatible(self):
        self.edit("clock.h", "int64_t (*unix_ns)(const struct spur_clock *clock)", "int64_t (*unix_ns)(const struct spur_clock *clock, uint32_t zone)")
        self.expect_noticed("unix_ns", "zone")
        self.assertEqual(self.gate("compatible", INCLUDE, self.include)[0], 1)

    def test_another_value_of_a_constant_is_noticed_and_incompatible(self):
        self.edit("abi.h", "#define SPUR_E_IO ((spur_status)-3)", "#define SPUR_E_IO ((spur_status)-33)")
        self.expect_noticed("SPUR_E_IO")
        code, output = self.gate("compatible", INCLUDE, self.include)
        self.assertEqual(code, 1)
        self.assertIn("SPUR_E_IO was -3, is -33", output)

    def test_another_type_of_the_same_size_is_noticed(self):
        self.edit("metrics.h", "uint32_t series, double amount", "uint32_t series, int64_t amount")
        self.expect_noticed("add", "int64_t amount")

    def test_another_promise_in_a_comment_is_noticed_and_compatible(self):
        self.edit("clock.h", "never goes back", "seldom goes back")
        self.expect_noticed("contract clock.h")
        self.assertEqual(self.gate("compatible", INCLUDE, self.include)[0], 0)

    def test_abidiff_and_the_rust_binding_notice_too(self):
        self.edit("draft/gpu.h", "    uint64_t memory_mib;\n", "    uint64_t memory_mib, memory_bandwidth;\n")
        self.assertIn(self.gate("abidiff", self.include)[0], (1, 77))
        self.assertEqual(self.gate("rust", self.include)[0], 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
