#include "harness/tensor/npy/npy.h"
#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

// Ops that a manifest declares, as a user runs them: the five of this folder, and copies with a fault.

namespace assay::test {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;

const fs::path here = fs::absolute(fs::path(ASSAY_SOURCE_DIR) / "tests/external").lexically_normal();

/// The cells below a name in a report.
std::vector<std::string> column_of(const std::string& csv, const std::string& name) {
  std::vector<std::vector<std::string>> lines(1, std::vector<std::string>(1));
  bool quoted = false;
  for (const char c : csv) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) {
      lines.back().emplace_back();
    } else if (c == '\n' && !quoted) {
      lines.emplace_back(1);
    } else if (c != '"') {
      lines.back().back() += c;
    }
  }
  const auto at = static_cast<std::size_t>(std::ranges::find(lines[0], name) - lines[0].begin());
  EXPECT_LT(at, lines[0].size()) << name;
  std::vector<std::string> cells;
  for (std::size_t i = 1; i + 1 < lines.size() && at < lines[0].size(); ++i) cells.push_back(lines[i].at(at));
  return cells;
}

class External : public ::testing::Test {
 protected:
  ProcessResult run_ops(const fs::path& ops, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"run",   "--ops", ops.string(),   "--tier",
                                   "smoke", "--out", folder / "out", "--overwrite"};
    words.insert(words.end(), more.begin(), more.end());
    return assay(words);
  }

  /// A copy of an op's folder in which one text of a file is another.
  fs::path copy_with(const std::string& op, const std::string& file, const std::string& what,
                     const std::string& with) {
    fs::copy(here / op, folder / op, fs::copy_options::recursive);
    std::string text = folder.read(op + "/" + file);
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    folder.write(op + "/" + file, text.replace(at, what.size(), with));
    return folder / op;
  }

  TemporaryFolder folder;
};

TEST_F(External, AllPassWithValidation) {
  const ProcessResult result = run_ops(here, {"--validation"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("PASS               50"));
}

TEST_F(External, EveryChoiceOfTheExampleWorks) {
  const ProcessResult result = run_ops(here / "row_softmax", {"--set", "dtype=f16"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST_F(External, AnswersOfAReferenceThatWaitsForInputEnd) {
  const ProcessResult result = run_ops(
      copy_with("row_argmax", "reference.py", "return {", "input()\n    return {"), {"--max-failures", "1"});
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_THAT(result.out, HasSubstr("EOFError"));
}

TEST_F(External, AnOpsFolderMayHoldItsReports) {
  fs::copy(here / "row_argmax", folder / "op", fs::copy_options::recursive);
  folder.write("op/docker.yaml", "services: {a: 1}\n");
  const auto in_folder = [&](std::vector<std::string> words) {
    words.insert(words.begin(), ASSAY_BINARY);
    return run({.words = std::move(words), .directory = folder / "op"});
  };
  EXPECT_EQ(in_folder({"run", "--ops", ".", "--tier", "smoke"}).exit_code, 0);
  const ProcessResult resumed = in_folder({"run", "--ops", ".", "--resume", "assay-out"});
  EXPECT_EQ(resumed.err.find("have changed"), std::string::npos) << resumed.err;
  folder.write("op/sub/argmax.comp", read_file(here / "row_argmax/argmax.comp"));
  EXPECT_THAT(in_folder({"judge", "sub", "--ops", "."}).err, HasSubstr("keep what is judged apart"));
}

struct Fault {
  const char *op, *file, *what, *with;
};

class ExternalFault : public External, public ::testing::WithParamInterface<Fault> {};

TEST_P(ExternalFault, IsFound) {
  const auto& [op, file, what, with] = GetParam();
  const ProcessResult result = run_ops(copy_with(op, file, what, with), {"--max-failures", "1"});
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("by the reference, got"));
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, ExternalFault,
    ::testing::Values(Fault{"row_softmax", "softmax.comp", "c < columns; c += gl_WorkGroupSize.x) sum",
                            "c < columns - 1; c += gl_WorkGroupSize.x) sum"},
                      Fault{"row_norm", "norm.comp", "+ p.eps", ""},
                      Fault{"rope_pairs", "rope.comp", "a * s + b * c", "a * s - b * c"},
                      Fault{"row_argmax", "argmax.comp", "at < place[i]", "at > place[i]"},
                      Fault{"sum_all", "common/tree.glsl", "half_size > 0", "half_size > 1"},
                      Fault{"axpy", "axpy.comp", "y[i] += a * x[i]", "y[i] = a * x[i]"}),
    [](const auto& with) { return std::string(with.param.op); });

TEST_F(External, AWriteBehindTheEndIsFound) {
  const ProcessResult result =
      run_ops(copy_with("rope_pairs", "rope.comp", "if (pair >= sizes.pairs) return;", ""));
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("was written past its end"));
}

/// Each program finds the data that the tensor begins with: without that only the first of many were right.
TEST_F(External, WhatIsUpdatedInPlaceIsTimedAloneAndBeginsAnew) {
  folder.write("cases.yaml",
               "op: axpy\ncases:\n  - {name: twice, mode: perf, cache: both, elements: 1048576}\n");
  const ProcessResult result = assay({"run", folder / "cases.yaml", "--ops", (here / "axpy").string(),
                                      "--budget", "0.05", "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  const std::string perf = read_file(device_folder(folder / "out") / "perf.csv");
  EXPECT_EQ(column_of(perf, "status"), (std::vector<std::string>{"PASS", "PASS"}));
  EXPECT_EQ(column_of(perf, "cache"), (std::vector<std::string>{"hot", "cold"}));
  EXPECT_EQ(column_of(perf, "batch"), (std::vector<std::string>{"1", "1"}));
  EXPECT_EQ(column_of(perf, "throughput_us"), (std::vector<std::string>{"", ""}));
}

TEST_F(External, AProgramTooShortToBeTimedAloneSaysSo) {
  folder.write("cases.yaml", "op: axpy\ncases:\n  - {name: tiny, mode: both, elements: 4}\n");
  const ProcessResult result = assay({"run", folder / "cases.yaml", "--ops", (here / "axpy").string(),
                                      "--budget", "0.05", "--out", folder / "out"});
  const std::string perf = read_file(device_folder(folder / "out") / "perf.csv");
  EXPECT_EQ(column_of(perf, "status"), (std::vector<std::string>{"SKIPPED"})) << result.out;
  EXPECT_THAT(perf, HasSubstr("timed alone, once per submission; it takes"));
}

TEST_F(External, WhatIsUpdatedInPlaceIsNeverJudgedTrusted) {
  std::string text = read_file(here / "axpy/axpy.comp");
  text.replace(text.find("if (i < vectors) y[i] += a * x[i];"), 34,
               "if (vectors > i) y[i] = y[i] + a * x[i];");
  folder.write("mine/axpy.comp", text);
  const ProcessResult result = assay({"judge", folder / "mine", "--ops", (here / "axpy").string(), "--rows",
                                      "2", "--out", folder / "judge", "--filter", "axpy/small*"});
  EXPECT_THAT(result.out, AllOf(HasSubstr("incomplete"), HasSubstr("inout"))) << result.err;
}

TEST_F(External, RowsSayWhichGuardsTheirKernelsReach) {
  EXPECT_EQ(run_ops(here / "axpy", {"--max-failures", "1"}).exit_code, 0);
  EXPECT_EQ(column_of(read_file(device_folder(folder / "out") / "accu.csv"), "guards").front(),
            "x=after y=after");
}

TEST_F(External, FaultsAreTriedInItsKernelsAlone) {
  const ProcessResult result = assay({"mutate", "--ops", (here / "sum_all").string(), "--limit", "6", "--out",
                                      folder / "faults", "--least", "0"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  const std::string matrix = read_file(folder / "faults/kill_matrix.csv");
  EXPECT_THAT(matrix, AllOf(HasSubstr("sum.comp"), HasSubstr("common/tree.glsl"), HasSubstr("killed")));
  EXPECT_EQ(matrix.find("linear"), std::string::npos);
}

TEST_F(External, PointsAreDrawnOfWhatIsUpdatedInPlace) {
  const ProcessResult result = assay({"fuzz", "axpy", "--ops", (here / "axpy").string(), "--seconds", "10",
                                      "--seed", "1", "--out", folder / "fuzz"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("PASS"));
}

TEST_F(External, AnIncludeAloneMayBeReplaced) {
  std::string text = read_file(here / "sum_all/common/tree.glsl");
  const std::string what = "half_size > 0";
  fs::create_directories(folder / "mine/common");
  folder.write("mine/common/tree.glsl", text.replace(text.find(what), what.size(), "half_size > 1"));
  const ProcessResult result =
      run_ops(here / "sum_all", {"--shaders", folder / "mine", "--max-failures", "1"});
  EXPECT_EQ(result.exit_code, 1) << result.out << result.err;
  EXPECT_THAT(result.err + result.out, HasSubstr("common/tree.glsl"));
}

TEST_F(External, FaultsAreNotTriedWhereTheirFilesAreTakenForKernels) {
  const ProcessResult result =
      run({.words = {ASSAY_BINARY, "mutate", "--ops", "."}, .directory = here / "sum_all"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("is inside the op's folder"));
}

/// As some projects write them: types and accesses are macros, a size is a constant or, where that is 0, a
/// push constant of the same name, the result replaces the input, and the workgroup's size is added by the
/// host.
TEST_F(External, AKernelOfMacrosWithoutALocalSizeIsCalledAsItIs) {
  folder.write("op/clamp.comp",
               "#version 450\n"
               "layout(constant_id = 0) const float low = 0;\n"
               "layout(constant_id = 1) const uint n = 0;\n"
               "layout(binding = 0) buffer blob { STORED4 data[]; };\n"
               "layout(push_constant) uniform parameter { uint n; } p;\n"
               "void main() {\n"
               "  uint i = gl_GlobalInvocationID.x;\n"
               "  if (i >= SIZE(n)) return;\n"
               "  STORE(data, i, max(LOAD(data, i), COMPUTED4(low)));\n"
               "}\n");
  folder.write("op/reference.py", "def clamp_low(v, *, low):\n    return {'v': v.clip(min=low)}\n");
  folder.write(
      "op/op.yaml",
      "op: clamp_low\n"
      "params: {n: {type: integer, min: 1}, low: {type: number, default: 0.25}, fixed: {type: boolean}}\n"
      "tensors:\n"
      "  v: {dtype: f32, shape: [4 * n], role: inout, class: exact}\n"
      "reference: {python: reference.py}\n"
      "impls:\n"
      "  packed:\n"
      "    dispatches:\n"
      "      - shader: clamp.comp\n"
      "        workgroups: [\"ceil_div(n, 64)\"]\n"
      "        local_size: [64]\n"
      "        defines: {STORED4: {text: vec4}, COMPUTED4: {text: vec4}, \"SIZE(x)\": {text: "
      "\"(x==0?p.x:x)\"}, "
      "\"LOAD(b,i)\": {text: \"b[i]\"}, \"STORE(b,i,v)\": {text: \"b[i]=(v)\"}}\n"
      "        constants: {low: low, n: fixed * n}\n"
      "        push: {n: \"n * (1 - fixed)\"}\n"
      "        bind: {blob: v}\n"
      "cases:\n"
      "  - {name: small, tier: smoke, n: {each: [1, 64, 700]}, fixed: {each: [true, false]}}\n");
  const ProcessResult result = run_ops(folder / "op", {"--validation"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("PASS                6"));
}

/// An op.yaml in a folder of its own, with a kernel k.comp.
class OtherReference : public External {
 protected:
  void write_floats(const std::string& file, const std::vector<float>& values) {
    HostTensor tensor(DType::F32, {static_cast<std::int64_t>(values.size())});
    std::ranges::copy(values, tensor.as<float>().begin());
    write_npy(folder / file, tensor);
  }
  ProcessResult run_with(const std::string& manifest, std::vector<std::string> more = {}) {
    folder.write("op/op.yaml", manifest);
    return run_ops(folder / "op", std::move(more));
  }
};

TEST_F(OtherReference, MayBeAnOpOfAssay) {
  folder.write("op/k.comp",
               "#version 450\n"
               "layout(local_size_x = 1) in;\n"
               "layout(binding = 0) readonly buffer X { float x[]; };\n"
               "layout(binding = 1) writeonly buffer Y { float y[]; };\n"
               "void main() {\n"
               "  uvec2 at = gl_WorkGroupID.xy;\n"
               "  y[at.y * gl_NumWorkGroups.x + at.x] = x[at.x * gl_NumWorkGroups.y + at.y];\n"
               "}\n");
  const std::string manifest =
      "op: transpose\n"
      "params: {rows: {type: integer, min: 1}, columns: {type: integer, min: 1}}\n"
      "tensors:\n"
      "  a: {dtype: f32, shape: [rows, columns]}\n"
      "  b: {dtype: f32, shape: [columns, rows], role: output}\n"
      "reference: {op: permute, with: {shape: [rows, columns], dims: [1, 0]}, tensors: {x: a, y: b}}\n"
      "impls:\n"
      "  plain: {dispatches: [{shader: k.comp, workgroups: [rows, columns], bind: {x: a, y: b}}]}\n"
      "cases:\n"
      "  - {name: small, tier: smoke, rows: {each: [1, 3]}, columns: {each: [2, 65]}}\n";
  const ProcessResult right = run_with(manifest);
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  EXPECT_THAT(right.out, HasSubstr("PASS                4"));
  const auto error_with = [&](const std::string& what, const std::string& instead) {
    std::string text = manifest;
    return run_with(text.replace(text.find(what), what.size(), instead)).err;
  };
  EXPECT_THAT(error_with("op: permute", "op: premute"),
              HasSubstr("op.yaml:6:17: error: unknown op of assay 'premute'; did you mean 'permute'?"));
  EXPECT_THAT(error_with("dims: [1, 0]", "dim: [1, 0]"), HasSubstr("unknown parameter of permute 'dim'"));
  EXPECT_THAT(error_with("dims: [1, 0]", "dims: [1, 1]"), HasSubstr("as a parameter of permute"));
  EXPECT_THAT(error_with("dims: [1, 0]", "dims: [0, 1]"),
              HasSubstr("'b' is f32 2x1, and 'y' of permute is f32 1x2"));
  EXPECT_THAT(error_with("{x: a, y: b}}\n", "{x: c, y: b}}\n"), HasSubstr("unknown tensor 'c'"));
  EXPECT_THAT(error_with("tensors: {x: a, y: b}", "tensors: {x: a}"),
              HasSubstr("permute has no output that is 'b'"));
  EXPECT_THAT(error_with("{x: a, y: b}}\n", "{x: a, y: b, z: a}}\n"),
              HasSubstr("unknown tensor of permute 'z'"));
  EXPECT_THAT(error_with("role: output}", "role: output, tolerance: {rel: 0.001, reason: test}}"),
              HasSubstr("'b' is exact, by the op that answers, and its tolerance would change nothing"));
  EXPECT_THAT(error_with("role: output}", "role: output, class: exact}"),
              HasSubstr("has the class of the op that answers"));
}

/// Its reference tells for each element how far an error of one unit of an accumulator goes.
TEST_F(OtherReference, OfProductsTakesTheUnitErrorOfTheKernels) {
  folder.write("op/k.comp",
               "#version 450\n"
               "#extension GL_EXT_shader_8bit_storage : require\n"
               "#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require\n"
               "layout(local_size_x = 1) in;\n"
               "layout(binding = 0) readonly buffer X { float x[]; };\n"
               "layout(binding = 1) readonly buffer W { int8_t w[]; };\n"
               "layout(binding = 2) readonly buffer S { float scale[]; };\n"
               "layout(binding = 3) writeonly buffer Y { float y[]; };\n"
               "layout(push_constant) uniform Push { uint K; };\n"
               "void main() {\n"
               "  uvec2 at = gl_WorkGroupID.xy;\n"
               "  float sum = 0;\n"
               "  for (uint k = 0; k < K; ++k) sum += x[at.y * K + k] * float(w[at.x * K + k]);\n"
               "  y[at.y * gl_NumWorkGroups.x + at.x] = sum * scale[at.x];\n"
               "}\n");
  const std::string manifest =
      "op: my_linear\n"
      "params: {M: {type: integer, min: 1}, N: {type: integer, min: 1}, K: {type: integer, min: 4}}\n"
      "tensors:\n"
      "  x: {dtype: f32, shape: [M, K]}\n"
      "  w: {dtype: i8, shape: [N, K]}\n"
      "  s: {dtype: f32, shape: [N]}\n"
      "  y: {dtype: f32, shape: [M, N], role: output, tolerance: {unit: 4.0e-6, reason: sums of 64}}\n"
      "reference: {op: linear_q8csw, tensors: {w_scale: s}}\n"
      "impls:\n"
      "  plain: {dispatches: [{shader: k.comp, workgroups: [N, M], push: {K: K}, bind: {x: x, w: w, scale: "
      "s, "
      "y: y}}]}\n"
      "cases:\n"
      "  - {name: small, tier: smoke, M: 3, N: 5, K: 64}\n";
  const ProcessResult right = run_with(manifest);
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  std::string without = manifest;
  const std::string unit = ", tolerance: {unit: 4.0e-6, reason: sums of 64}";
  without.erase(without.find(unit), unit.size());
  EXPECT_THAT(run_with(without).out, HasSubstr("give the unit error of your kernels"));
}

TEST_F(OtherReference, MayBeTheCasesThemselves) {
  folder.write("op/k.comp",
               "#version 450\n"
               "layout(local_size_x = 1) in;\n"
               "layout(binding = 0) readonly buffer X { float x[]; };\n"
               "layout(binding = 1) writeonly buffer Y { float y[]; };\n"
               "void main() { y[gl_WorkGroupID.x] = 3.0 * x[gl_WorkGroupID.x]; }\n");
  write_floats("op/x.npy", {1, 2, 5, 7});
  write_floats("op/y.npy", {3, 6, 15, 21});
  write_floats("op/wrong.npy", {3, 6, 15, 22});
  const std::string manifest =
      "op: thrice\n"
      "params: {n: {type: integer, min: 1}}\n"
      "tensors:\n"
      "  x: {dtype: f32, shape: [n]}\n"
      "  y: {dtype: f32, shape: [n], role: output, class: bounded, tolerance: {abs: 1.0e-6, reason: test}}\n"
      "reference: cases\n"
      "impls:\n"
      "  plain: {dispatches: [{shader: k.comp, workgroups: [n], bind: {x: x, y: y}}]}\n"
      "cases:\n"
      "  - {name: a, tier: smoke, n: 4, fill: {x: {npy: x.npy}}, expected: {y: {npy: y.npy}}}\n";
  const ProcessResult right = run_with(manifest);
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  const auto with = [&](const std::string& what, const std::string& instead) {
    std::string text = manifest;
    return run_with(text.replace(text.find(what), what.size(), instead));
  };
  const ProcessResult wrong = with("y.npy}}}", "wrong.npy}}}");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.out, HasSubstr("y[3]: expected 22"));
  EXPECT_THAT(wrong.out, HasSubstr("wrong.npy")) << "the file is what was missed";
  const ProcessResult tolerated =
      with("y.npy}}}", "wrong.npy}}, tolerance: {abs: 1.5, reason: another library}}");
  EXPECT_EQ(tolerated.exit_code, 0) << tolerated.out;
  const ProcessResult without = with(", expected: {y: {npy: y.npy}}", "");
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.err, HasSubstr("thrice has no reference, so that each case brings its answers"));
}

TEST_F(External, IdsAndDataDoNotDependOnTheFolder) {
  fs::copy(here / "row_argmax", folder / "elsewhere", fs::copy_options::recursive);
  const auto accu_of = [&](const fs::path& ops) {
    EXPECT_EQ(run_ops(ops).exit_code, 0);
    return read_file(device_folder(folder / "out") / "accu.csv");
  };
  const auto without_places = [](std::string text, const std::string& place) {
    for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place))
      text.erase(at, place.size());
    return text;
  };
  const std::string first = without_places(accu_of(here / "row_argmax"), (here / "row_argmax").string());
  const std::string second = without_places(accu_of(folder / "elsewhere"), (folder / "elsewhere").string());
  const auto ids_and_hashes = [](const std::string& csv) { return csv.substr(0, csv.find("ms")); };
  EXPECT_EQ(ids_and_hashes(first), ids_and_hashes(second));
}

TEST_F(External, AManifestThatNobodyTrustsIsRefused) {
  const ProcessResult result = assay({"run", (here / "row_argmax").string(), "--out", folder / "out"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("op.yaml:1:1: error: the file declares the op 'row_argmax'"),
                                HasSubstr("give its folder with --ops")));
}

TEST_F(External, WithoutNumPyItsRowsAreSkipped) {
  folder.write("bin/python3", "#!/bin/sh\nexit 1\n");
  fs::permissions(folder / "bin/python3", fs::perms::owner_all);
  const ProcessResult result =
      assay({"run", "--ops", (here / "row_argmax").string(), "--tier", "smoke", "--out", folder / "out"},
            {{"ASSAY_PYTHON", (folder / "bin/python3").string()}});
  EXPECT_EQ(result.exit_code, 2) << result.out;
  EXPECT_THAT(result.out, AllOf(HasSubstr("SKIPPED"), HasSubstr("python3-numpy")));
}

TEST_F(External, AReferenceThatFailsFailsItsRowsWithItsTraceback) {
  const ProcessResult result =
      run_ops(copy_with("row_argmax", "reference.py", "x.argmax(axis=1)", "x.argmax(axis=7)"));
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_THAT(result.out, HasSubstr("in row_argmax: return"));
}

TEST_F(External, ShadersOfAFolderReplaceItsKernels) {
  folder.write("mine/argmax.comp", read_file(here / "row_argmax/argmax.comp") + "\n// mine\n");
  const ProcessResult result = run_ops(here / "row_argmax", {"--shaders", folder / "mine"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.err + result.out, HasSubstr("argmax.comp"));
}

TEST_F(External, AKernelInPlaceOfCasesIsTheWayToAManifest) {
  const ProcessResult result = assay({"run", (here / "row_argmax/argmax.comp").string()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("this is a kernel, and not a case file"),
                                HasSubstr("assay new-op NAME --external")));
}

TEST_F(External, AChainMayHaveThem) {
  folder.write("chain.yaml",
               "chain: two_norms\n"
               "params: {shape: [4, 96]}\n"
               "tensors:\n"
               "  x: {dtype: f32, shape: $shape}\n"
               "  weight: {dtype: f32, shape: [96]}\n"
               "nodes:\n"
               "  - {name: first, op: row_norm, with: {shape: $shape}, inputs: {x: x, weight: weight}, "
               "outputs: {y: a}}\n"
               "  - {name: soft, op: row_softmax, with: {shape: $shape}, inputs: {x: a}, outputs: {y: b}}\n"
               "cases:\n"
               "  - {name: small, impl: optimal}\n");
  const ProcessResult result =
      assay({"run", folder / "chain.yaml", "--ops", here.string(), "--out", folder / "out", "--overwrite"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("PASS                1"));
}

TEST_F(External, OtherCommandsTakeThem) {
  const std::string ops = (here / "row_softmax").string();
  EXPECT_THAT(assay({"list", "--ops", ops}).out, HasSubstr("row_softmax/small/33x1000/rows"));
  EXPECT_THAT(assay({"ops", "row_softmax", "--ops", ops}).out, HasSubstr("softmax over the last dim"));
  EXPECT_THAT(assay({"ops", "--ops", ops}).out, HasSubstr("row_softmax"));
  EXPECT_THAT(assay({"schema", "--ops", ops}).out, HasSubstr("row_softmax"));
  const ProcessResult fuzzed = assay({"fuzz", "row_argmax", "--ops", (here / "row_argmax").string(),
                                      "--seconds", "2", "--seed", "1", "--out", folder / "fuzz"});
  EXPECT_EQ(fuzzed.exit_code, 0) << fuzzed.out << fuzzed.err;
}

TEST_F(External, ANewOpPassesAsItIsWritten) {
  const std::vector<std::string> words{"new-op", "scaled", "--external", "--dir", folder.path().string()};
  const ProcessResult written = assay(words);
  EXPECT_EQ(written.exit_code, 0) << written.err;
  EXPECT_THAT(written.out, HasSubstr("scaled/op.yaml"));
  const ProcessResult result = run_ops(folder / "scaled");
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("PASS                6"));
  const ProcessResult again = assay(words);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("already exists and is not changed"));
}

TEST_F(External, TheExampleOfTheDocumentIsTheOpOfThisFolder) {
  const std::string document = read_file(fs::path(ASSAY_SOURCE_DIR) / "docs/own-ops.md");
  const std::string op = read_file(here / "row_softmax/op.yaml");
  const std::size_t begin = document.find("```yaml\n") + 8;
  const std::string example = document.substr(begin, document.find("```", begin) - begin);
  std::string without_comments;
  for (std::size_t at = op.find('\n') + 1; at < op.size();) {
    const std::size_t end = op.find('\n', at);
    const std::string line = op.substr(at, end - at);
    const std::string code = line.substr(0, line.find("  #"));
    without_comments += code.substr(0, code.find_last_not_of(' ') + 1) + "\n";
    at = end + 1;
  }
  EXPECT_EQ(example, without_comments);
  EXPECT_THAT(document,
              HasSubstr(read_file(here / "row_softmax/reference.py")
                            .substr(read_file(here / "row_softmax/reference.py").find("import"), 18)));
}

TEST_F(External, ASubmissionIsJudged) {
  std::string text = read_file(here / "row_argmax/argmax.comp");
  text.replace(text.find("best[i] = value;"), 0, "\n    ");
  text.replace(text.find("for (int c = int(i); c < columns; c += 128)"), 43,
               "for (int c = int(i); columns > c; c += 128)");
  folder.write("mine/argmax.comp", text);
  const ProcessResult result =
      assay({"judge", folder / "mine", "--ops", (here / "row_argmax").string(), "--rows", "2", "--out",
             folder / "judge", "--filter", "row_argmax/small*"});
  EXPECT_THAT(result.out, HasSubstr("accuracy 2 of 2")) << result.err;
}

TEST_F(External, ASubmissionThatAsksForALengthIsNotTrusted) {
  std::string text = read_file(here / "row_argmax/argmax.comp");
  text.replace(text.rfind('}'), 1, "  if (y.values.length() == 0) y.values[0] = 0;\n}");
  folder.write("mine/argmax.comp", text);
  const ProcessResult result =
      assay({"judge", folder / "mine", "--ops", (here / "row_argmax").string(), "--rows", "2", "--out",
             folder / "judge", "--filter", "row_argmax/small*"});
  EXPECT_THAT(result.out, AllOf(HasSubstr("incomplete"), HasSubstr("guards"))) << result.err;
}

}  // namespace
}  // namespace assay::test
