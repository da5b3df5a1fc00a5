#!/usr/bin/python3
"""Draws fused_and_unfused.svg, the picture of README.md, and writes its table in docs/performance.md, from the
published reports.

    docs/images/fused_and_unfused.py            writes the picture beside this script, and the table
    docs/images/fused_and_unfused.py --check    writes nothing; 1 when picture or table is not that of the reports

The rows are those of q8ta_pixel_shuffle with requantization in 4W4C, hot: median times of reports/published/*/perf.csv.
"""
import csv
import math
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
PUBLISHED = HERE.parent.parent / "reports" / "published"
PICTURE = HERE / "fused_and_unfused.svg"
DOCUMENT = HERE.parent / "performance.md"
HEAD = "| shape, qparams | H100 fused, us | unfused, us | ratio | lavapipe fused, us | unfused, us | ratio |"
DEVICES = [("nvidia-h100", "NVIDIA H100"), ("lavapipe", "lavapipe, 2 CPU cores")]
SHAPES = ["1x96x16x9", "1x96x32x18", "1x96x64x36", "1x96x128x72", "1x96x1024x1024"]

PANEL_WIDTH, ROW_HEIGHT, LEFT, TOP, GAP = 370, 34, 136, 74, 30
MARGIN = 50  # of a panel, left of its axis: space for the shortest time's label
INK, FAINT, FUSED, UNFUSED = "#24292f", "#d0d7de", "#0a66c2", "#b35900"


def times_of(folder, qparams="diff"):
    """{(shape, impl): median time in us} of the rows with these qparams; "diff" are those of the picture."""
    times = {}
    with open(PUBLISHED / folder / "perf.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            _, *id_parts = row["case"].split("/")
            shown = (row["op"] == "q8ta_pixel_shuffle" and qparams in id_parts and row["cache"] == "hot"
                     and row["forms"] == "x=buffer/4W4C y=buffer/4W4C" and row["shape"] in SHAPES
                     and row["status"] == "PASS" and not row["tune"])
            if shown:
                times.setdefault((row["shape"], row["impl"]), float(row["time_us_p50"]))
    return times


def number(time_us):
    """Three digits, in us below a millisecond."""
    value, unit = (time_us / 1000, "ms") if time_us >= 1000 else (time_us, "us")
    return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"


def tick(exponent):
    return f"{10**(exponent - 3)} ms" if exponent >= 3 else f"{10**exponent} us"


def text(x, y, words, size=12, anchor="start", color=INK, weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{color}" '
            f'font-weight="{weight}">{words}</text>')


def panel(left, title, times):
    """One device: a logarithmic axis of its own, a line from the fused to the unfused time of each shape."""
    low = math.floor(math.log10(min(times.values())))
    high = math.ceil(math.log10(max(times.values())))
    bottom = TOP + ROW_HEIGHT * len(SHAPES)

    def place(time_us):
        return left + MARGIN + (PANEL_WIDTH - 2 * MARGIN) * (math.log10(time_us) - low) / (high - low)

    parts = [text(left + MARGIN, TOP - 22, title, 13, weight="bold")]
    for exponent in range(low, high + 1):
        x = place(10.0**exponent)
        parts.append(f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{bottom}" stroke="{FAINT}"/>')
        parts.append(text(x, bottom + 18, tick(exponent), 11, "middle"))
    for i, shape in enumerate(SHAPES):
        y = TOP + ROW_HEIGHT * (i + 0.5)
        fused, unfused = times.get((shape, "fused")), times.get((shape, "unfused"))
        if fused is None or unfused is None:
            parts.append(text(left + PANEL_WIDTH / 2, y + 4, "not timed on this device", 11, "middle"))
            continue
        a, b = place(fused), place(unfused)
        parts.append(f'<line x1="{a:.1f}" y1="{y:.1f}" x2="{b:.1f}" y2="{y:.1f}" stroke="{INK}" stroke-width="1.5"/>')
        parts.append(f'<circle cx="{a:.1f}" cy="{y:.1f}" r="5" fill="{FUSED}"/>')
        parts.append(f'<rect x="{b - 4.5:.1f}" y="{y - 4.5:.1f}" width="9" height="9" fill="{UNFUSED}"/>')
        parts.append(text((a + b) / 2, y - 5, f"{unfused / fused:.1f} times", 11, "middle"))
        parts.append(text(a - 9, y + 4, number(fused), 11, "end", FUSED))
        parts.append(text(b + 9, y + 4, number(unfused), 11, "start", UNFUSED))
    return parts


def picture():
    height = TOP + ROW_HEIGHT * len(SHAPES) + 44
    width = LEFT + len(DEVICES) * (PANEL_WIDTH + GAP) - GAP + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" role="img">',
        '<title>q8ta_pixel_shuffle: one fused kernel against five dispatches</title>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        text(16, 24, "q8ta_pixel_shuffle with requantization: median time of one program", 14, weight="bold"),
        f'<circle cx="{width - 250}" cy="20" r="5" fill="{FUSED}"/>', text(width - 240, 24, "fused", color=FUSED),
        f'<rect x="{width - 184.5}" y="15.5" width="9" height="9" fill="{UNFUSED}"/>',
        text(width - 170, 24, "unfused: 5 dispatches", color=UNFUSED),
    ]
    for i, shape in enumerate(SHAPES):
        parts.append(text(LEFT - 14, TOP + ROW_HEIGHT * (i + 0.5) + 4, shape, 12, "end"))
    for i, (folder, title) in enumerate(DEVICES):
        parts += panel(LEFT + i * (PANEL_WIDTH + GAP), title, times_of(folder))
    return "\n".join(parts + ["</svg>"]) + "\n"


def cells(times, shape):
    fused, unfused = times.get((shape, "fused")), times.get((shape, "unfused"))
    if fused is None or unfused is None:
        return ["", "", ""]
    return [*(f"{one:.0f}" if one >= 100 else f"{one:.2f}" for one in (fused, unfused)), f"{unfused / fused:.1f}"]


def table():
    lines = [HEAD, "|---|" + 6 * "---:|"]
    for shape in SHAPES:
        for qparams, words in (("same", "equal"), ("diff", "requantized")):
            row = [f"{shape}, {words}"]
            for folder, _ in DEVICES:
                row += cells(times_of(folder, qparams), shape)
            lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def document():
    """docs/performance.md with the table of today's reports."""
    written = DOCUMENT.read_text(encoding="utf-8")
    begin = written.index(HEAD)
    return written[:begin] + table() + written[written.index("\n\n", begin) + 1:]


def main():
    status = 0
    for file, content in ((PICTURE, picture()), (DOCUMENT, document())):
        if "--check" not in sys.argv[1:]:
            file.write_text(content, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != content:
            print(f"{file.name} is not what the published reports say: run docs/images/fused_and_unfused.py", file=sys.stderr)
            status = 1
    return status


sys.exit(main())
