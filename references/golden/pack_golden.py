#!/usr/bin/python3
"""Packs folders of golden vectors, OP/VECTOR/{manifest.json, TENSOR.npy}, into one OP.npz each.

An archive is read again after it was written: it is kept only if every tensor (dtype, shape, elements) and every
manifest has the hash of its file. The digest printed is one hash of all of them.

Exit code: 0 packed, 1 an archive differs from its folder, 2 usage.
"""
import argparse
import os
import pathlib
import sys

import golden_archive


def members_of(folder):
    """The files' bytes by their path below the folder, which must be VECTOR/manifest.json or VECTOR/TENSOR.npy."""
    members = {}
    for path in sorted(folder.rglob("*")):
        if path.is_dir():
            continue
        name = path.relative_to(folder)
        if len(name.parts) != 2 or not (name.name == golden_archive.MANIFEST or name.suffix == ".npy"):
            raise golden_archive.GoldenError(f"packing {folder}: {name} is neither VECTOR/{golden_archive.MANIFEST} "
                                             "nor VECTOR/TENSOR.npy")
        members[name.as_posix()] = path.read_bytes()
    vectors = {name.split("/")[0] for name in members}
    bare = sorted(vector for vector in vectors if f"{vector}/{golden_archive.MANIFEST}" not in members)
    if not vectors or bare:
        raise golden_archive.GoldenError(f"packing {folder}: " + (f"{bare[0]} has no {golden_archive.MANIFEST}"
                                                                  if bare else "it is no folder of vectors"))
    return members


def pack(folder, archive, overwrite):
    """True if the archive was written and holds the same as the folder."""
    if archive.exists() and not overwrite:
        raise golden_archive.GoldenError(f"packing {folder}: {archive} is there already; --overwrite replaces it")
    members = members_of(folder)
    wanted = golden_archive.hashes_of(members)
    partial = archive.with_name(archive.name + ".partial")
    try:
        golden_archive.write_archive(partial, members)
        got = golden_archive.hashes_of(golden_archive.read_archive(partial))
        if got != wanted:
            return False
        os.replace(partial, archive)
    finally:
        partial.unlink(missing_ok=True)
    print(f"{archive.name}: {len(members)} members, digest {golden_archive.digest_of(got)}")
    return True


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="FOLDER", help="named like the op")
    parser.add_argument("--into", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent, metavar="DIR",
                        help="where the archives go; default: next to this script")
    parser.add_argument("--overwrite", action="store_true", help="replace archives that are there")
    options = parser.parse_args(arguments)
    try:
        for folder in options.folders:
            folder = folder.resolve()
            if not pack(folder, options.into / (folder.name + ".npz"), options.overwrite):
                print(f"{folder}: the archive read back differs from the folder; nothing was kept", file=sys.stderr)
                return 1
    except (golden_archive.GoldenError, OSError) as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
