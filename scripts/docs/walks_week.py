#!/usr/bin/python3
"""Makes a farm's week from one report: seven synthetic nights of a device, with some changes.

    scripts/docs/walks_week.py REPORT NIGHTS ASSAY

REPORT is a published report, which is not changed; ASSAY is the binary that unpacks its journal. The journals of the
nights go to NIGHTS/<day>/<device>/. Every time of a night is the report's, changed by up to 0.3 % per row and up to
0.2 % per block, with the same numbers at every run of this script. In addition:

    thu  a new build: impl gemv of q8ta_linear takes 6 % longer from now on
    sat  one accuracy row of it is wrong from now on
    sun  the device reaches 8 % less bandwidth
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zlib

DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
FIRST_DATE = 16  # of November 2026, a Monday
DEVICE = "nvidia-h200"
BANDWIDTH_ON_SUNDAY = 0.92


def jitter(width, *names):
    """A factor near 1 that depends on the names alone."""
    share = zlib.crc32("/".join(map(str, names)).encode()) / 0xffffffff
    return 1 + width * (2 * share - 1)


class Night:
    """Changes the events of one night."""

    def __init__(self, day):
        self.day = day
        self.number = DAYS.index(day)
        self.rows = []

    def event(self, event):
        return getattr(self, event["event"], lambda e: e)(event)

    def run(self, event):
        event["run_id"] = f"202611{FIRST_DATE + self.number}T010000Z-{self.number:06x}"
        event["started_utc"] = f"2026-11-{FIRST_DATE + self.number}T01:00:00Z"
        event["version"] = "0.1.0+" + ("b" if self.number >= DAYS.index("thu") else "a") * 12
        if self.day == "sun":
            for point in event["ceilings"]["bandwidth"]:
                for name in ("copy_gbps", "read_gbps", "write_gbps"):
                    point[name] *= BANDWIDTH_ON_SUNDAY
        return event

    def plan(self, event):
        self.rows += event["rows"]
        return event

    def is_slowed_down(self, row):
        return (self.number >= DAYS.index("thu") and row["op"] == "q8ta_linear" and row["impl"] == "gemv"
                and row["mode"] == "perf")

    def block(self, event):
        row = self.rows[event["row"]]
        factor = jitter(0.003, self.day, row["id"]) * jitter(0.002, self.day, row["id"], event["round"])
        if self.is_slowed_down(row):
            factor *= 1.06
        event["samples_ns"] = [round(ns * factor, 3) for ns in event["samples_ns"]]
        return event

    def is_wrong(self, row):
        return (self.number >= DAYS.index("sat") and row["mode"] == "accu"
                and row["id"].startswith("q8ta_linear/many_rows/3x5.67.1028.257/4W.4W/gemv"))

    def judged(self, event):
        if self.is_wrong(self.rows[event["row"]]):
            event.update(metric="wrong_value", mismatches=3, first_bad=[2, 4, 66, 256], expected=17, got=18, bound=0,
                         max_abs_err=1, err_over_bound=2, missed="reference")
        return event

    def end(self, event):
        row = self.rows[event["row"]]
        if self.is_wrong(row):
            event["status"] = "FAIL"
        if self.is_slowed_down(row) and "perf" in event:
            event["perf"]["program_hash"] = "new build " + event["perf"]["program_hash"][:8]
        if self.day == "sun" and "perf" in event:
            event["perf"]["peak_gbps"] *= BANDWIDTH_ON_SUNDAY
            event["perf"]["pct_peak_bw"] /= BANDWIDTH_ON_SUNDAY
        return event


def journal_of(report, assay):
    """The lines of a report's journal; the report stays as it is."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copytree(report, folder / "report")
        subprocess.run([assay, "report", folder / "report", "--rewrite-journal", folder / "plain.jsonl"], check=True,
                       stdout=subprocess.DEVNULL)
        return (folder / "plain.jsonl").read_text(encoding="utf-8").splitlines()


def main():
    report, nights, assay = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    lines = journal_of(report, assay)
    for day in DAYS:
        night = Night(day)
        folder = nights / day / DEVICE
        folder.mkdir(parents=True)
        events = (json.dumps(night.event(json.loads(line)), separators=(",", ":")) for line in lines)
        (folder / "journal.jsonl").write_text("\n".join(events) + "\n", encoding="utf-8")


main()
