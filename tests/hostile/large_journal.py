#!/usr/bin/python3
"""Writes the journal of a large run, by repeating the rows of a small one under new names.

    large_journal.py JOURNAL FOLDER ROWS [--mode accu|perf] [--name NAME]

FOLDER/journal.jsonl gets ROWS rows; rows of mode perf have BLOCKS blocks of one sample each, which differ by some
percent. --name distinguishes two journals for `assay compare`. The figures of docs/reliability.md use these journals.
"""
import argparse
import json
import pathlib
import random

BLOCKS = 7


def rows_of(lines, mode):
    """The planned rows of a mode, each with the lines of its events."""
    events = [json.loads(line) for line in lines]
    planned = [row for event in events if event["event"] == "plan" for row in event["rows"]]
    told = {index: [] for index, row in enumerate(planned) if row["mode"] == mode}
    for event in events:
        if event.get("row") in told:
            told[event["row"]].append(event)
    return [(planned[index], told[index]) for index in told if told[index][-1].get("status") == "PASS"]


def blocks_of(events, rng):
    """The blocks of one row of the large journal, each with the size of the first one."""
    first = next(event for event in events if event["event"] == "block")
    for number in range(BLOCKS):
        samples = [round(first["samples_ns"][0] * rng.uniform(0.98, 1.02))]
        yield {**first, "round": number, "samples_ns": samples}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("journal", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("rows", type=int)
    parser.add_argument("--mode", choices=("accu", "perf"), default="perf")
    parser.add_argument("--name", default="large")
    options = parser.parse_args()
    lines = options.journal.read_text(encoding="utf-8").splitlines()
    rows = rows_of(lines, options.mode)
    rng = random.Random(options.name)
    options.folder.mkdir(parents=True, exist_ok=True)
    with open(options.folder / "journal.jsonl", "w", encoding="utf-8") as out:
        def tell(event):
            out.write(json.dumps(event, separators=(",", ":")) + "\n")
        tell({**json.loads(lines[0]), "run_id": options.name})
        tell({"event": "plan", "first": 0,
              "rows": [{**row, "id": f"{row['id']}/{number}"}
                       for number in range(options.rows) for row in [rows[number % len(rows)][0]]]})
        for number in range(options.rows):
            events = rows[number % len(rows)][1]
            for event in events:
                if event["event"] in ("begin", "judged", "end"):
                    if event["event"] == "end" and options.mode == "perf":
                        for block in blocks_of(events, rng):
                            tell({**block, "row": number})
                    tell({**event, "row": number})
        tell({"event": "done"})


if __name__ == "__main__":
    main()
