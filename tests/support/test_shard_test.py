#!/usr/bin/python3
"""What scripts/dev/test_shard.py and scripts/dev/test_counts.py make of executables that pass, fail, crash and hang."""

import importlib.util
import json
import pathlib
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts/dev"

# Prints as GoogleTest does, and writes its report where nothing stops it.
EXECUTABLE = """#!/usr/bin/python3
import os, signal, sys, time
print("shard", os.environ["GTEST_SHARD_INDEX"], "of", os.environ["GTEST_TOTAL_SHARDS"])
report = next(word for word in sys.argv if word.startswith("--gtest_output=xml:"))[len("--gtest_output=xml:"):]
cases, failed = [], False
for name in NAMES:
    print(f"[ RUN      ] Suite.{name}", flush=True)
    print("about", name)
    if name == "Crashes": sys.stdout.flush(); os.kill(os.getpid(), signal.SIGSEGV)
    if name == "Hangs": time.sleep(60)
    end, inside = {"Fails": ("[  FAILED  ]", "<failure/>"), "Skips": ("[  SKIPPED ]", "<skipped/>")}.get(
        name, ("[       OK ]", ""))
    failed = failed or name == "Fails"
    print(f"{end} Suite.{name} (7 ms)", flush=True)
    result = "skipped" if name == "Skips" else "completed"
    cases.append(f'<testcase name="{name}" classname="Suite" status="run" result="{result}" time="0.5">{inside}</testcase>')
open(report, "w").write(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
sys.exit(3 if NAMES == ["Leaves"] else int(failed))
"""


class TestShard(unittest.TestCase):
    def run_tests(self, *names, silence=60):
        """Exit code, output and results of a shard with these tests."""
        with tempfile.TemporaryDirectory() as folder:
            executable = pathlib.Path(folder) / "x_test"
            executable.write_text(EXECUTABLE.replace("NAMES", repr(list(names))))
            executable.chmod(0o755)
            done = subprocess.run(
                [SCRIPTS / "test_shard.py", "--name", "x", "--folder", folder, "--shard", "2/3", f"--silence={silence}",
                 "--", executable], capture_output=True, text=True)
            self.log = (pathlib.Path(folder) / "x.log").read_text()
            return done.returncode, done.stdout, json.loads((pathlib.Path(folder) / "x.json").read_text())

    def test_counts_each_test(self):
        code, output, results = self.run_tests("Passes", "Skips", "Also")
        self.assertEqual((code, results["passed"], results["failed"], results["skipped"]), (0, 2, [], ["Suite.Skips"]))
        self.assertEqual(results["suites"], {"Suite": 1.5})
        self.assertNotIn("about", output)
        self.assertIn("shard 1 of 3", self.log)

    def test_shows_what_a_failed_test_printed(self):
        code, output, results = self.run_tests("Passes", "Fails")
        self.assertEqual((code, results["passed"], results["failed"]), (1, 1, ["Suite.Fails"]))
        self.assertIn("about Fails", output)
        self.assertNotIn("about Passes", output)

    def test_a_crash_is_the_failure_of_the_test_that_was_running(self):
        code, output, results = self.run_tests("Passes", "Crashes", "NeverRuns")
        self.assertEqual((code, results["passed"], results["failed"]), (1, 1, ["Suite.Crashes"]))
        self.assertIn("while Suite.Crashes was running", output)

    def test_silence_ends_what_hangs(self):
        code, output, results = self.run_tests("Passes", "Hangs", silence=1)
        self.assertEqual((code, results["failed"]), (1, ["Suite.Hangs"]))
        self.assertIn("was silent for 1 s", output)

    def test_an_exit_code_alone_is_a_failure(self):
        code, output, results = self.run_tests("Leaves")
        self.assertEqual((code, len(results["failed"])), (1, 1))
        self.assertIn("ended with code 3", output)


class TestCounts(unittest.TestCase):
    def setUp(self):
        spec = importlib.util.spec_from_file_location("test_counts", SCRIPTS / "test_counts.py")
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)

    def of(self, status, inside=""):
        return self.module.count_one(xml.etree.ElementTree.fromstring(f'<testcase status="{status}">{inside}</testcase>'))

    def test_what_is_no_googletest_is_one_test(self):
        self.assertEqual(self.of("run"), (1, 0, 0))
        self.assertEqual(self.of("fail", "<failure/>"), (0, 1, 0))
        self.assertEqual(self.of("notrun", '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>'), (0, 0, 1))

    def test_what_could_not_be_started_has_failed(self):
        self.assertEqual(self.of("notrun", '<skipped message="Unable to find executable"/>'), (0, 1, 0))


if __name__ == "__main__":
    unittest.main()
