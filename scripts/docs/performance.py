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
import statistics
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

# PyTorch's figures of these two are from `scripts/peers/pytorch.py attention transformer`, on an H200 of the same kind:
# the document says when they were measured.
ROWS_HEAD = "| op | 16384 rows | PyTorch | share of the bandwidth | 2048 rows | PyTorch | one row | PyTorch |"
# Text, row of 16384 rows and PyTorch us, cold row of 2048 rows and PyTorch us, row of one row and PyTorch us.
ROWS = [
    ("`silu_mul`", "silu_mul/large/WP.WP.WP/elementwise", "93.0", "silu_mul/timed/WP.WP.WP/elementwise/cold", "12.8",
     "silu_mul/token/WP.WP.WP/elementwise", "1.2"),
    ("`rms_norm`", "rms_norm/large/WP.WP/rows", "72.2", "rms_norm/timed/WP.WP/rows/cold", "10.1", "rms_norm/token/WP.WP/rows", "1.7"),
    ("`layer_norm`", "layer_norm/large/WP.WP/rows", "88.3", "layer_norm/timed/WP.WP/rows/cold", "16.8",
     "layer_norm/token/WP.WP/rows", "2.1"),
    ("`softmax`", "softmax/large/WP.WP/rows", "152", "softmax/timed/WP.WP/rows/cold", "22.7", "softmax/token/WP.WP/rows", "2.8"),
    ("`rotary_embedding`, half split", "rotary_embedding/large/half_split/WP.WP/pairs", "79.6",
     "rotary_embedding/timed/half_split/WP.WP/pairs/cold", "13.0", "rotary_embedding/token/half_split/WP.WP/pairs", "1.2"),
    ("`rotary_embedding`, interleaved", "rotary_embedding/large/interleaved/WP.WP/pairs", "",
     "rotary_embedding/timed/interleaved/WP.WP/pairs/cold", "", "rotary_embedding/token/interleaved/WP.WP/pairs", ""),
]

ATTENTION_HEAD = "| attention, product | us | PyTorch | share of the ceiling |"
# Text, row, PyTorch us, the ceiling whose share is shown.
ATTENTION = [
    ("`sdpa`, 32 heads of 128, context 128", "sdpa/decode/32.128.127/WP.WP.WP.WP/auto/cold", "4.6", "bandwidth"),
    ("context 1024", "sdpa/decode/32.128.1023/WP.WP.WP.WP/auto/cold", "7.6", "bandwidth"),
    ("context 4096", "sdpa/decode/32.128.4095/WP.WP.WP.WP/auto/cold", "11.7", "bandwidth"),
    ("context 32768", "sdpa/decode/32.128.32767/WP.WP.WP.WP/auto/cold", "37.4", "bandwidth"),
    ("32 heads of 64, context 4096", "sdpa/decode/32.64.4095/WP.WP.WP.WP/auto/cold", "8.9", "bandwidth"),
    ("16 heads of 128, context 4096", "sdpa/decode/16.128.4095/WP.WP.WP.WP/auto/cold", "11.5", "bandwidth"),
    ("24 heads of 128, context 4096", "sdpa/decode/24.128.4095/WP.WP.WP.WP/auto/cold", "11.6", "bandwidth"),
    ("prompt of 128", "sdpa/prefill/128/WP.WP.WP.WP/auto", "7.4", "operations"),
    ("prompt of 512", "sdpa/prefill/512/WP.WP.WP.WP/auto", "13.0", "operations"),
    ("prompt of 2048", "sdpa/prefill/2048/WP.WP.WP.WP/auto", "82.8", "operations"),
    ("`mm` f16 4096 x 4096 x 4096", "mm/squares/4096.4096.4096/WP.WP.WP/auto", "207", "operations"),
    ("2048 x 2048 x 2048", "mm/squares/2048.2048.2048/WP.WP.WP/auto", "", "operations"),
    ("4096 x 1024 x 256", "mm/products/4096.1024.256/WP.WP.WP/auto", "6.1", "operations"),
]

BATCHES_HEAD = "| op, K = 4096, N = 14336; long rows: K = 14336, N = 4096 | one token, us | 2 | 4 | 8 | ratios to one |"
BATCHES = [("`q8ta_linear`", "q8ta_linear/decode_batches/{}/4W.4W/auto/cold"),
           ("`linear_q8ta_q8csw`", "linear_q8ta_q8csw/decode_batches/{}/WP.WP/auto/cold"),
           ("`linear_q8csw` f16", "linear_q8csw/decode_batches/{}/WP.WP/auto/cold"),
           ("`linear_q4gsw` f16, g 128", "linear_q4gsw/decode_batches/{}/WP.WP/auto/cold"),
           ("`linear_dq8ca_q4gsw`, g 128", "linear_dq8ca_q4gsw/decode_batches/{}/WP.WP/auto/cold"),
           ("`linear_qta8a_qga4w`, g 128", "linear_qta8a_qga4w/decode_batches/{}/4W.WP/auto/cold"),
           ("`linear_qta8a_qga4w_qta8o`, g 128", "linear_qta8a_qga4w_qta8o/decode_batches/{}/4W.4W/auto/cold")]

GOALS_HEAD = "| work | before, us | goal | reached | PyTorch |"
# Text, row, us before, goal in us, PyTorch us.
GOALS = [
    ("`q8ta_linear` 1024x4096x4096", "q8ta_linear/prefill_cold/1024.4096.4096/4W.4W/auto/cold", "66.0", "59", "62.6"),
    ("4096x4096x4096", "q8ta_linear/prefill_cold/4096.4096.4096/4W.4W/auto/cold", "256", "225", "207"),
    ("1024x2048x2048", "q8ta_linear/prefill_cold/1024.2048.2048/4W.4W/auto/cold", "20.0", "18", "20.1"),
    ("128x2048x2048", "q8ta_linear/prefill_cold/128.2048.2048/4W.4W/auto/cold", "8.7", "7.5", "9.0"),
    ("1x4096x14336", "q8ta_linear/llama_3_1_8b_decode/mlp.gate_up/4W.4W/auto/cold", "17.3", "16.2", ""),
    ("1x14336x4096", "q8ta_linear/llama_3_1_8b_decode/mlp.down/4W.4W/auto/cold", "16.2", "15.8", ""),
    ("`linear_q8ta_q8csw` 1024x2048x2048", "linear_q8ta_q8csw/prefill_cold/WP.WP/auto/cold", "25.8", "22.5", "25.0"),
    ("1024x4096x4096", "linear_q8ta_q8csw/prefill_cold_wide/WP.WP/auto/cold", "72.9", "66", "70.9"),
    ("`linear_dq8ca_q4gsw`, g 128, 128x2048x2048", "linear_dq8ca_q4gsw/prefill_cold/128.2048.2048/WP.WP/auto/cold", "14.3", "11", ""),
    ("1024x4096x4096", "linear_dq8ca_q4gsw/prefill_cold/1024.4096.4096/WP.WP/auto/cold", "112", "88", ""),
    ("1x2048x2048", "linear_dq8ca_q4gsw/llama_3_2_1b_decode/attn.q_o/128/WP.WP/auto/cold", "4.26", "4.0", "4.2"),
    ("1x4096x4096", "linear_dq8ca_q4gsw/llama_3_1_8b_decode/attn.q_o/128/WP.WP/auto/cold", "6.2", "5.6", "7.4"),
    ("1x4096x14336", "linear_dq8ca_q4gsw/llama_3_1_8b_decode/mlp.gate_up/128/WP.WP/auto/cold", "12.5", "10.8", "18.9"),
    ("1x14336x4096", "linear_dq8ca_q4gsw/llama_3_1_8b_decode/mlp.down/128/WP.WP/auto/cold", "14.3", "12", "19.5"),
    ("`linear_q4gsw` f16, g 128, 128x2048x2048", "linear_q4gsw/prefill_cold/128.2048.2048/WP.WP/auto/cold", "14.8", "11", ""),
    ("1024x4096x4096", "linear_q4gsw/prefill_cold/1024.4096.4096/WP.WP/auto/cold", "160", "135", ""),
    ("1x2048x2048", "linear_q4gsw/llama_3_2_1b_decode/attn.q_o/128/WP.WP/auto/cold", "4.2", "3.9", "4.2"),
    ("1x4096x4096", "linear_q4gsw/llama_3_1_8b_decode/attn.q_o/128/WP.WP/auto/cold", "", "5.8", "7.4"),
    ("1x4096x14336", "linear_q4gsw/llama_3_1_8b_decode/mlp.gate_up/128/WP.WP/auto/cold", "14.9", "11.5", "18.9"),
    ("1x14336x4096", "linear_q4gsw/llama_3_1_8b_decode/mlp.down/128/WP.WP/auto/cold", "14.8", "12", "19.5"),
    ("`q8ta_conv2d` [1,64,128,128] -> 64, 3x3", "q8ta_conv2d/times/square_layer/4C.4C/auto/cold", "7.8", "5.5", "12.7"),
    ("[1,128,256,256] -> 128, 5x5 s2 g4", "q8ta_conv2d/times/grouped_layer/4C.4C/auto/cold", "22.8", "16", "33.4"),
    ("[1,512,7,7] -> 512, 3x3", "q8ta_conv2d/times/deep_layer/4C.4C/auto/cold", "9.2", "7", "14.3"),
    ("`conv2d_q8csw` [1,64,128,128] -> 128, 3x3, f16", "conv2d_q8csw/times/f16/CP.CP/auto/cold", "29", "20", "17"),
    ("the same in f32", "conv2d_q8csw/times/f32/CP.CP/auto/cold", "84", "60", ""),
    ("`q8ta_conv2d_transposed` [1,128,16,16] -> 64, 4x4 s2", "q8ta_conv2d_transposed/times/128.16.16.64.4x4.2x2.1x1/4C.4C/auto/cold",
     "7.9", "5.5", ""),
    ("[1,128,32,32] -> 64, 3x3 s2", "q8ta_conv2d_transposed/times/128.32.32.64.3x3.2x2/4C.4C/auto/cold", "9.1", "6.5", ""),
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


def rows_table(rows):
    return [ROWS_HEAD, "|---|--:|--:|--:|--:|--:|--:|--:|"] + [
        line([text, micros(rows[large]), of_large, f"{float(rows[large]['pct_peak_bw']):.0f} %", micros(rows[cold]), of_cold,
              micros(rows[one]), of_one])
        for text, large, of_large, cold, of_cold, one, of_one in ROWS]


def attention_table(rows):
    return [ATTENTION_HEAD, "|---|--:|--:|---|"] + [
        line([text, micros(rows[case]), pytorch, share(rows[case], limit)]) for text, case, pytorch, limit in ATTENTION]


def batches_table(rows):
    """Times of 1, 2, 4 and 8 tokens, and the geometric means of their ratios to one."""
    table, ratios = [], {2: [], 4: [], 8: []}
    long_rows = [(text + ", long rows", case.replace("/decode_batches/", "/decode_batches_of_long_rows/"))
                 for text, case in BATCHES]
    for text, case in BATCHES + long_rows:
        times = {count: float(rows[case.format(count)]["time_us_p50"]) for count in (1, 2, 4, 8)}
        for count, of_op in ratios.items():
            of_op.append(times[count] / times[1])
        of_one = ", ".join(f"{times[count] / times[1]:.2f}" for count in ratios)
        table.append(line([text] + [micros(rows[case.format(count)]) for count in times] + [of_one]))
    means = ", ".join(f"{statistics.geometric_mean(of_op):.2f}" for of_op in ratios.values())
    return [BATCHES_HEAD, "|---|--:|--:|--:|--:|---|"] + table + [line(["geometric mean", "", "", "", "", means])]


def goals_table(rows):
    def now(case, goal):
        reached = float(rows[case]["time_us_p50"]) <= float(goal)
        return f"**{micros(rows[case])}**" if reached else micros(rows[case])
    return [GOALS_HEAD, "|---|--:|--:|--:|--:|"] + [
        line([text, before, goal, now(case, goal), pytorch]) for text, case, before, goal, pytorch in GOALS]


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
        if cells[0] == MODEL and len(cells) == 9:  # all linear layers, which have no context
            found.append([cells[5], cells[6], cells[7], cells[1], cells[3], cells[4]])
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
    makers = [linear_table, convolution_table, rows_table, attention_table, batches_table, goals_table]
    for make in makers:
        try:
            document = with_table(document, make(h200))
        except KeyError as missing:  # a row that is newer than the report: the document says where its table is from
            print(f"{make.__name__}: left as it is, as the published report has no row {missing}", file=sys.stderr)
    for table in (share_table(rows_of("nvidia-h100")), step_table()):
        document = with_table(document, table)
    if "--check" not in sys.argv[1:]:
        DOCUMENT.write_text(document, encoding="utf-8")
    elif document != written:
        print("docs/performance.md is not what the published reports say: run scripts/docs/performance.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
