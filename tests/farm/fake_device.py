#!/usr/bin/python3
"""Stands for `adb` and `ssh` in tests: runs what it is asked to on this machine, and fails as planned.

Called by one of these names (worker_connections_test.py makes links). The folder ASSAY_FAKE_DEVICE is the device: `data` is
its storage, `boot_id` changes with a reboot, `worker_faults` and `other_faults` have one fault a line, which the next
connections take in turn: for a worker, and for other commands. A fault of a worker is KIND:BYTES@EVENT: it happens that many
bytes behind the first such event of the worker's output (`run`, `plan`, `begin`, ...), all of which still arrive.

  none      no fault
  drop      the connection ends; the exit code is that of a failure
  lie       the connection ends; the exit code is 0
  leave     it drops, and the worker stays, since nothing tells it so
  stall     nothing arrives any more, and the connection stays
  reboot    everything on the device is killed, its storage is lost, and it has another boot_id
  offline   (other commands) the device does not answer, with exit code 1
  damage    (other commands) a pushed file arrives damaged, with exit code 0
"""

import fcntl
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

DEVICE = pathlib.Path(os.environ["ASSAY_FAKE_DEVICE"])
if sys.argv[1:2] == ["-s"] and (DEVICE / sys.argv[2]).is_dir():  # one of several
    DEVICE /= sys.argv[2]
DATA = DEVICE / "data"
STALLED = threading.Event()


def next_fault(name):
    """Takes the first line of a file of faults: kind and place."""
    with (DEVICE / name).open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        first, *rest = file.read().splitlines() or ["none"]
        file.seek(0)
        file.truncate()
        file.write("".join(line + "\n" for line in rest))
    with (DEVICE / "taken").open("a") as file:
        file.write(f"{name} {first}\n")
    kind, _, place = first.partition(":")
    return kind, place


def script_of(words):
    """The script in the device's own paths."""
    text = words[-1]
    for path, ours in (("/data/local/tmp", DATA), ("/proc/sys/kernel/random/boot_id", DEVICE / "boot_id")):
        text = text.replace(path, str(ours))
    return text.replace("dumpsys battery", f"cat {DEVICE}/battery")


def start(script, stderr=None):
    return subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                            start_new_session=True, env=dict(os.environ, HOME=str(DATA)), cwd=DATA)


def reboot(process):
    os.killpg(process.pid, signal.SIGKILL)
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir(exist_ok=True)
    (DEVICE / "boot_id").write_text(f"{time.monotonic_ns()}\n")


def pass_input(process):
    while data := os.read(0, 1 << 16):
        try:
            process.stdin.write(data)
            process.stdin.flush()
        except OSError:
            return
    process.stdin.close()


def fail(kind, process):
    """The fault has its moment; does not return."""
    if kind == "stall":
        STALLED.set()
        while True:
            time.sleep(60)
    if kind == "reboot":
        reboot(process)
    if kind == "leave":  # another process keeps the worker's stdin and stdout open
        keeper = subprocess.Popen(["sleep", "600"], pass_fds=[process.stdin.fileno(), process.stdout.fileno()],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  start_new_session=True)
        with (DEVICE / "keepers").open("a") as file:
            file.write(f"{keeper.pid}\n")
    os._exit({"lie": 0, "drop": 255}.get(kind, 1))


class Place:
    """A place in the worker's output."""

    def __init__(self, text):
        size, _, event = text.partition("@")
        self.behind, self.event = int(size or 0), f'"event":"{event}"'.encode()
        self.passed = b""

    def left(self, data):
        """How many of these bytes, which come next, still arrive; None: all."""
        before = len(self.passed)
        self.passed += data
        found = self.passed.find(self.event)
        end = found + self.behind
        return None if found < 0 or end > len(self.passed) else max(end - before, 0)


def pass_errors(process):
    while (data := process.stderr.read1(1 << 16)) and not STALLED.is_set():
        os.write(2, data)


def run_worker(script):
    kind, text = next_fault("worker_faults")
    place = Place(text)
    process = start(script, stderr=subprocess.PIPE)
    for passing in (pass_input, pass_errors):
        threading.Thread(target=passing, args=[process], daemon=True).start()
    while data := process.stdout.read1(1 << 16):
        if kind != "none" and (left := place.left(data)) is not None:
            os.write(1, data[:left])
            fail(kind, process)
        while data:
            data = data[os.write(1, data):]
    return process.wait() & 0xff


def run_command(script):
    kind, _ = next_fault("other_faults")
    if kind == "offline":
        print("error: device offline", file=sys.stderr)
        return 1
    process = start(script)
    out, _ = process.communicate(sys.stdin.buffer.read())
    if kind == "damage" and (part := re.search(r"-C (\S+)", script)):
        with next(path for path in pathlib.Path(part[1]).rglob("*") if path.is_file()).open("ab") as file:
            file.write(b"x")
    sys.stdout.buffer.write(out)
    return process.returncode & 0xff


def main():
    words = sys.argv[1:]
    if words[0] in ("reconnect", "connect"):
        return 0
    if pathlib.Path(sys.argv[0]).name == "ssh":
        print("Welcome to host 4711", flush=True)  # by a start-up file of the user's shell
    script = script_of(words)
    return run_worker(script) if " begin\n" in script else run_command(script)


if __name__ == "__main__":
    ended = main()
    sys.stdout.flush()
    os._exit(ended)  # a thread may still read stdin
