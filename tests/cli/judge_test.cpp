#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"
#include "tests/support/tree_shader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

// `assay judge`. Submissions that cheat are in tests/cheats.

namespace assay::test {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

namespace fs = std::filesystem;

constexpr const char* relu_cases = R"(op: q8ta_relu
defaults: {x: {scale: 0.05, zero_point: -20}, y: {scale: 0.011, zero_point: -100}, fill: uniform}
cases:
  - {name: shown, shape: {each: [[3, 343], [2, 5, 6, 7]]}}
  - {name: timed, mode: perf, shape: [8, 1024]}
)";

constexpr const char* add_cases = R"(op: q8ta_add
defaults: {a: {scale: 0.02, zero_point: 3}, b: {scale: 0.03, zero_point: -7}, y: {scale: 0.05, zero_point: 2}}
cases:
  - {name: shown, shape: [8, 128], fill: uniform, mode: both}
)";

constexpr const char* endless_cases = R"(op: q8ta_relu
defaults: {x: {scale: 0.05, zero_point: -20}, y: {scale: 0.011, zero_point: -100}, fill: uniform}
cases:
  - {name: shown, mode: both, shape: [8, 1024], timeout: 0.5}
)";

constexpr const char* shuffle_pair_cases = R"(op: q8ta_pixel_shuffle
cases:
  - name: both
    mode: both
    upscale_factor: 2
    shape: [1, 16, 8, 8]
    qparams: {x: {scale: 0.007112, zero_point: -3}, y: {scale: 0.013, zero_point: 5}}
    impl: all
)";

std::string relu() {
  return tree_shader("q8ta_relu.comp");
}

std::string changed_in(std::string text, const std::string& before, const std::string& after) {
  text.replace(text.rfind(before), before.size(), after);
  return text;
}

/// Another instruction, and the same answer.
std::string honest() {
  return changed_in(relu(), "rectified(words[k]);", "rectified(words[k] | 0u);");
}

/// The answer stays: the loop's end is the host's to choose, so that no compiler can leave it out. It is
/// shorter for large points, some of which have millions of elements, so that none of them comes near the
/// limit for hangs.
std::string slow(const std::string& text) {
  return changed_in(text, "void main() {",
                    "void main() {\n  uint spent = 0u;\n  for (uint i = 0u; i < 320000u / (15u + "
                    "gl_NumWorkGroups.x); ++i) spent = "
                    "(spent * 5u) ^ (i + gl_NumWorkGroups.x);\n  if (spent == 12345u) return;\n");
}

class JudgeTest : public testing::Test {
 protected:
  ProcessResult judge(std::vector<std::string> more = {}, const std::string& cases = relu_cases) const {
    std::vector<std::string> words{"judge",      folder / "mine",
                                   "--cases",    folder.write("c.yaml", cases),
                                   "--out",      folder / "out",
                                   "--budget",   "0.05",
                                   "--rows",     rows,
                                   "--ceilings", "none"};
    words.insert(words.end(), more.begin(), more.end());
    return assay(words);
  }

  json judged(std::vector<std::string> more = {}, const std::string& cases = relu_cases,
              int exit_code = 1) const {
    more.insert(more.end(), {"--json", "-"});
    const ProcessResult result = judge(more, cases);
    EXPECT_EQ(result.exit_code, exit_code) << result.out << result.err;
    json made = json::parse(result.out, nullptr, false);
    EXPECT_TRUE(made.is_object()) << "stdout is JSON alone: " << result.out << result.err;
    return made.is_object() ? made : json::object({{"reasons", json::array()}, {"rows", json::array()}});
  }

  static std::vector<std::string> words_of(const json& made) {
    std::vector<std::string> words;
    for (const json& reason : made.at("reasons")) words.push_back(reason.at("word"));
    return words;
  }

  std::string refusal(std::vector<std::string> more = {}) const {
    const ProcessResult result = judge(std::move(more));
    EXPECT_EQ(result.exit_code, 2) << result.out << result.err;
    return result.err;
  }

  TemporaryFolder folder;
  std::string rows = "1";  ///< of each stage; more where a test counts them
};

std::vector<std::string> keys_of(const json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST_F(JudgeTest, AnHonestSubmissionIsTrusted) {
  rows = "3";
  folder.write("mine/q8ta_relu.comp", honest());
  // Given seeds: by others a fuzz point may be one whose answer is constant, which proves nothing and is not
  // counted as right.
  const ProcessResult result =
      judge({"--secret-seed", "77", "--draw-seed", "78", "--json", folder / "made/verdict.json"});
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
  EXPECT_THAT(
      result.out,
      HasSubstr("trusted: right: accuracy 2 of 2, secret 2 of 2, fuzz 3 of 3, performance 1 of 1, drawn "
                "1 of 1; time over the baseline's at drawn points "));
  const json made = json::parse(folder.read("made/verdict.json"));
  EXPECT_EQ(made.at("verdict"), "trusted");
  EXPECT_EQ(made.at("correct"), true);
  EXPECT_EQ(made.at("rows").size(), 9U);
  for (const char* ratio : {"ratio", "public_ratio"}) {
    EXPECT_GT(made.at(ratio).at("low"), 0);
    EXPECT_EQ(made.at(ratio).at("rows"), 1);
    const double low = made.at(ratio).at("low"), high = made.at(ratio).at("high");
    if (made.at(ratio).at("geometric_mean").is_null()) {
      EXPECT_GT(high / low, 1.09);
    } else {
      EXPECT_LT(high / low, 1.12);
    }
  }
}

TEST_F(JudgeTest, TheRatioIsOfPointsThatNoCaseHas) {
  rows = "3";
  folder.write("mine/q8ta_relu.comp", honest());
  const json made = judged({}, relu_cases, 0);
  std::string at_public, at_drawn;
  for (const json& row : made.at("rows")) {
    if (row.at("stage") == "performance") at_public = row.at("shape");
    if (row.at("stage") == "drawn") at_drawn = row.at("shape");
  }
  EXPECT_EQ(at_public, "8x1024");
  EXPECT_FALSE(at_drawn.empty());
  EXPECT_NE(at_drawn, at_public);
}

TEST_F(JudgeTest, OpsWhoseSpirvIsTheSameAreNotJudged) {
  folder.write("mine/q8ta_relu.comp", honest());
  folder.write("mine/q8ta_add.comp", "// mine\n" + tree_shader("q8ta_add.comp"));
  const std::string more = folder.write("more.yaml", add_cases);
  const json made = judged({"--cases", more}, relu_cases, 0);
  EXPECT_EQ(made.at("selection").at("ops"), json::array({"q8ta_relu"}));
  for (const json& row : made.at("rows")) EXPECT_EQ(row.at("op"), "q8ta_relu");
}

/// A wrong op is not lost among others, although there are fewer rows than ops.
TEST_F(JudgeTest, EachOpWhoseSpirvChangedIsRun) {
  folder.write("mine/q8ta_relu.comp", honest());
  folder.write("mine/q8ta_add.comp",
               changed_in(tree_shader("q8ta_add.comp"), "sums_of(a_words[k], b_words[k])",
                          "sums_of(a_words[k], b_words[k]) ^ 1u"));
  const json made = judged({"--cases", folder.write("more.yaml", add_cases)});
  EXPECT_EQ(made.at("verdict"), "wrong");
  std::set<std::string> checked;
  for (const json& row : made.at("rows")) {
    if (row.at("stage") == "accuracy") checked.insert(row.at("op"));
  }
  EXPECT_THAT(checked, ElementsAre("q8ta_add", "q8ta_relu"));
}

/// It looks like a comment, so the op that it makes wrong was not judged, and the verdict was trusted.
TEST_F(JudgeTest, CodeBehindACarriageReturnIsJudged) {
  folder.write("mine/q8ta_relu.comp", honest());
  folder.write("mine/q8ta_add.comp",
               changed_in(tree_shader("q8ta_add.comp"), "void main() {",
                          "void main() {  // adds\r#define sums_of(a, b) (sums_of(a, b) ^ 1u)"));
  const json made = judged({"--cases", folder.write("more.yaml", add_cases)});
  EXPECT_EQ(made.at("verdict"), "wrong");
  EXPECT_EQ(made.at("selection").at("ops"), json::array({"q8ta_add", "q8ta_relu"}));
}

TEST_F(JudgeTest, AnOpWithoutATimedRowIsNamedAndIncomplete) {
  folder.write("mine/q8ta_relu.comp", honest());
  folder.write("mine/q8ta_add.comp",
               changed_in(tree_shader("q8ta_add.comp"), "sums_of(a_words[k], b_words[k])",
                          "sums_of(a_words[k], b_words[k]) | 0u"));
  const std::string untimed = changed_in(add_cases, ", mode: both", "");
  const json made = judged({"--cases", folder.write("more.yaml", untimed)});
  EXPECT_EQ(made.at("verdict"), "incomplete");
  EXPECT_THAT(made.at("reasons").at(0).at("text").get<std::string>(),
              HasSubstr("no row of op 'q8ta_add' has a result in stage 'performance'"));
}

// The limits of time and memory are for one worker, which must not run ahead.
TEST_F(JudgeTest, ItsWorkersAreGivenTheirNumberAndNoThreadsThatPrepare) {
  folder.write("mine/q8ta_relu.comp", honest());
  judged({}, relu_cases, 0);
  int journals = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path() / "out")) {
    if (entry.path().filename() != "journal.jsonl" || entry.is_symlink()) continue;
    EXPECT_THAT(read_file(entry.path()), HasSubstr(R"("--workers","1","--prepare","0")")) << entry.path();
    ++journals;
  }
  EXPECT_GE(journals, 3) << "one of each stage";
}

/// Programs read these fields: removing one, or changing its meaning, needs a new schema.
TEST_F(JudgeTest, TheJsonHasTheseFields) {
  folder.write("mine/q8ta_relu.comp", honest());
  const json made = judged({"--secret-seed", "77", "--draw-seed", "78"}, relu_cases, 0);
  EXPECT_EQ(made.at("schema"), 2);
  EXPECT_THAT(keys_of(made), testing::UnorderedElementsAre(
                                 "schema", "verdict", "correct", "trusted", "complete", "ratio",
                                 "public_ratio", "reasons", "rows", "submission", "baseline", "selection",
                                 "seeds", "device", "versions", "ceilings", "limits", "folder", "seconds"));
  EXPECT_THAT(keys_of(made.at("ratio")),
              testing::UnorderedElementsAre("geometric_mean", "low", "high", "rows"));
  EXPECT_THAT(keys_of(made.at("submission")),
              testing::UnorderedElementsAre("folder", "hash", "files", "unchanged"));
  EXPECT_EQ(made.at("submission").at("files"), json::array({"q8ta_relu.comp"}));
  EXPECT_THAT(keys_of(made.at("selection")),
              testing::UnorderedElementsAre("cases", "selected", "judged_of", "accuracy_of", "performance_of",
                                            "ops", "case_files"));
  std::vector<std::string> files;
  for (const json& file : made.at("selection").at("case_files")) {
    EXPECT_THAT(keys_of(file), testing::UnorderedElementsAre("path", "hash"));
    EXPECT_EQ(file.at("hash").get<std::string>().size(), 64U) << "SHA-256";
    files.push_back(fs::path(file.at("path").get<std::string>()).filename());
  }
  EXPECT_THAT(files, ElementsAre("c.yaml", "q8ta_relu.yaml", "q8ta_relu.yaml")) << "fuzzed and drawn";
  EXPECT_EQ(made.at("seeds"), json({{"secret", 77}, {"draw", 78}}));
  EXPECT_THAT(keys_of(made.at("device")), testing::UnorderedElementsAre("name", "uuid", "api"));
  EXPECT_THAT(keys_of(made.at("versions")), testing::UnorderedElementsAre("assay", "driver"));
  EXPECT_EQ(made.at("baseline"), json({{"shaders", nullptr}, {"impl", nullptr}}));
  std::set<std::string> stages;
  for (const json& row : made.at("rows")) {
    EXPECT_THAT(keys_of(row),
                testing::UnorderedElementsAre("id", "stage", "op", "impl", "shape", "forms", "status",
                                              "correct", "trusted", "incomplete", "reasons", "median_us",
                                              "baseline_us", "ratio", "ratio_low", "ratio_high", "repro"));
    stages.insert(row.at("stage"));
    const bool is_timed = row.at("stage") == "performance" || row.at("stage") == "drawn";
    for (const char* figure : {"median_us", "baseline_us", "ratio", "ratio_low", "ratio_high"})
      EXPECT_EQ(row.at(figure).is_number(), is_timed) << figure;
  }
  EXPECT_THAT(stages, ElementsAre("accuracy", "drawn", "fuzz", "performance", "secret"));
  EXPECT_EQ(json::parse(folder.read(
                fs::relative(made.at("folder").get<std::string>(), folder.path()).string() + "/judge.json")),
            made);
}

TEST_F(JudgeTest, EqualSeedsDrawEqualRows) {
  rows = "3";
  folder.write("mine/q8ta_relu.comp", honest());
  const auto ids = [&](const std::string& seed) {
    std::vector<std::string> all;
    const json made = judged({"--draw-seed", seed}, relu_cases, 0);
    for (const json& row : made.at("rows"))
      all.push_back(row.at("id").get<std::string>() + " " + row.at("shape").get<std::string>());
    return all;
  };
  const std::vector<std::string> once = ids("5");
  EXPECT_EQ(once.size(), 9U);
  EXPECT_EQ(once, ids("5"));
  EXPECT_NE(once, ids("6"));
}

TEST_F(JudgeTest, AWrongShaderIsWrongAndHasNoTime) {
  folder.write("mine/q8ta_relu.comp", changed_in(relu(), "rectified(words[k])", "rectified(words[k]) ^ 1u"));
  const json made = judged();
  EXPECT_EQ(made.at("verdict"), "wrong");
  EXPECT_EQ(made.at("correct"), false);
  EXPECT_TRUE(made.at("ratio").is_null());
  EXPECT_THAT(words_of(made), IsSupersetOf({"wrong_value", "not_timed"}));
}

TEST_F(JudgeTest, RefusesAPlaceForItsJsonBeforeItBegins) {
  folder.write("mine/q8ta_relu.comp", honest());
  folder.write("file", "");
  EXPECT_THAT(refusal({"--json", folder / "file/verdict.json"}),
              HasSubstr("the verdict cannot be written to --json '"));
  EXPECT_THAT(refusal({"--json", folder.path()}), HasSubstr("it is a folder; name another file"));
  for (const char* name : {"new/", "new/.", "new/.."})
    EXPECT_THAT(refusal({"--json", folder / name}), HasSubstr("it names a folder")) << name;
  EXPECT_FALSE(fs::exists(folder / "new"));
  EXPECT_FALSE(fs::exists(folder / "out"));
}

/// The folder of the JSON was made first, and then was a submission without any shader.
TEST_F(JudgeTest, MakesNoFolderForTheJsonOfASubmissionThatIsNone) {
  EXPECT_THAT(refusal({"--json", folder / "mine/verdict.json"}), HasSubstr("mine' is not a folder"));
  EXPECT_FALSE(fs::exists(folder / "mine"));
}

/// The verdict of minutes of work was lost.
TEST_F(JudgeTest, PrintsTheVerdictThoughItsFileCannotBeWritten) {
  folder.write("mine/q8ta_relu.comp", relu() + "\nno;\n");
  const ProcessResult result = judge({"--json", "/dev/full"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_THAT(result.err, HasSubstr("/dev/full"));
  EXPECT_THAT(result.out, HasSubstr("judge         " + (folder / "mine").string()));
  EXPECT_THAT(result.out, HasSubstr("full report   " + (folder / "out").string()));
}

TEST_F(JudgeTest, WhatDoesNotCompileIsWrongInTheCompilersWords) {
  folder.write("mine/q8ta_relu.comp", "#version 450\nvoid main() { nothing; }\n");
  const json made = judged();
  EXPECT_EQ(made.at("verdict"), "wrong");
  EXPECT_EQ(words_of(made).front(), "does_not_compile");
  EXPECT_THAT(made.at("reasons").at(0).at("text").get<std::string>(),
              HasSubstr("q8ta_relu.comp:2: error: 'nothing' : undeclared identifier"));
}

TEST_F(JudgeTest, AnEndlessKernelIsWrongAndEnds) {
  const ProcessResult devices = assay({"devices"});  // the best is judged on
  if (devices.out.find("llvmpipe") == std::string::npos) GTEST_SKIP() << "it may take down a real device";
  // lavapipe leaves a loop after 65535 turns: each of them takes long.
  folder.write(
      "mine/q8ta_relu.comp",
      changed_in(
          relu(), "void main() {",
          "#define STEP a = (a * 1664525u) ^ (a >> 3) ^ push.count;\n#define TEN(x) x x x x x x x x x x\n"
          "void main() {\n  uint a = flat_invocation();\n"
          "  while (a != 0u) { TEN(TEN(TEN(STEP))) a |= 1u; }\n  if (a == 12345u) return;\n"));
  const json made = judged({"--time-limit", "30"}, endless_cases);
  EXPECT_EQ(made.at("verdict"), "wrong") << made.dump(1);
  EXPECT_EQ(made.at("rows").at(0).at("correct"), false);
  EXPECT_THAT(words_of(made), Contains(testing::AnyOf("timeout", "crash", "device_lost")));
}

TEST_F(JudgeTest, WhatIsNotRunIsIncompleteAndNamed) {
  folder.write("mine/q8ta_relu.comp", honest());
  const json made = judged({"--time-limit", "0.000001"});
  EXPECT_EQ(made.at("verdict"), "incomplete");
  EXPECT_EQ(made.at("correct"), false) << "nothing was shown";
  EXPECT_THAT(words_of(made), ElementsAre("not_run"));
  EXPECT_TRUE(made.at("rows").empty()) << "the limit is also one for the choice of rows";
  EXPECT_THAT(made.at("reasons").at(0).at("text").get<std::string>(),
              HasSubstr("the time limit was reached while cases were chosen"));
}

TEST_F(JudgeTest, AnIncludeNamesNoOtherFile) {
  folder.write("secret.glslh", "#error secret words\n");
  for (const std::string include : {"/etc/passwd", "../secret.glslh", "../../../../../../../etc/passwd"}) {
    folder.write("mine/q8ta_relu.comp",
                 changed_in(relu(), "#include \"common/guards.glslh\"",
                            "#include \"common/guards.glslh\"\n#include \"" + include + "\""));
    const json made = judged();
    EXPECT_EQ(made.at("verdict"), "distrusted");
    EXPECT_THAT(words_of(made), Contains("include_outside"));
    EXPECT_THAT(made.dump(), Not(HasSubstr("secret words")));
    EXPECT_THAT(made.dump(), Not(HasSubstr("root:")));
  }
}

TEST_F(JudgeTest, ALinkIsNotFollowed) {
  const std::string secret = folder.write("secret.txt", "#error secret words\n");
  folder.write("mine/q8ta_relu.comp",
               changed_in(relu(), "#include \"common/guards.glslh\"",
                          "#include \"common/guards.glslh\"\n#include \"mine.glslh\""));
  fs::create_symlink(secret, folder / "mine/mine.glslh");
  const json made = judged();
  EXPECT_EQ(made.at("verdict"), "distrusted");
  EXPECT_THAT(words_of(made), IsSupersetOf({"symbolic_link", "does_not_compile"}));
  EXPECT_THAT(made.dump(), Not(HasSubstr("secret words")));
}

TEST_F(JudgeTest, AnHonestSubmissionMayBeSpelledInItsOwnWay) {
  const std::string text =
      changed_in(relu(), "#include \"common/guards.glslh\"",
                 "/* mine */ #include \"common/../common/guards.glslh\"\n#inc\\\nlude \"mine.glslh\"\n"
                 "layout(constant_id = 77) const uint own = 1u;");
  folder.write("mine/q8ta_relu.comp", changed_in(text, "rectified(words[k])", "rectified(words[k]) * own"));
  folder.write("mine/mine.glslh", "// nothing\n");
  const json made = judged({}, relu_cases, 0);
  EXPECT_EQ(made.at("submission").at("files"), json::array({"mine.glslh", "q8ta_relu.comp"}));
}

TEST_F(JudgeTest, WhatNobodyCanJudgeIsWrongAtOnce) {
  folder.write("mine/q8ta_relu.comp", relu() + "// mine\n");
  folder.write("mine/large.glslh", std::string(std::size_t{5} << 20, ' '));
  const json made = judged();
  EXPECT_EQ(made.at("verdict"), "wrong");
  EXPECT_THAT(words_of(made), ElementsAre("too_large"));
  EXPECT_TRUE(made.at("rows").empty());
}

TEST_F(JudgeTest, AfterAStageWithoutARightRowNothingRuns) {
  folder.write("mine/q8ta_relu.comp", "#version 450\nvoid main() { nothing; }\n");
  const json made = judged();
  for (const json& row : made.at("rows")) {
    EXPECT_EQ(row.at("incomplete"), row.at("stage") != "accuracy") << row.dump();
  }
  EXPECT_THAT(words_of(made), IsSupersetOf({"does_not_compile", "not_run", "not_timed"}));
}

TEST_F(JudgeTest, AKernelOfTheHarnessIsNotReplaced) {
  folder.write("mine/q8ta_relu.comp", honest());
  folder.write("mine/difference.comp", "#version 450\nvoid main() {}\n");
  const json made = judged();
  EXPECT_EQ(made.at("verdict"), "distrusted");
  EXPECT_EQ(words_of(made).front(), "replaces_harness_shader");
}

TEST_F(JudgeTest, ASlowerOneIsSlower) {
  folder.write("mine/q8ta_relu.comp", slow(relu()));
  const json made = judged({}, relu_cases, 0);
  EXPECT_GT(made.at("ratio").at("low"), 1);
}

TEST_F(JudgeTest, TheBaselineMayBeAFolder) {
  folder.write("mine/q8ta_relu.comp", honest());
  folder.write("base/q8ta_relu.comp", slow(relu()));
  const json made = judged({"--baseline", (folder / "base").string()}, relu_cases, 0);
  EXPECT_LT(made.at("ratio").at("high"), 1);
}

// Not a slow shader: how long its workgroups take depends on how many cores other work leaves to them, and
// points have different numbers of them.
TEST_F(JudgeTest, TheBaselineMayBeAnImpl) {
  folder.write("mine/q8ta_pixel_shuffle.comp",
               changed_in(tree_shader("q8ta_pixel_shuffle.comp"), "void main() {",
                          "void main() {\n  if (gl_NumWorkGroups.x == 0u) return;\n"));
  const json made = judged({"--baseline-impl", "unfused"}, shuffle_pair_cases, 0);
  EXPECT_EQ(made.at("baseline").at("impl"), "unfused");
  for (const json& row : made.at("rows")) {
    EXPECT_EQ(row.at("impl"), "fused") << "the other impl runs none of its files";
    EXPECT_EQ(row.at("ratio").is_number(), row.at("stage") == "performance" || row.at("stage") == "drawn");
  }
}

TEST_F(JudgeTest, AWorkerTakesNoMoreMemoryThanItMay) {
  folder.write("mine/q8ta_relu.comp", honest());
  const ProcessResult result = judge({"--memory-limit", "0.000001"});
  EXPECT_NE(result.exit_code, 0) << result.out << result.err;
  EXPECT_EQ(assay({"worker", "much"}).exit_code, 2);
}

TEST_F(JudgeTest, WhatCannotBeJudgedIsAUsageError) {
  EXPECT_THAT(refusal(), HasSubstr("is not a folder"));
  fs::create_directory(folder / "mine");
  EXPECT_THAT(refusal(), HasSubstr("holds no shader"));
  folder.write("mine/other.comp", "#version 450\nvoid main() {}\n");
  EXPECT_THAT(refusal(), HasSubstr("none of the 3 selected cases (of q8ta_relu) runs a shader that uses its "
                                   "files on this device: other.comp"));
  folder.write("mine/q8ta_relu.comp", relu() + "// mine\n");
  EXPECT_THAT(refusal(),
              HasSubstr("there is nothing to judge: the 3 selected cases that use its files run the "
                        "same SPIR-V as the baseline, apart from debug information: other.comp, "
                        "q8ta_relu.comp"));
  folder.write("mine/q8ta_relu.comp", honest());
  EXPECT_THAT(refusal({"--op", "q8ta_rel"}),
              HasSubstr("there is no op 'q8ta_rel'; did you mean 'q8ta_relu'?"));
  EXPECT_THAT(refusal({"--op", "q8ta_add"}), HasSubstr("none of 3 cases is selected by --op q8ta_add"));
  EXPECT_THAT(refusal({"--filter", "*nothing*"}), HasSubstr("by --filter '*nothing*'"));
  EXPECT_THAT(refusal({"--op", "q8ta_relu", "--filter", "*"}), HasSubstr("--filter"));
  EXPECT_THAT(refusal({"--baseline-impl", "nobody"}), HasSubstr("has a row of impl 'nobody'"));
  EXPECT_THAT(refusal({"--secret-seed", "0"}), HasSubstr("--secret-seed"));
}

}  // namespace
}  // namespace assay::test
