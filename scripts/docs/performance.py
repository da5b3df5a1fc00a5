#!/usr/bin/python3
"""Writes the tables of docs/performance.md that come from the published reports; what other implementations take is
stated here, with its source in the document.

    scripts/docs/performance.py            writes the tables
    scripts/docs/performance.py --check    writes nothing; 1 when a table is not that of the reports

Needs build/release/assay for the steps of a model. docs/images/fused_and_unfused.py writes one more table.
"""
import csv
import fnmatch
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PUBLISHED = ROOT / "reports" / "published"
DOCUMENT = ROOT / "docs" / "performance.md"
ASSAY = ROOT / "build" / "release" / "assay"
MATRICES = {"coop_int8": "int8 matrices", "coop_fp16": "fp16 matrices"}

LINEAR_HEAD = "| op, M x K x N | assay | PyTorch | ExecuTorch | share of ceiling |"
# Text, row, PyTorch us, ExecuTorch us, the ceiling whose share is shown ("" for rows that launches limit).
LINEAR = [
    ("`q8ta_linear` 1x2048x2048", "q8ta_linear/llama_3_2_1b_decode/attn.q_o/4W.4W/auto/cold", "", "6.4", "bandwidth"),
    ("`q8ta_linear` 1x14336x4096", "q8ta_linear/llama_3_1_8b_decode/mlp.down/4W.4W/auto/cold", "", "", "bandwidth"),
    ("`q8ta_linear` 128x2048x2048", "q8ta_linear/prefill_cold/128.2048.2048/4W.4W/auto/cold", "9.0", "", "operations"),
    ("`q8ta_linear` 1024x2048x2048", "q8ta_linear/prefill_cold/1024.2048.2048/4W.4W/auto/cold", "20.0", "333", "operations"),
    ("`q8ta_linear` 1024x4096x4096", "q8ta_linear/prefill_cold/1024.4096.4096/4W.4W/auto/cold", "62.5", "", "operations"),
    ("`q8ta_linear` 4096x4096x4096", "q8ta_linear/prefill_cold/4096.4096.4096/4W.4W/auto/cold", "206", "", "operations"),
    ("`linear_q8ta_q8csw` 1024x2048x2048", "linear_q8ta_q8csw/prefill_cold/WP.WP/auto/cold", "25.6", "332", "operations"),
    ("`linear_dq8ca_q4gsw` 1x2048x2048, g 128", "linear_dq8ca_q4gsw/llama_3_2_1b_decode/attn.q_o/128/WP.WP/auto/cold",
     "4.3", "", ""),
    ("`linear_dq8ca_q4gsw` 1x4096x14336, g 128", "linear_dq8ca_q4gsw/llama_3_1_8b_decode/mlp.gate_up/128/WP.WP/auto/cold",
     "19.6", "", "bandwidth"),
    ("`linear_dq8ca_q4gsw` 1x14336x4096, g 128", "linear_dq8ca_q4gsw/llama_3_1_8b_decode/mlp.down/128/WP.WP/auto/cold",
     "19.6", "", "bandwidth"),
    ("`linear_dq8ca_q4gsw` 128x2048x2048, g 128", "linear_dq8ca_q4gsw/prefill_cold/128.2048.2048/WP.WP/auto/cold", "", "141",
     "operations"),
    ("`linear_dq8ca_q4gsw` 1024x4096x4096, g 128", "linear_dq8ca_q4gsw/prefill_cold/1024.4096.4096/WP.WP/auto/cold", "", "1348",
     "operations"),
    ("`linear_q4gsw` f16 1x2048x2048, g 128", "linear_q4gsw/llama_3_2_1b_decode/attn.q_o/128/WP.WP/auto/cold", "4.3", "", ""),
    ("`linear_q4gsw` f16 1x4096x14336, g 128", "linear_q4gsw/llama_3_1_8b_decode/mlp.gate_up/128/WP.WP/auto/cold", "19.6", "",
     "bandwidth"),
    ("`linear_q4gsw` f16 128x2048x2048, g 128", "linear_q4gsw/prefill_cold/128.2048.2048/WP.WP/auto/cold", "", "357", "operations"),
    ("`linear_q4gsw` f16 1024x4096x4096, g 128", "linear_q4gsw/prefill_cold/1024.4096.4096/WP.WP/auto/cold", "", "1343",
     "operations"),
]

CONVOLUTION_HEAD = "| work, impl `auto` | assay | hot | cuDNN | ExecuTorch |"
# Text, cold row, hot row, cuDNN us, ExecuTorch us.
CONVOLUTIONS = [
    ("`q8ta_conv2d` [1,64,128,128] -> 64, 3x3, 4C", "q8ta_conv2d/times/square_layer/4C.4C/auto/cold",
     "q8ta_conv2d/times_hot/square_layer/4C.4C/auto", "15.4", "64.4"),
    ("the same in 4C1W", "q8ta_conv2d/times_by_4C1W/4C1W.4C1W/auto/cold", "", "", ""),
    ("[1,64,128,128] -> 128, 3x3", "q8ta_conv2d/times/wide_layer/4C.4C/auto/cold", "", "15.9", ""),
    ("[1,128,256,256] -> 128, 5x5 s2 g4", "q8ta_conv2d/times/grouped_layer/4C.4C/auto/cold",
     "q8ta_conv2d/times_hot/grouped_layer/4C.4C/auto", "33.6", "175.8"),
    ("[1,512,7,7] -> 512, 3x3", "q8ta_conv2d/times/deep_layer/4C.4C/auto/cold", "q8ta_conv2d/times_hot/deep_layer/4C.4C/auto",
     "14.3", "206"),
    ("[1,1024,14,14] -> 2048, 1x1 s2", "q8ta_conv2d/times/strided_pixels/4C.4C/auto/cold",
     "q8ta_conv2d/times_hot/strided_pixels/4C.4C/auto", "9.2", "52.8"),
    ("`conv2d_q8ta_q8csw` [1,64,128,128] -> 128, 3x3, float in and out", "conv2d_q8ta_q8csw/times/CP.CP/auto/cold", "", "15.9", "164"),
    ("`q8ta_conv2d_pw` [1,576,128,128] -> 64, 4W4C", "q8ta_conv2d_pw/times/576.128.128.64/4W4C.4W4C/auto/cold",
     "q8ta_conv2d_pw/times_hot/576.128.128.64/4W4C.4W4C/auto", "11.5", "70.1"),
    ("[1,480,8,8] -> 160", "q8ta_conv2d_pw/times/480.8.8.160/4W4C.4W4C/auto/cold",
     "q8ta_conv2d_pw/times_hot/480.8.8.160/4W4C.4W4C/auto", "5.4", "24.7"),
    ("[1,128,128,128] -> 128", "q8ta_conv2d_pw/times/128.128.128.128/4W4C.4W4C/auto/cold", "", "", "25.9"),
    ("`q8ta_conv2d_dw` [1,64,256,256], 3x3, 4C1W", "q8ta_conv2d_dw/images/64.256.256.3x3.1x1/4C1W.4C1W/auto/cold",
     "q8ta_conv2d_dw/images_in_cache/64.256.256.3x3.1x1/4C1W.4C1W/auto", "20.9", "19.6"),
    ("[1,288,16,16], 3x3, 4C1W", "q8ta_conv2d_dw/images/288.16.16.3x3.1x1/4C1W.4C1W/auto/cold",
     "q8ta_conv2d_dw/images_in_cache/288.16.16.3x3.1x1/4C1W.4C1W/auto", "5.1", "9.0"),
    ("[1,128,128,128], 3x3, 4C1W", "q8ta_conv2d_dw/images/128.128.128.3x3.1x1/4C1W.4C1W/auto/cold",
     "q8ta_conv2d_dw/images_in_cache/128.128.128.3x3.1x1/4C1W.4C1W/auto", "", "12.5"),
    ("`q8ta_conv2d_transposed` [1,128,16,16] -> 64, 4x4 s2 p1",
     "q8ta_conv2d_transposed/times/128.16.16.64.4x4.2x2.1x1/4C.4C/auto/cold", "", "", "265"),
    ("[1,128,32,32] -> 64, 3x3 s2", "q8ta_conv2d_transposed/times/128.32.32.64.3x3.2x2/4C.4C/auto/cold",
     "q8ta_conv2d_transposed/times_hot/4C.4C/auto", "", "175"),
]

SHARE_HEAD = "| op | f32 or int8, % | f16, % |"
# Text, globs of rows of float32 or int8, globs of rows of float16: each glob is one figure, or a range.
SHARES = [
    ("`quantize_affine`, per token and per group of 128",
     ["quantize_affine/large/per_token/f32/*", "quantize_affine/large/*128*/f32/*"],
     ["quantize_affine/large/per_token/f16/*", "quantize_affine/large/*128*/f16/*"]),
    ("`dequantize_affine`, per token and per group of 128",
     ["dequantize_affine/large/per_token/f32/*", "dequantize_affine/large/*128*/f32/*"],
     ["dequantize_affine/large/per_token/f16/*", "dequantize_affine/large/*128*/f16/*"]),
    ("`choose_qparams_affine`, per token", ["choose_qparams_affine/large/per_token/f32/*"],
     ["choose_qparams_affine/large/per_token/f16/*"]),
    ("`choose_qparams_affine`, per group of 32", ["choose_qparams_affine/large/*32/f32/*"], ["choose_qparams_affine/large/*32/f16/*"]),
    ("`choose_qparams_affine`, per group of 128", ["choose_qparams_affine/large/*128/f32/*"],
     ["choose_qparams_affine/large/*128/f16/*"]),
    ("`choose_qparams_affine`, per tensor", ["choose_qparams_affine/large/m1xm1/f32/*"], ["choose_qparams_affine/large/m1xm1/f16/*"]),
    ("`quantize_dynamic`, fused", ["quantize_dynamic/large/f32/*/fused"], ["quantize_dynamic/large/f16/*/fused"]),
    ("`q8ta_pixel_shuffle`", ["q8ta_pixel_shuffle/large/*/fused"], []),
    ("`q8ta_clone`, its pairs of layouts", ["q8ta_clone/large_cube/*"], []),
    ("`clone`, its timed pairs", ["clone/large_cube/*"], ["clone/large_halves/*"]),
    ("`pixel_shuffle`", ["pixel_shuffle/large_cube/*"], ["pixel_shuffle/large_halves/*"]),
    ("`q8ta_add`", ["q8ta_add/large_cube/*"], []),
    ("`q8ta_relu`", ["q8ta_relu/large_cube/*"], []),
    ("`embedding_q4gsw`", ["embedding_q4gsw/large/f32/*"], ["embedding_q4gsw/large/f16/*"]),
]

STEP_HEAD = "| ms a step | at ceilings | tokens/s | tokens | op"
MODEL = "llama_3_2_1b"


def rows_of(folder):
    with open(PUBLISHED / folder / "perf.csv", newline="", encoding="utf-8") as file:
        return {row["case"]: row for row in csv.DictReader(file) if row["status"] == "PASS" and row["time_us_p50"]}


def line(cells):
    return "| " + " | ".join(cells) + " |"


def micros(row):
    time = float(row["time_us_p50"])
    return f"{time:.0f}" if time >= 100 else f"{time:.1f}"


def share(row, limit):
    if limit == "":
        return ""
    if limit == "bandwidth":
        return f"{float(row['pct_peak_bw']):.0f} % of the bandwidth"
    return f"{float(row['pct_peak_ops']):.0f} % of {MATRICES[row['ceiling']]}"


def linear_table(rows):
    return [LINEAR_HEAD, "|---|---:|---:|---:|---|"] + [
        line([text, micros(rows[case]), pytorch, executorch, share(rows[case], limit)])
        for text, case, pytorch, executorch, limit in LINEAR]


def convolution_table(rows):
    return [CONVOLUTION_HEAD, "|---|---:|---:|---:|---:|"] + [
        line([text, micros(rows[cold]), micros(rows[hot]) if hot else "", cudnn, executorch])
        for text, cold, hot, cudnn, executorch in CONVOLUTIONS]


def percent(rows, glob):
    """The share of the bandwidth of the rows whose ids match, or its range."""
    found = [float(row["pct_peak_bw"]) for case, row in rows.items() if fnmatch.fnmatchcase(case, glob)]
    if not found:
        raise SystemExit(f"no timed row of the published report matches '{glob}'")
    low, high = (f"{value:.0f}" for value in (min(found), max(found)))
    return low if low == high else f"{low} to {high}"


def share_table(rows):
    return [SHARE_HEAD, "|---|---:|---:|"] + [
        line([text] + [", ".join(percent(rows, glob) for glob in globs) for globs in kinds]) for text, *kinds in SHARES]


def step_table():
    """The first table of `assay summary --markdown`, the fastest first."""
    text = subprocess.run([ASSAY, "summary", PUBLISHED / "nvidia-h200", "--model", MODEL, "--markdown", "-"], check=True,
                          capture_output=True, text=True).stdout
    found = []
    for written in text.splitlines():
        cells = [cell.strip() for cell in written.strip("|").split("|")]
        if cells[0] == MODEL and len(cells) == 8:
            found.append([cells[4], cells[5], cells[6], cells[1], cells[2], cells[3]])
    table = [["ms a step", "at ceilings", "tokens/s", "tokens", "op", "setting"]] + sorted(found, key=lambda cells: float(cells[0]))
    widths = [max(len(cells[i]) for cells in table) for i in range(6)]
    rule = [("-" * (width - 1) + ":") if i < 4 else "-" * width for i, width in enumerate(widths)]
    return [line([cell.rjust(width) if i < 4 else cell.ljust(width) for i, (cell, width) in enumerate(zip(cells, widths))])
            for cells in [table[0], rule, *table[1:]]]


def with_table(document, table):
    """The document with another table in place of the one that has the same head."""
    head = table[0] if table[0] in document else next(text for text in document.splitlines() if text.startswith(STEP_HEAD))
    begin = document.index(head)
    return document[:begin] + "\n".join(table) + document[document.index("\n\n", begin):]


def main():
    written = DOCUMENT.read_text(encoding="utf-8")
    h200 = rows_of("nvidia-h200")
    document = written
    for table in (linear_table(h200), convolution_table(h200), share_table(rows_of("nvidia-h100")), step_table()):
        document = with_table(document, table)
    if "--check" not in sys.argv[1:]:
        DOCUMENT.write_text(document, encoding="utf-8")
    elif document != written:
        print("docs/performance.md is not what the published reports say: run scripts/docs/performance.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
