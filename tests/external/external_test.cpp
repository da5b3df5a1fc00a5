#include "tests/external/external_ops.h"

#include <filesystem>
#include <string>
#include <vector>

// Ops that a manifest declares, as a user runs them: those of this folder, and copies with a fault.

namespace assay::test {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST_F(External, AllPassWithValidation) {
  const ProcessResult result = run_ops(here, {"--validation"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("PASS               59"));
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

/// The bounds of expected values that the output's dtype cannot hold are not infinite, which would accept
/// NaN.
TEST_F(External, OverflowIsInfinityAndNothingElse) {
  const auto outcome = [&](const std::string& computed) {
    const fs::path op = copy_with("axpy", "reference.py", "product + y.astype(np.float64)",
                                  "(product + y.astype(np.float64)) * 1e60");
    folder.write("axpy/axpy.comp", replaced(folder.read("axpy/axpy.comp"), "y[i] += a * x[i]", computed));
    const ProcessResult result = run_ops(op);
    fs::remove_all(op);
    return result;
  };
  const ProcessResult right = outcome("y[i] = (y[i] + a * x[i]) * 1e30 * 1e30");
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  const ProcessResult wrong = outcome("y[i] = vec4(uintBitsToFloat(0x7fc00000u))");
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out;
  EXPECT_THAT(wrong.out, HasSubstr("by the reference, got nan"));
}

TEST_F(External, ALongErrorOfAReferenceSaysWhereAndWhat) {
  const ProcessResult result =
      run_ops(copy_with("row_argmax", "reference.py", "    return {",
                        "    raise ValueError('first' + 9000 * 'A' + 'last')\n    return {"),
              {"--max-failures", "1"});
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("reference.py"), HasSubstr("ValueError: first"), HasSubstr("Alast")));
}

TEST_F(External, AReferenceCannotReachWhatTheWorkerTells) {
  const ProcessResult result =
      run_ops(copy_with("row_argmax", "reference.py", "    return {", R"(    import os
    for file in range(3, 64):
        try:
            os.write(file, b"junk\n" * 64)
        except OSError:
            pass
    return {)"));
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
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
/// Ceilings that are measured on a busy machine are too low, and would make times SUSPECT.
TEST_F(External, WhatIsUpdatedInPlaceIsTimedAloneAndBeginsAnew) {
  folder.write("cases.yaml",
               "op: axpy\ncases:\n  - {name: twice, mode: perf, cache: both, elements: 8388608}\n");
  const ProcessResult result = assay({"run", folder / "cases.yaml", "--ops", (here / "axpy").string(),
                                      "--budget", "0.05", "--ceilings", "none", "--out", folder / "out"});
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
                                      "--budget", "0.05", "--ceilings", "none", "--out", folder / "out"});
  const std::string perf = read_file(device_folder(folder / "out") / "perf.csv");
  EXPECT_EQ(column_of(perf, "status"), (std::vector<std::string>{"SKIPPED"})) << result.out;
  EXPECT_THAT(perf, HasSubstr("timed alone, once per submission; it takes"));
}

TEST_F(External, WhatIsUpdatedInPlaceIsNeverJudgedTrusted) {
  folder.write("mine/axpy.comp",
               replaced(read_file(here / "axpy/axpy.comp"), "if (i < vectors) y[i] += a * x[i];",
                        "if (vectors > i) y[i] = y[i] + a * x[i];"));
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
  const ProcessResult result = assay({"fuzz", "axpy", "--ops", (here / "axpy").string(), "--points", "20",
                                      "--seconds", "600", "--seed", "1", "--out", folder / "fuzz"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, HasSubstr("PASS"));
}

TEST_F(External, AnIncludeAloneMayBeReplaced) {
  fs::create_directories(folder / "mine/common");
  folder.write("mine/common/tree.glsl",
               replaced(read_file(here / "sum_all/common/tree.glsl"), "half_size > 0", "half_size > 1"));
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

TEST_F(External, WarningsOfPythonItselfAreNoAnswers) {
  folder.write("bin/python3", "#!/bin/sh\necho a warning >&2\nexec /usr/bin/python3 \"$@\"\n");
  fs::permissions(folder / "bin/python3", fs::perms::owner_all);
  const ProcessResult result = assay({"run", "--ops", (here / "row_argmax").string(), "--tier", "smoke",
                                      "--answer-cache", "none", "--out", folder / "out"},
                                     {{"ASSAY_PYTHON", (folder / "bin/python3").string()}});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

TEST_F(External, AReferenceThatFailsFailsItsRowsWithItsTraceback) {
  const ProcessResult result =
      run_ops(copy_with("row_argmax", "reference.py", "x.argmax(axis=1)", "x.argmax(axis=7)"));
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_THAT(result.out, HasSubstr("in row_argmax: return"));
}

/// It ended fuzzing, and all that was found was lost.
TEST_F(External, FuzzingFindsThatAReferenceFailsAndGoesOn) {
  const fs::path op = copy_with("row_argmax", "reference.py", "    return {",
                                "    assert shape[0] != 1, 'one row'\n    return {");
  const ProcessResult fuzzed =
      assay({"fuzz", "row_argmax", "--ops", op.string(), "--points", "24", "--keep-going", "--shrink-seconds",
             "2", "--seed", "1", "--out", folder / "fuzz"});
  EXPECT_EQ(fuzzed.exit_code, 1) << fuzzed.out << fuzzed.err;
  EXPECT_THAT(fuzzed.out, AllOf(HasSubstr("one row"), HasSubstr("shape: [1, "), HasSubstr("PASS"),
                                HasSubstr("of 1 kind")));
}

/// A kernel that is right was wrong.
TEST_F(External, APointWhoseReferenceFailsDoesNotCountAgainstASubmission) {
  const fs::path op = copy_with("row_argmax", "reference.py", "    return {",
                                "    assert shape in ((5, 7), (1, 1), (33, 1000))\n    return {");
  folder.write("mine/argmax.comp", replaced(read_file(here / "row_argmax/argmax.comp"),
                                            "for (int c = int(i); c < columns; c += 128)",
                                            "for (int c = int(i); columns > c; c += 128)"));
  const ProcessResult result = assay({"judge", folder / "mine", "--ops", op.string(), "--rows", "2", "--out",
                                      folder / "judge", "--filter", "row_argmax/small*"});
  EXPECT_THAT(result.out, AllOf(HasSubstr("incomplete: right: accuracy 2 of 2, secret 2 of 2, fuzz 0 of 2"),
                                HasSubstr("reference_failed")))
      << result.err;
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
  const ProcessResult fuzzed =
      assay({"fuzz", "row_argmax", "--ops", (here / "row_argmax").string(), "--points", "5", "--seconds",
             "600", "--seed", "1", "--out", folder / "fuzz"});
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

/// Python could not read the reference that was written, or its arrays were not NumPy's.
TEST_F(External, ANewOpHasNoNameThatPythonNeeds) {
  for (const std::string name : {"lambda", "pass", "np", "numpy"}) {
    const ProcessResult result = assay({"new-op", name, "--external", "--dir", folder.path().string()});
    EXPECT_EQ(result.exit_code, 2) << name;
    EXPECT_THAT(result.err, HasSubstr("naming an op '" + name + "': the word has a meaning in Python"));
  }
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
  const std::string text =
      replaced(read_file(here / "row_argmax/argmax.comp"), "best[i] = value;", "\n    best[i] = value;");
  folder.write("mine/argmax.comp", replaced(text, "for (int c = int(i); c < columns; c += 128)",
                                            "for (int c = int(i); columns > c; c += 128)"));
  const ProcessResult result =
      assay({"judge", folder / "mine", "--ops", (here / "row_argmax").string(), "--rows", "2", "--out",
             folder / "judge", "--filter", "row_argmax/small*"});
  EXPECT_THAT(result.out, HasSubstr("accuracy 2 of 2")) << result.err;
}

TEST_F(External, ASubmissionThatAsksForALengthIsNotTrusted) {
  folder.write("mine/argmax.comp",
               replaced(read_file(here / "row_argmax/argmax.comp"), "= place[0];\n}",
                        "= place[0];\n  if (y.values.length() == 0) y.values[0] = 0;\n}"));
  const ProcessResult result =
      assay({"judge", folder / "mine", "--ops", (here / "row_argmax").string(), "--rows", "2", "--out",
             folder / "judge", "--filter", "row_argmax/small*"});
  EXPECT_THAT(result.out, AllOf(HasSubstr("incomplete"), HasSubstr("guards"))) << result.err;
}

}  // namespace
}  // namespace assay::test
