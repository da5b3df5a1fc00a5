#!/usr/bin/python3
"""What scripts/dev/check_docs.py says of the files that a document names."""

import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/dev/check_docs.py"


class TestCheckDocs(unittest.TestCase):
    def check(self, text, files=("harness/base/text.h", "scripts/run.sh", ".gitignore")):
        """Exit code and printed lines for a document in a tree of these files."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            subprocess.run(["git", "init", "--quiet", folder], check=True)
            for name in files:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("/harness/out/\n")
            (root / "a.md").write_text(text)
            done = subprocess.run([SCRIPT, folder], capture_output=True, text=True)
            return done.returncode, done.stderr.splitlines()

    def test_accepts_files_folders_and_ends_of_paths(self):
        text = "`harness/base/text.h`, `harness/base`, `base/text.h`, `text.h` and `scripts/run.sh --all`\n"
        self.assertEqual(self.check(text), (0, []))

    def test_finds_paths_from_the_root_that_do_not_exist(self):
        code, lines = self.check("# A\n\n`harness/base/words.h` and `harness/bass`\n")
        self.assertEqual(code, 1)
        self.assertEqual(lines, ["a.md:3: 'harness/base/words.h': there is no such file or folder",
                                 "a.md:3: 'harness/bass': there is no such file or folder"])

    def test_finds_source_files_that_no_path_ends_in(self):
        code, lines = self.check("`bass/text.h` and `layout.cpp`\n")
        self.assertEqual(code, 1)
        self.assertEqual(lines, ["a.md:1: 'bass/text.h': no file's path ends so",
                                 "a.md:1: 'layout.cpp': no file's path ends so"])

    def test_looks_into_blocks_for_paths_only(self):
        code, lines = self.check("```\nscripts/runs.sh mine.cpp\n```\n")
        self.assertEqual(code, 1)
        self.assertEqual(lines, ["a.md:2: 'scripts/runs.sh': there is no such file or folder"])

    def test_leaves_placeholders_ignored_files_and_prose_alone(self):
        text = ("`harness/<op>.cpp`, `harness/*.h`, `harness/{a,b}.h`, `ops/x.cpp`, `harness/out/y.cpp`, `/etc/z.h` and\n"
                "`$HOME/scripts/w.sh`\nA run of scripts/anything or words.h is prose.\n")
        self.assertEqual(self.check(text), (0, []))

    def test_finds_broken_links(self):
        code, lines = self.check("[text](harness/base/words.h)\n")
        self.assertEqual(code, 1)
        self.assertEqual(lines, ["a.md:1: link to 'harness/base/words.h': there is no such file or folder"])


if __name__ == "__main__":
    unittest.main()
