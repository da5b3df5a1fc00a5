#!/usr/bin/python3
"""A worker without a device: speaks the protocol of harness/engine/supervision/protocol.h and fails on request.

    assay run FILE --worker-command 'tests/farm/mock_worker.py --rows 100 --fault segfault@7'

A fault is KIND@ROW, or KIND@ROW:TIMES for one that happens only TIMES times in the whole run (counted in the file that
--state names). Rows count from 0; the last --perf of them are timed.
"""

import argparse
import json
import os
import pathlib
import signal
import sys
import time

BLOCKS = 7
KINDS = ("segfault", "abort", "exit", "kill", "hang", "compile-hang", "dispatch-hang", "device-lost", "timeout",
         "out-of-memory", "garbage", "half-line", "flood", "order", "fail", "between", "start", "start-hang")


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--perf", type=int, default=0)
    parser.add_argument("--fault", action="append", default=[])
    parser.add_argument("--state", type=pathlib.Path)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--row-ms", type=float, default=0)
    parser.add_argument("--cases", default="1", help="the hash of the case files to report")
    parser.add_argument("--driver", default="1.0")
    return parser.parse_args()


class Faults:
    """The faults by row, and how often each will still happen."""

    def __init__(self, options):
        self.state = options.state
        self.faults = {}
        for text in options.fault:
            kind, _, place = text.partition("@")
            if kind not in KINDS:
                sys.exit(f"mock_worker: no fault is called {kind}")
            row, _, times = place.partition(":")
            self.faults[int(row)] = (kind, int(times) if times else None)

    def at(self, row):
        kind, times = self.faults.get(row, (None, None))
        if kind is None or times is None:
            return kind
        mark = self.state.with_name(f"{self.state.name}.{row}")
        done = int(mark.read_text()) if mark.exists() else 0
        mark.write_text(str(done + 1))
        return kind if done < times else None


class Worker:
    def __init__(self, options):
        self.options = options
        self.faults = Faults(options)
        self.device = 0
        self.ran = 0
        self.requests = iter(sys.stdin.readline, "")

    def say(self, **event):
        sys.stdout.write(json.dumps(event, separators=(",", ":")) + "\n")

    def hear(self):
        sys.stdout.flush()
        line = next(self.requests, None)
        if line is None:
            os._exit(3)
        request = json.loads(line)
        if request["request"] == "stop":
            sys.exit(0)
        return request

    def serve(self):
        while True:
            request = self.hear()
            if request["request"] == "open":
                self.open(request)
            elif request["request"] == "rows":
                self.run(request)

    def info(self, device):
        return {"name": f"mock {device}", "type": "cpu", "uuid": f"{device:032x}", "driver_name": "mock",
                "driver_info": self.options.driver}

    def open(self, request):
        if request.get("only_devices"):
            devices = [{"info": self.info(i), "slug": f"mock-{i}"} for i in range(self.options.devices)]
            return self.say(worker="devices", devices=devices)
        self.break_at(-1)
        self.device = request.get("device", 0)
        self.say(event="run", schema=3, run_id=request.get("run_id", ""), device=self.info(self.device),
                 version="mock", command=request.get("command", []), inputs={"cases": self.options.cases})
        rows = [self.row_info(row) for row in range(self.options.rows)]
        # The supervisor recognizes a plan by the order of its members.
        self.say(event="plan", first=0, rows=rows)

    def is_timed(self, row):
        return row >= self.options.rows - self.options.perf

    def row_info(self, row):
        info = {"id": f"mock/{row}", "op": "mock", "impl": "mock", "group": f"{row:016x}", "mode": "accu",
                "where": {"file": "mock.yaml", "line": row + 1, "column": 1}}
        if self.is_timed(row):
            info.update(mode="perf", cache="hot")
        return info

    def run(self, request):
        ranges = [[0, self.options.rows - 1]] if request.get("all") else request.get("rows", [])
        rows = [row for first, last in ranges for row in range(first, last + 1)]
        begun = dict(zip(request.get("begun", []), request.get("blocks", [])))
        timed = []
        for row in rows:
            self.say(event="begin", row=row)
            kind = self.break_at(row)
            if kind == "out-of-memory":
                self.say(event="end", row=row, status="OUT_OF_MEMORY", reason="VK_ERROR_OUT_OF_DEVICE_MEMORY")
                continue
            if self.options.row_ms:
                sys.stdout.flush()
                time.sleep(self.options.row_ms / 1000)
            self.say(event="judged", row=row, output="y", elements=1, output_hash=f"{row:08x}")
            if kind == "fail":
                self.say(event="end", row=row, status="FAIL", reason="a wrong value")
            elif self.is_timed(row):
                timed.append(row)
            else:
                self.say(event="end", row=row, status="PASS")
            self.ran += 1
        if timed:
            self.time(timed, begun)
        self.say(worker="idle")

    def time(self, rows, begun):
        self.say(worker="wants_to_time")
        self.hear()
        for number in range(BLOCKS):
            for row in rows:
                if number in [block["round"] for block in begun.get(row, [])]:
                    continue
                self.say(event="begin", row=row)
                self.break_at(row)
                self.say(event="block", row=row, round=number, batch=10, samples_ns=[1000 + row, 1001 + row])
                if self.options.row_ms:
                    sys.stdout.flush()
                    time.sleep(self.options.row_ms / 1000)
        self.say(worker="timed")
        for row in rows:
            self.say(event="end", row=row, status="PASS", perf={"clock": "gpu", "verified": True, "verified_pct": 100})

    def break_at(self, row):
        """Applies the fault of this row to the process; returns the kind if the row itself reports the fault."""
        kind = self.faults.at(row)
        if kind in (None, "fail", "out-of-memory"):
            return kind
        sys.stdout.flush()
        sys.stderr.write(f"mock: {kind} in row {row}\n")
        sys.stderr.flush()
        if kind in ("segfault", "start"):
            os.kill(os.getpid(), signal.SIGSEGV)
        elif kind == "abort":
            os.abort()
        elif kind == "exit":
            os._exit(0)
        elif kind == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif kind == "order" and self.ran:
            os.kill(os.getpid(), signal.SIGSEGV)
        elif kind in ("hang", "start-hang", "compile-hang", "dispatch-hang"):
            self.hang({"compile-hang": "compile", "dispatch-hang": "dispatch"}.get(kind))
        elif kind in ("device-lost", "timeout"):
            status = kind.upper().replace("-", "_")
            self.say(event="end", row=row, status=status, reason="VK_ERROR_DEVICE_LOST" if kind != "timeout" else
                     "the GPU did not finish within 1 s")
            sys.stdout.flush()
            os._exit(3)
        elif kind == "garbage":
            sys.stdout.write("\x1b[31mgarbage\n")
        elif kind == "half-line":
            sys.stdout.write('{"event":"beg')
            sys.stdout.flush()
            os._exit(0)
        elif kind == "flood":
            line = "." * 999 + "\n"
            for _ in range(100_000):
                sys.stderr.write(line)
        elif kind == "between":
            self.say(event="judged", row=row, output="y", elements=1, output_hash=f"{row:08x}")
            self.say(event="end", row=row, status="PASS")
            sys.stdout.flush()
            os._exit(1)
        return None

    def hang(self, phase):
        if phase:
            self.say(worker="phase", phase=phase)
        sys.stdout.flush()
        while True:
            time.sleep(1)


if __name__ == "__main__":
    try:
        Worker(arguments()).serve()
    except BrokenPipeError:
        os._exit(3)
