#!/usr/bin/python3
"""Writes reports of invented runs, for tests and measurements of `assay page`.

    tests/page/synthetic.py DIR [--nights N] [--devices N] [--rows N] [--journals N] [--slow-machine X] [--hours H]

DIR gets one folder per night, with one folder per device in it. The newest `--journals` nights (default: all) have
complete journals. A journal of an older night has only its first row, next to the history.csv that a run writes. In
the newest night one row per device fails, with a map of its errors, and some rows are slower. The driver changes
after half of the nights, the commit every fifth night. Only the second device tells its energy. In the newest night every program takes X times as long. Nights are H
hours apart (default: 24). The same arguments give the same files.
"""
import argparse
import datetime
import json
import math
import pathlib
import random

OPS = ("quantize_rows", "dequantize_rows", "linear_int8", "linear_int4", "shuffle", "conv_depthwise", "conv_pointwise", "add")
IMPLS = ("auto", "tiled", "fused")
BANDWIDTH = [{"footprint_bytes": 65536 << k, "copy_gbps": 2000 / (1 + max(0, k - 6) / 2),
              "read_gbps": 2400 / (1 + max(0, k - 6) / 2), "write_gbps": 1500 / (1 + max(0, k - 6) / 2)} for k in range(14)]
MAP = "errors by tile of 7 rows x 1 column of 108 x 10\n.112...2..\n..111.2...\n11...2..1.\n.1..1...1.\n..#...#1..\n"
CHAIN = 4  # the row that is one of a chain
PLAN = {"transitions": 1, "transition_bytes": 4096, "folded": ["keep"], "peak_bytes": 8192, "hash": "ef" * 16, "steps": [
    {"name": "conv", "op": "conv_pointwise", "impl": "gemm", "reads": ["x as buffer/4W4C"], "writes": ["a as buffer/4W4C"]},
    {"name": "a to buffer/4C", "op": "clone", "impl": "tiled", "transition": True, "reads": ["a as buffer/4W4C"],
     "writes": ["a as buffer/4C"]},
    {"name": "add", "op": "add", "impl": "fused", "reads": ["a as buffer/4C", "x as buffer/4W4C"], "writes": ["y as buffer/4C"]}]}
HEADER = ("schema,run_id,device,driver,commit,date,device_key,case,mode,cache,status,time_us_p50,ci_pct,"
          "err_over_bound,output_hash\r\n")


def plan(rows):
    """The rows of a run: two of three cases are timed; the impls of a case follow each other."""
    planned = []
    for number in range(rows):
        case, impl = divmod(number, len(IMPLS))
        op = OPS[case % len(OPS)]
        mode = "accu" if case % 3 == 0 else "perf"
        size = 64 << (case % 8)
        planned.append({
            "id": f"{op}/case{case}/{size}x1024/4W4C.4W4C/{IMPLS[impl]}", "op": op, "name": f"case{case}", "impl": IMPLS[impl],
            "group": f"{case:016x}", "dtype": "i8", "shape": f"{size}x1024", "params": f"M={size} N=1024 bias=false",
            "forms": "x=buffer/4W4C y=buffer/4W4C", "fill": "x=normal", "mode": mode, "tier": "nightly",
            **({"cache": "hot"} if mode == "perf" else {}),
            "where": {"file": f"cases/{op}.yaml", "line": 5 + case % 50, "column": 5}})
    return planned


class Night:
    def __init__(self, number, device, total, slow_machine=1, hours=24):
        date = datetime.datetime(2026, 1, 1, 1) + datetime.timedelta(hours=hours * number, minutes=device)
        self.random = random.Random(number * 1000 + device)
        self.date = date.strftime("%Y-%m-%dT%H:%M:%SZ")
        self.run_id = date.strftime("%Y%m%dT%H%M%SZ") + f"-{number:03x}{device:03x}"
        self.is_newest = number == total - 1
        self.device = f"Acme GPU {device + 1}"
        self.uuid = f"{device + 1:032x}"
        self.driver = "1.2" if number < total // 2 else "1.3"
        self.commit = f"{number // 5 + 0xa00000:012x}"
        self.tells_energy = device == 1
        self.speed = (1 + 0.4 * device) * (slow_machine if self.is_newest else 1)

    def run(self):
        return {"event": "run", "schema": 3, "run_id": self.run_id, "started_utc": self.date, "version": "0.1.0+" + self.commit,
                "compiler": "GCC 12", "build_type": "Release", "host": "rack", "os": "Linux", "cpu": "Acme CPU", "cores": 8,
                "command": ["assay", "run"], "seed": 0,
                "device": {"name": self.device, "type": "discrete", "driver_name": "Acme", "driver_info": self.driver,
                           "api_version": "1.3.250", "uuid": self.uuid},
                "ceilings": {"device_uuid": self.uuid, "driver": "Acme " + self.driver, "kernels": "00", "measured_utc": self.date,
                             "bandwidth": BANDWIDTH, "cache_bytes": 4 << 20, "fp32_gops": 20000, "fp16_gops": 40000,
                             "dot4x8_gops": 80000, "dispatch_us": 2.5}}

    def median_us(self, number, row):
        size = int(row["shape"].split("x")[0])
        time = (2 + size / 900) * (1 + number % 3) * self.speed * self.random.uniform(0.995, 1.005)
        return time * (1.2 if self.is_slower(number) else 1)

    def is_slower(self, number):
        return self.is_newest and number % 97 == 7

    def fails(self, number):
        return self.is_newest and number == 0

    def spent(self, number):
        return round(0.2 + 0.1 * math.sin(number), 4) if number % 2 else 0

    def perf(self, number, row, time):
        size = int(row["shape"].split("x")[0])
        total = 2 * size * 1024
        ops = 0 if row["op"] in ("shuffle", "add") else size * 1024 * (2 if "rows" in row["op"] else 512)
        share = 100 * total / time / 1e3 / 1500
        energy = {"source": "fake (the device)", "joules": 120e-6 * time, "watts": 120, "window_s": 1, "programs": int(1e6 / time), "readings": 50}
        return {"stop": "interval", **({"energy": energy} if self.tells_energy else {}), "throughput_us": time * 0.9, "bytes": total, "bytes_read": total // 2, "operations": ops,
                "ceiling": "dot4x8" if ops else "bandwidth", "peak_gbps": 1500, "peak_gops": 80000 if ops else 0,
                "pct_peak_bw": share, "pct_peak_ops": 100 * ops / time / 1e3 / 80000, "limited_by": "bandwidth", "clock": "gpu",
                "timer": "good", "clock_ratio": 0.99, "verified": True, "verified_pct": 100, "compile_ms": 12,
                "spirv_hash": "ab" * 16, "program_hash": f"{number:031x}{self.is_slower(number):x}", "memory_bytes": 2 * total,
                "dispatches": [{"label": row["op"], "role": "op", "time_us": time}]}

    def events(self, rows):
        yield self.run()
        yield {"event": "plan", "first": 0, "rows": rows}
        for number, row in enumerate(rows):
            yield {"event": "begin", "row": number}
            judged = {"event": "judged", "row": number, "output": "y", "class": "bounded", "elements": 1080, "err_over_bound": self.spent(number),
                      "input_hash": "cd" * 16, "output_hash": f"{number:032x}", "reference_ms": 0.5, "gpu_ms": 1.5, "memory_bytes": 4096}
            if self.fails(number):
                judged.update(mismatches=74, max_abs_err=1, err_over_bound="inf", metric="wrong_value", first_bad=[0, 0, 1, 3],
                              expected=9, got=10, tile_map=MAP)
            yield judged
            end = {"event": "end", "row": number, "status": "FAIL" if self.fails(number) else "PASS", "total_ms": 20}
            if self.fails(number):
                end["reason"] = "y[0, 0, 1, 3]: expected 9, got 10 (exact); 74 of 1080 elements wrong (6.85 %), largest error 1"
            if row["mode"] == "perf":
                time = self.median_us(number, row)
                for block in range(7):
                    middle = time * self.random.uniform(0.998, 1.002)
                    yield {"event": "block", "row": number, "round": block, "batch": 10, "probe_ns": 80000,
                           "samples_ns": [round(middle * 1e4 * self.random.uniform(0.996, 1.006)) for _ in range(10)]}
                end["perf"] = self.perf(number, row, time)
                if number == CHAIN:
                    end.update(chain=PLAN)
                    end["perf"]["dispatches"] = [{"label": "conv/gemm", "role": "op", "time_us": 6},
                                                 {"label": "a to buffer/4C/copy", "role": "transition", "time_us": 2}]
            yield end
        yield {"event": "done"}

    def history(self, rows):
        for number, row in enumerate(rows):
            timed = (f"{self.median_us(number, row):.4f}", "0.25") if row["mode"] == "perf" else ("", "")
            yield ",".join(("3", self.run_id, self.device, "Acme " + self.driver, self.commit, self.date, "uuid:" + self.uuid, row["id"],
                            row["mode"], row.get("cache", ""), "PASS", *timed, str(self.spent(number)), f"{number:032x}")) + "\r\n"


def write_night(folder, night, rows, is_whole):
    folder.mkdir(parents=True)
    shown = rows if is_whole else rows[:1]
    with open(folder / "journal.jsonl", "w", encoding="utf-8") as journal:
        for event in night.events(shown):
            journal.write(json.dumps(event, separators=(",", ":")) + "\n")
    with open(folder / "history.csv", "w", encoding="utf-8", newline="") as history:
        if not is_whole:
            history.write(HEADER)
            history.writelines(night.history(rows))
    if is_whole:
        (folder / "history.csv").unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--nights", type=int, default=3)
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--journals", type=int)
    parser.add_argument("--slow-machine", type=float, default=1)
    parser.add_argument("--hours", type=float, default=24)
    options = parser.parse_args()
    rows = plan(options.rows)
    whole = options.nights if options.journals is None else options.journals
    for number in range(options.nights):
        for device in range(options.devices):
            folder = options.folder / f"night-{number:02}" / f"acme-gpu-{device + 1}"
            night = Night(number, device, options.nights, options.slow_machine, options.hours)
            write_night(folder, night, rows, number >= options.nights - whole)


if __name__ == "__main__":
    main()
