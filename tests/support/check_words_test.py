#!/usr/bin/python3
"""What scripts/dev/check_words.py finds, where, and what it leaves alone."""

import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/dev/check_words.py"


class TestCheckWords(unittest.TestCase):
    def check(self, files):
        """Exit code and printed lines for a tree of these files."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            subprocess.run(["git", "init", "--quiet", folder], check=True)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            done = subprocess.run([SCRIPT, folder], capture_output=True, text=True)
            return done.returncode, done.stderr.splitlines()

    def test_names_file_line_and_replacement(self):
        code, lines = self.check({"a.md": "# A\n\nA run is gone on with.\n"})
        self.assertEqual(code, 1)
        self.assertEqual(lines, ["a.md:3: 'gone on with'; instead: resumed"])

    def test_looks_at_all_kinds_of_files(self):
        text = "{} Rows Take Turns here.\n"
        marks = {"a.md": "-", "b.cpp": "//", "c.h": "int x;  ///<", "d.comp": "//", "e.glslh": "//", "f.sh": "#",
                 "g.py": "#", ".ci/run": "#"}
        code, lines = self.check({name: text.format(mark) for name, mark in marks.items()})
        self.assertEqual(code, 1)
        self.assertEqual([line.split(":")[0] for line in lines], sorted(marks))

    def test_finds_phrases_across_lines(self):
        for text in ("a row is held\nagainst it\n", "int x;  ///< what it is held\n        ///< against\n",
                     '  f("is held "\n    "against it");\n', "/* is held\n * against */\n", "> held\n> against\n"):
            code, lines = self.check({"a.cpp": text})
            self.assertEqual((code, lines), (1, ["a.cpp:1: 'held against'; instead: compared with"]), text)

    def test_leaves_paragraphs_identifiers_and_longer_words_alone(self):
        for text in ("A hand is held\n\nagainst it\n", "held_against(gone_on_with);\n", "heldHeld against\n",
                     "mistake turns out\n", "belongs in\n"):
            self.assertEqual(self.check({"a.cpp": text}), (0, []), text)

    def test_leaves_out_what_is_generated_published_or_no_source(self):
        names = ("docs/walks.md", "reports/published/README.md", "harness/testdata/a.md", "cases/a.yaml", "a.json")
        text = "It is held against this.\n"
        self.assertEqual(self.check({name: text for name in names} | {"a.md": "Fine.\n"}), (0, []))

    def test_wants_a_file_to_look_at(self):
        self.assertEqual(self.check({"a.json": "{}\n"})[0], 2)


if __name__ == "__main__":
    unittest.main()
