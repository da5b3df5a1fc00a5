"""Archives of golden vectors: <op>.npz, which holds <vector>/manifest.json and <vector>/<tensor>.npy.

A .npz is a zip archive of .npy files. Ours are stored, not compressed, with sorted members and one fixed time, so
that equal vectors make equal bytes. numpy.load opens them: the keys are "<vector>/<tensor>" and
"<vector>/manifest.json", the latter as bytes.
"""
import hashlib
import io
import json
import sys
import zipfile

try:
    import numpy as np
except ImportError:
    print(f"{sys.argv[0]} needs NumPy; Debian's package is python3-numpy", file=sys.stderr)
    sys.exit(2)

MANIFEST = "manifest.json"
FIXED_TIME = (1980, 1, 1, 0, 0, 0)  # the first that a zip archive can hold


class GoldenError(Exception):
    """An archive or folder cannot be read; the text says which one and why."""


class Vector:
    """One vector: its inputs, parameters and outputs. `vector[name]` is an input and never an output, so that code that
    computes outputs cannot read them; `tensors` has all of them."""

    def __init__(self, name, manifest, tensors):
        self.name = name
        self.op = manifest["op"]
        self.params = manifest["params"]
        self.inputs = manifest["inputs"]
        self.outputs = manifest["outputs"]
        self.tensors = tensors

    def __getitem__(self, name):
        if name not in self.inputs:
            raise KeyError(f"{name} is no input of {self.op}")
        return self.tensors[name]


def vectors_of(path):
    """All vectors of an archive, sorted by name."""
    try:
        with np.load(path) as archive:
            members = {name: archive[name] for name in archive.files}
        manifests = {name[: -len(MANIFEST) - 1]: json.loads(content) for name, content in members.items()
                     if name.endswith("/" + MANIFEST)}
        vectors = [Vector(name, manifest, tensors_below(members, name)) for name, manifest in manifests.items()]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise GoldenError(f"reading {path}: it is not an archive of golden vectors: {error!r}") from error
    if not vectors:
        raise GoldenError(f"reading {path}: it holds no {MANIFEST}, so no vector")
    return sorted(vectors, key=lambda vector: vector.name)


def tensors_below(members, vector):
    start = vector + "/"
    return {name[len(start):]: content for name, content in members.items()
            if name.startswith(start) and name != start + MANIFEST}


def hashes_of(members):
    """What must be equal in a folder and its archive: {member: dtype, shape and SHA-256 of the elements}, and for
    manifests the SHA-256 of the text. `members` are the files' bytes by name."""
    return {name: tensor_hash(name, content) if name.endswith(".npy") else hashlib.sha256(content).hexdigest()
            for name, content in members.items()}


def tensor_hash(name, content):
    try:
        tensor = np.load(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise GoldenError(f"reading {name}: it is not a .npy file: {error}") from error
    shape = "x".join(str(size) for size in tensor.shape)
    return f"{tensor.dtype.str} {shape} {hashlib.sha256(tensor.tobytes()).hexdigest()}"


def digest_of(hashes):
    """One hash of all fingerprints."""
    lines = "".join(f"{name} {hashes[name]}\n" for name in sorted(hashes))
    return hashlib.sha256(lines.encode()).hexdigest()


def write_archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members):
            entry = zipfile.ZipInfo(name, FIXED_TIME)
            entry.create_system = 3  # Unix, whatever this runs on
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, members[name])


def read_archive(path):
    """The members' bytes by name."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile) as error:
        raise GoldenError(f"reading {path}: {error}") from error
