#!/usr/bin/python3
"""What scripts/dev/compare_targets.py says of two runs."""

import csv
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/dev/compare_targets.py"
COLUMNS = ("case", "status", "reason", "hash_portable", "output_hash")
CRASHED = "the worker was killed by SIGABRT; its last words: LLVM ERROR\nIn function: cs_co_variant"


def row(case, status="PASS", reason="", output="ab", exact="true"):
    return dict(zip(COLUMNS, (case, status, reason, exact, output)))


class TestCompareTargets(unittest.TestCase):
    def run_script(self, *runs):
        """Exit code and printed lines for runs with these rows."""
        with tempfile.TemporaryDirectory() as folder:
            folders = []
            for number, rows in enumerate(runs):
                device = pathlib.Path(folder) / str(number) / "llvmpipe"
                device.mkdir(parents=True)
                folders.append(device.parent)
                with open(device / "accu.csv", "w", encoding="utf-8", newline="") as file:
                    writer = csv.DictWriter(file, COLUMNS)
                    writer.writeheader()
                    writer.writerows(rows)
            done = subprocess.run([SCRIPT, *folders], capture_output=True, text=True)
            return done.returncode, done.stdout.splitlines()

    def test_equal_rows_agree(self):
        code, lines = self.run_script([row("a"), row("b", "FAIL", "wrong")], [row("b", "FAIL", "wrong"), row("a")])
        self.assertEqual((code, lines[0], lines[-1]),
                         (0, "2 of 2 rows end there as here, with equal exact outputs", "0 rows differ"))

    def test_an_exact_output_that_differs_is_named(self):
        code, lines = self.run_script([row("a"), row("c")], [row("a"), row("c", output="cd")])
        self.assertEqual((code, lines), (1, ["1 of 2 rows end there as here, with equal exact outputs", "1 row differs",
                                             "  c (accu): the exact output has the hash ab here and cd there"]))

    def test_of_a_crash_the_first_line_is_told(self):
        lines = self.run_script([row("a")], [row("a", "CRASH", CRASHED)])[1]
        self.assertEqual(lines[-1], "  a (accu): PASS here, CRASH there: the worker was killed by SIGABRT; its last words: LLVM ERROR ...")

    def test_another_status_is_a_difference(self):
        for there in (row("a", "CRASH", "SIGSEGV"), row("a", "FAIL", "wrong"), row("a", "MISSING", "not run")):
            self.assertEqual(self.run_script([row("a")], [there])[0], 1, there)

    def test_a_row_of_one_run_alone_is_a_difference(self):
        code, lines = self.run_script([row("a")], [row("a"), row("b")])
        self.assertEqual((code, lines[-1]), (1, "  b (accu): is in one of the runs only"))

    def test_hashes_of_outputs_that_are_not_exact_may_differ(self):
        self.assertEqual(self.run_script([row("a", exact="false")], [row("a", exact="false", output="cd")])[0], 0)


if __name__ == "__main__":
    unittest.main()
