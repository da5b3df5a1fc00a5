#!/usr/bin/python3
"""Tests of check_golden.py and pack_golden.py, on small vectors made here."""
import contextlib
import io
import json
import pathlib
import tempfile
import unittest
import unittest.mock

import check_golden
import golden_archive
import numpy as np
import pack_golden

RELU = {"x_scale": 0.5, "x_zero_point": 0, "y_scale": 1.0, "y_zero_point": 1}


def relu_tensors():
    """A formula: x = q / 2, y = max(x, 0) + 1; 1 and 2 lie on ties."""
    return {"x": np.array([-4, 1, 2, 5], np.int8), "pre": np.array([0, 0.5, 1, 2.5]),
            "y": np.array([1, 1, 2, 3], np.int8)}


class ScriptsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.archives = self.root / "archives"
        self.archives.mkdir()

    def write(self, tensors, op="q8ta_relu", params=None, vector="00", outputs=("pre", "y")):
        """Writes one vector as a folder; returns its op's folder."""
        folder = self.root / op / vector
        folder.mkdir(parents=True, exist_ok=True)
        for name, tensor in tensors.items():
            np.save(folder / f"{name}.npy", tensor)
        manifest = {"name": vector, "op": op, "inputs": [name for name in tensors if name not in outputs],
                    "outputs": list(outputs), "params": params or RELU}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        return folder.parent

    def run_script(self, script, *arguments):
        """Runs a script; returns its exit code, stdout and stderr."""
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = script.main([str(argument) for argument in arguments])
            except SystemExit as end:
                code = end.code
        return code, out.getvalue(), err.getvalue()

    def pack(self, *arguments):
        return self.run_script(pack_golden, "--into", self.archives, *arguments)

    def check(self, op="q8ta_relu"):
        return self.run_script(check_golden, "--no-torch", self.archives / f"{op}.npz")

    def check_of(self, tensors, **how):
        """Exit code and output of checking one vector."""
        self.assertEqual(self.pack("--overwrite", self.write(tensors, **how))[0], 0)
        return self.check(how.get("op", "q8ta_relu"))[:2]


class CheckTest(ScriptsTest):
    def test_right_outputs_have_no_differences(self):
        code, out = self.check_of(relu_tensors())
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"q8ta_relu +1 +8 +0 +0\n")

    def test_a_wrong_element_is_reported_with_its_place(self):
        tensors = relu_tensors()
        tensors["y"][2] = 3
        code, out = self.check_of(tensors)
        self.assertEqual(code, 1)
        self.assertIn("q8ta_relu/00 y[2]: stored 3, recomputed 2, 1 before rounding\n", out)
        self.assertIn("\nDifferences: 1\n", out)

    def test_a_changed_input_shows_in_every_output(self):
        tensors = relu_tensors()
        tensors["x"][2] = 80
        code, out = self.check_of(tensors)
        self.assertEqual(code, 1)
        self.assertIn("pre[2]: stored 1.0, recomputed 40.0", out)
        self.assertIn("y[2]: stored 2, recomputed 41", out)

    def test_off_by_one_at_a_tie_is_a_flip(self):
        tensors = relu_tensors()
        tensors["y"][1] = 2
        code, out = self.check_of(tensors)
        self.assertEqual(code, 0, out)
        self.assertRegex(out, r"q8ta_relu +1 +8 +1 +0\n")

    def test_off_by_two_at_a_tie_is_a_difference(self):
        tensors = relu_tensors()
        tensors["y"][1] = 3
        self.assertEqual(self.check_of(tensors)[0], 1)

    def test_a_tie_is_as_wide_as_1e_5(self):
        for distance, wanted in ((0.9e-5, 0), (1.1e-5, 1)):
            params = dict(RELU, x_scale=0.5 + distance)
            tensors = {"x": np.array([1], np.int8), "pre": np.array([0.5 + distance]), "y": np.array([1], np.int8)}
            self.assertEqual(self.check_of(tensors, params=params)[0], wanted, distance)

    def test_floats_never_flip(self):
        tensors = relu_tensors()
        tensors["pre"][1] = 1.5
        self.assertEqual(self.check_of(tensors)[0], 1)

    def test_sums_may_differ_by_what_the_order_of_additions_makes(self):
        for off, wanted in ((1e-15, 0), (1e-13, 1)):
            tensors = {"x": np.array([[0.25, -0.5, 1, 3]], np.float32), "w": np.array([[1, 2, -3, 1]], np.int8),
                       "w_scale": np.array([0.5], np.float32), "y": np.array([[-0.375 + off]])}
            how = {"op": "linear_q8csw", "params": {"M": 1, "K": 4, "N": 1}, "outputs": ("y",)}
            self.assertEqual(self.check_of(tensors, **how)[0], wanted, off)

    def test_many_differences_are_cut_short_and_counted(self):
        tensors = {"x": np.zeros(100, np.int8), "pre": np.zeros(100), "y": np.full(100, 7, np.int8)}
        _, out = self.check_of(tensors)
        self.assertEqual(out.count("stored 7"), check_golden.SHOWN)
        self.assertIn("y: 95 more elements", out)
        self.assertIn("\nDifferences: 100\n", out)

    def test_another_dtype_or_shape_is_a_difference(self):
        for y in (np.array([1, 1, 2, 3], np.int16), np.array([[1, 1, 2, 3]], np.int8)):
            code, out = self.check_of(dict(relu_tensors(), y=y))
            self.assertEqual(code, 1)
            self.assertIn(f"stored {y.dtype} {y.shape}, recomputed int8 (4,)", out)

    def test_nan_equals_nan_only(self):
        def scales(zero_point):
            return {"q": np.array([0], np.int8), "scale": np.array([np.nan], np.float32),
                    "zero_point": np.array([zero_point], np.int32), "y": np.array([np.nan], np.float32)}
        params = {"shape": [1], "block_size": [1], "quant_min": -128, "quant_max": 127}
        how = {"op": "dequantize_affine", "params": params, "outputs": ("y",)}
        self.assertEqual(self.check_of(scales(1), **how)[0], 0)
        self.assertEqual(self.check_of(dict(scales(1), y=np.array([1], np.float32)), **how)[0], 1)

    def test_a_tensor_that_is_missing_or_extra_is_a_difference(self):
        tensors = relu_tensors()
        del tensors["pre"]
        code, out = self.check_of(tensors)
        self.assertEqual(code, 1)
        self.assertIn("it holds ['x', 'y'], its manifest names ['pre', 'x', 'y']", out)

    def test_a_vector_that_does_not_fit_its_formula_is_a_difference(self):
        code, out = self.check_of(relu_tensors(), params={"x_scale": 1.0})
        self.assertEqual(code, 1)
        self.assertIn("q8ta_relu/00: it does not fit the formula of q8ta_relu: KeyError('x_zero_point')", out)

    def test_an_op_without_a_formula_is_named(self):
        code, out = self.check_of(relu_tensors(), op="no_such_op")
        self.assertEqual(code, 0)
        self.assertIn("Not recomputed: no_such_op, 1 vectors", out)

    def test_formulas_cannot_look_at_outputs(self):
        self.pack(self.write(relu_tensors()))
        vector = golden_archive.vectors_of(self.archives / "q8ta_relu.npz")[0]
        self.assertEqual(vector["x"].shape, (4,))
        with self.assertRaises(KeyError):
            vector["y"]

    def test_functions_of_pytorch_are_compared_too(self):
        self.pack(self.write(relu_tensors()))
        report = check_golden.Report({"q8ta_relu": [
            ("wrong", lambda vector: {"y": np.array([1, 1, 2, 9], np.int8)}),
            ("flipping", lambda vector: {"y": np.array([1, 2, 2, 3], np.int8)}),
            ("not_for_this", lambda vector: None)]})
        report.check_archive(self.archives / "q8ta_relu.npz")
        self.assertEqual(set(report.torch), {"q8ta_relu, wrong", "q8ta_relu, flipping"})
        self.assertEqual(report.torch["q8ta_relu, wrong"].differences, 1)
        self.assertEqual(report.torch["q8ta_relu, flipping"].flips, 1)
        self.assertEqual(report.differences(), 1)

    def test_what_cannot_be_read_is_a_usage_error(self):
        code, _, err = self.check("missing")
        self.assertEqual(code, 2)
        self.assertIn("missing.npz", err)
        (self.archives / "text.npz").write_text("op: layout")
        code, _, err = self.check("text")
        self.assertEqual(code, 2)
        self.assertIn("it is not an archive of golden vectors", err)
        self.assertEqual(self.run_script(check_golden, "--no-such-option")[0], 2)

    def test_a_damaged_archive_is_a_usage_error(self):
        self.pack(self.write(relu_tensors()))
        archive = self.archives / "q8ta_relu.npz"
        content = archive.read_bytes()
        place = content.index(relu_tensors()["pre"].tobytes())
        archive.write_bytes(content[:place + 8] + b"\xff" + content[place + 9:])
        code, _, err = self.check()
        self.assertEqual(code, 2)
        self.assertIn("Bad CRC-32", err)


class PackTest(ScriptsTest):
    def test_numpy_reads_what_was_packed(self):
        code, out, err = self.pack(self.write(relu_tensors()))
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"^q8ta_relu.npz: 4 members, digest [0-9a-f]{64}\n$")
        with np.load(self.archives / "q8ta_relu.npz") as archive:
            np.testing.assert_array_equal(archive["00/y"], relu_tensors()["y"])
            self.assertEqual(json.loads(archive["00/manifest.json"])["op"], "q8ta_relu")

    def test_equal_vectors_make_equal_bytes(self):
        folder = self.write(relu_tensors(), vector="01")
        self.write(relu_tensors(), vector="00")
        self.pack(folder)
        first = (self.archives / "q8ta_relu.npz").read_bytes()
        for file in folder.rglob("*.npy"):
            file.touch()
        with unittest.mock.patch("time.time", return_value=2e9):
            self.assertEqual(self.pack("--overwrite", folder)[0], 0)
        self.assertEqual((self.archives / "q8ta_relu.npz").read_bytes(), first)

    def test_the_digest_tells_every_change(self):
        digests = set()
        for changed in ({}, {"x": np.array([-4, 1, 2, 4], np.int8)}, {"x": np.array([[-4, 1, 2, 5]], np.int8)},
                        {"x": np.array([252, 1, 2, 5], np.uint8)}):
            digests.add(self.pack("--overwrite", self.write(dict(relu_tensors(), **changed)))[1])
        digests.add(self.pack("--overwrite", self.write(relu_tensors(), params={"y_scale": 2}))[1])
        self.assertEqual(len(digests), 5)

    def test_an_archive_that_reads_otherwise_is_not_kept(self):
        def lossy(path, members):
            write(path, dict(members, **{"00/y.npy": members["00/pre.npy"]}))
        write = golden_archive.write_archive
        with unittest.mock.patch("golden_archive.write_archive", lossy):
            code, _, err = self.pack(self.write(relu_tensors()))
        self.assertEqual(code, 1)
        self.assertIn("differs from the folder; nothing was kept", err)
        self.assertEqual(list(self.archives.iterdir()), [])

    def test_an_archive_is_not_replaced_unasked(self):
        folder = self.write(relu_tensors())
        self.pack(folder)
        code, _, err = self.pack(folder)
        self.assertEqual(code, 2)
        self.assertIn("--overwrite replaces it", err)

    def test_what_is_no_folder_of_vectors_is_refused(self):
        empty = self.root / "empty"
        empty.mkdir()
        self.assertIn("it is no folder of vectors", self.pack(empty)[2])
        folder = self.write(relu_tensors())
        stray = folder / "00" / "notes.txt"
        stray.write_text("x")
        self.assertIn("00/notes.txt is neither", self.pack(folder)[2])
        stray.unlink()
        (folder / "00" / "manifest.json").unlink()
        code, _, err = self.pack(folder)
        self.assertEqual(code, 2)
        self.assertIn("00 has no manifest.json", err)
        (folder / "00" / "manifest.json").write_text("{}")
        (folder / "00" / "y.npy").write_text("text")
        code, _, err = self.pack(folder)
        self.assertEqual(code, 2)
        self.assertIn("00/y.npy: it is not a .npy file", err)
        self.assertEqual(list(self.archives.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
