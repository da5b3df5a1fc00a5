#include "harness/commands/judge/drawn_cases.h"

#include "harness/base/error.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/cases/expansion/load.h"
#include "harness/commands/points/random_point.h"
#include "harness/commands/points/written_cases.h"
#include "harness/commands/run/setup/device_session.h"
#include "harness/engine/accuracy/data_set.h"
#include "ops/registry.h"
#include "tests/support/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace assay::app {
namespace {

const Registry& registry() {
  static const Registry made = ops::registry();
  return made;
}

const std::vector<Case>& repository() {
  static const LoadResult loaded =
      load_cases(std::array{std::filesystem::path(ASSAY_SOURCE_DIR "/cases")}, registry());
  return loaded.cases;
}

/// Every third case of an op whose data and answers do not come from files, up to a limit.
std::map<std::string, std::vector<const Case*>> sample(std::size_t most) {
  std::map<std::string, std::vector<const Case*>> by_op;
  std::size_t number = 0;
  for (const Case& one : repository()) {
    if (one.op->chain) continue;  // submissions are not judged by chains
    std::vector<const Case*>& cases = by_op[one.op->name];
    if (number++ % 3 == 0 && cases.size() < most && has_secret_data(one) && is_writable(one) && one.seed == 0)
      cases.push_back(&one);
  }
  return by_op;
}

TEST(CaseYaml, IsReadAsTheCaseThatItWasWrittenFrom) {
  const test::TemporaryFolder folder;
  for (const auto& [op, cases] : sample(60)) {
    std::string text = fmt::format("op: {}\ncases:\n", op);
    for (std::size_t i = 0; i < cases.size(); ++i) text += case_yaml(*cases[i], fmt::format("c{}", i));
    const LoadResult read =
        load_cases(std::array{std::filesystem::path(folder.write(op + ".yaml", text))}, registry());
    ASSERT_TRUE(read.errors.empty()) << op << ": " << to_string(read.errors.front());
    ASSERT_EQ(read.cases.size(), cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(read.cases[i].data_key, cases[i]->data_key) << cases[i]->id;
      EXPECT_EQ(read.cases[i].impl, cases[i]->impl);
      EXPECT_EQ(read.cases[i].forms, cases[i]->forms) << cases[i]->id;
      EXPECT_EQ(read.cases[i].conv2d, cases[i]->conv2d) << cases[i]->id;
      EXPECT_EQ(read.cases[i].tune, cases[i]->tune) << cases[i]->id;
    }
  }
}

class FuzzedCasesTest : public testing::Test {
 protected:
  /// A submission that changes the shaders of all ops.
  FuzzedCasesTest() {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(ASSAY_SOURCE_DIR "/shaders")) {
      if (entry.path().extension() == ".comp") change(entry.path().filename().string());
    }
  }

  void change(const std::string& shader) {
    // What does not compile differs, and takes no time to compile.
    folder.write("mine/" + shader, "#version 450\n#error changed\n");
    submission.folder = folder / "mine";
    submission.files.push_back(shader);
  }

  DrawnCases fuzzed(const std::string& op, std::uint64_t seed, std::size_t count = 6,
                    const std::string& name = "fuzz") {
    ShaderUse use(submission, device, {});
    return fuzzed_cases(cases_of(op), registry(), use, count, seed, folder / name);
  }

  std::vector<const Case*> cases_of(const std::string& op) const {
    std::vector<const Case*> cases;
    for (const Case& one : repository()) {
      if (one.op->name == op) cases.push_back(&one);
    }
    return cases;
  }

  test::TemporaryFolder folder;
  Submission submission;
  DeviceInfo device = RunDevices(RunOptions{}).opened().front().info;
};

bool is_of_the_repository(const Case& one) {
  return std::ranges::any_of(
      repository(), [&](const Case& other) { return other.data_key == one.data_key && other.op == one.op; });
}

TEST_F(FuzzedCasesTest, ThereAreSmallAndLargeOnesOfEveryOp) {
  for (const Op& op : registry().ops()) {
    const DrawnCases made = fuzzed(op.name, 5);
    EXPECT_GE(made.cases.size(), 5U) << op.name;
    ASSERT_EQ(made.files.size(), 1U) << op.name;
    const LoadResult read = load_cases(made.files, registry());
    EXPECT_TRUE(read.errors.empty()) << op.name;
    EXPECT_EQ(read.cases.size(), made.cases.size());
    std::size_t large = 0;
    for (const Case& one : read.cases) {
      EXPECT_FALSE(one.invalid) << one.id;
      EXPECT_FALSE(is_of_the_repository(one)) << one.id;
      EXPECT_LE(operations_of(one), std::int64_t{1} << 28) << one.id;
      if (elements_of(one) > 300'000) ++large;
    }
    EXPECT_GE(large, 1U) << op.name;
    EXPECT_LE(large, 2U) << op.name;
  }
}

TEST_F(FuzzedCasesTest, AFewHaveMillionsOfElements) {
  std::int64_t most = 0;
  for (const Case& one : fuzzed("q8ta_add", 1, 40).cases) most = std::max(most, elements_of(one));
  EXPECT_GE(most, 2'000'000);
}

TEST_F(FuzzedCasesTest, KeepTheRatioOfScalesSoThatAnswersAreNotAllClamped) {
  const auto ratio = [](const Case& one) {
    return static_cast<double>(one.params->qparams("x").scale) / one.params->qparams("y").scale;
  };
  double most = 0;
  for (const Case* one : cases_of("q8ta_pixel_shuffle")) most = std::max(most, ratio(*one));
  for (const Case& one : fuzzed("q8ta_pixel_shuffle", 3, 60).cases)
    EXPECT_LE(ratio(one), 4.01 * most) << one.id;
}

TEST_F(FuzzedCasesTest, DifferInAllThatTheOpTakes) {
  std::set<std::string> forms, tunables, fills;
  std::set<std::int32_t> zero_points;
  std::set<double> alphas;
  for (const Case& one : fuzzed("q8ta_add", 3, 80).cases) {
    forms.insert(to_string(one.forms[0]) + to_string(one.forms[2]));
    for (const auto& [name, value] : one.tune) tunables.insert(name);
    for (const auto& [name, fill] : *one.fills) fills.insert(std::string(name_of(fill.kind)));
    zero_points.insert(one.params->qparams("a").zero_point);
    alphas.insert(one.params->number("alpha"));
  }
  EXPECT_GE(forms.size(), 4U);
  EXPECT_GE(tunables.size(), 1U);
  EXPECT_GE(fills.size(), 2U);
  EXPECT_GE(zero_points.size(), 10U);
  EXPECT_LT(*zero_points.begin(), -40);
  EXPECT_GT(*zero_points.rbegin(), 40);
  EXPECT_GE(alphas.size(), 5U);
}

TEST_F(FuzzedCasesTest, HaveAnyLeastScaleAndRange) {
  std::set<double> eps;
  std::set<std::int64_t> ends;
  for (const Case& one : fuzzed("choose_qparams_affine", 3, 60).cases) {
    eps.insert(one.params->number("eps"));
    ends.insert(one.params->integer("quant_max"));
  }
  EXPECT_GE(eps.size(), 8U);
  EXPECT_GE(ends.size(), 6U);
}

TEST_F(FuzzedCasesTest, AreThoseOfTheirSeed) {
  const DrawnCases once = fuzzed("q8ta_add", 9, 6, "once");
  const DrawnCases again = fuzzed("q8ta_add", 9, 6, "again");
  const DrawnCases other = fuzzed("q8ta_add", 10, 6, "other");
  EXPECT_EQ(test::read_file(once.files.at(0)), test::read_file(again.files.at(0)));
  EXPECT_NE(test::read_file(once.files.at(0)), test::read_file(other.files.at(0)));
}

TEST_F(FuzzedCasesTest, AreOfWhatTheSubmissionChanges) {
  submission.folder = folder / "relu";
  folder.write("relu/q8ta_relu.comp", "#version 450\n#error changed\n");
  EXPECT_TRUE(fuzzed("q8ta_add", 1).cases.empty());
  EXPECT_FALSE(fuzzed("q8ta_relu", 1).cases.empty());
}

TEST_F(FuzzedCasesTest, AreNotDrawnOnceTheJudgementMustStop) {
  ShaderUse use(submission, device, {.must_stop = [] { return true; }});
  EXPECT_THROW(fuzzed_cases(cases_of("q8ta_add"), registry(), use, 2, 1, folder / "fuzz"), JudgementStopped);
  EXPECT_THROW(choose_judged_cases(repository(), JudgeOptions{}, use, submission, 1), JudgementStopped);
}

class DrawnPointsTest : public FuzzedCasesTest {
 protected:
  JudgedCases timed(const std::string& op) const {
    JudgedCases judged;
    for (const Case* one : cases_of(op)) {
      if (one->mode != Mode::Accu && !one->invalid && judged.performance.size() < 6 && has_secret_data(*one))
        judged.performance.push_back(one);
    }
    return judged;
  }

  DrawnCases drawn(const JudgedCases& judged, std::uint64_t seed, const std::string& name = "drawn") {
    ShaderUse use(submission, device, {});
    return drawn_points(judged, repository(), registry(), use, seed, folder / name);
  }
};

bool is_about_as_much(std::int64_t one, std::int64_t other) {
  return one <= 2 * other && other <= 2 * one;
}

TEST_F(DrawnPointsTest, OfEveryOpAreNewAndCostAboutAsMuch) {
  for (const Op& op : registry().ops()) {
    const JudgedCases judged = timed(op.name);
    ASSERT_FALSE(judged.performance.empty()) << op.name;
    const DrawnCases made = drawn(judged, 3);
    EXPECT_GE(2 * made.cases.size(), judged.performance.size()) << op.name;
    for (const Case& one : made.cases) {
      EXPECT_EQ(one.mode, Mode::Perf);
      EXPECT_FALSE(one.invalid) << one.id;
      EXPECT_FALSE(is_of_the_repository(one)) << one.id;
      const auto is_its_public_one = [&](const Case* other) {
        return other->impl == one.impl && is_about_as_much(operations_of(one), operations_of(*other));
      };
      EXPECT_TRUE(std::ranges::any_of(judged.performance, is_its_public_one)) << one.id;
    }
  }
}

TEST_F(DrawnPointsTest, DifferInSizesAndQparams) {
  const JudgedCases judged = timed("q8ta_relu");
  std::set<std::string> shapes, scales, known;
  for (const Case& one : repository()) {
    if (one.op->name == "q8ta_relu" && one.mode != Mode::Accu)
      known.insert(to_string(one.params->at("shape")));
  }
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const Case& one : drawn(judged, seed).cases) {
      shapes.insert(to_string(one.params->at("shape")));
      scales.insert(to_string(one.params->at("x")));
      EXPECT_FALSE(known.contains(to_string(one.params->at("shape")))) << one.id;
      EXPECT_EQ(one.params->ints("shape").back() % 4, 0) << "vectors stay whole where they were";
    }
  }
  EXPECT_GE(shapes.size(), 10U);
  EXPECT_GE(scales.size(), 10U);
}

TEST_F(DrawnPointsTest, AreThoseOfTheirSeed) {
  const JudgedCases judged = timed("q8ta_add");
  const auto text = [&](std::uint64_t seed, const std::string& name) {
    return test::read_file(drawn(judged, seed, name).files.at(0));
  };
  EXPECT_EQ(text(4, "once"), text(4, "again"));
  EXPECT_NE(text(4, "once"), text(5, "other"));
}

TEST_F(DrawnPointsTest, AreNotDrawnOnceTheJudgementMustStop) {
  const JudgedCases judged = timed("q8ta_add");
  ShaderUse use(submission, device, {.must_stop = [] { return true; }});
  EXPECT_THROW(drawn_points(judged, repository(), registry(), use, 1, folder / "drawn"), JudgementStopped);
}

TEST_F(DrawnPointsTest, HaveTheBaselinesImplToo) {
  JudgedCases judged;
  const std::vector<const Case*> shuffles = cases_of("q8ta_pixel_shuffle");
  for (const Case* one : shuffles) {
    for (const Case* other : shuffles) {
      if (one->mode == Mode::Accu || other->mode == Mode::Accu || one->data_key != other->data_key ||
          one->impl->name != "fused" || other->impl->name != "unfused" || !ask_for_same_forms(*one, *other))
        continue;
      judged.performance.push_back(one);
      judged.baselines.push_back(other);
    }
  }
  ASSERT_FALSE(judged.performance.empty());
  const DrawnCases made = drawn(judged, 8);
  ASSERT_FALSE(made.cases.empty());
  for (const Case& one : made.cases) EXPECT_EQ(one.impl->name, "fused");
  const LoadResult read = load_cases(made.files, registry());
  EXPECT_EQ(read.cases.size(), 2 * made.cases.size()) << "each in both impls";
}

/// A manifest's `work` may divide by zero at some points. That ended the judgement.
class UnknownWorkTest : public FuzzedCasesTest {
 protected:
  UnknownWorkTest() {
    unknown.work = [](const Params&, std::span<const TensorSpec>) -> Work { throw Error("divided by zero"); };
    std::size_t number = 0;
    for (const Case* one : cases_of("q8ta_relu")) {
      if (one->mode == Mode::Accu || one->invalid || !has_secret_data(*one)) continue;
      cases.push_back(*one);
      if (number++ % 2 == 0) cases.back().op = &unknown;
    }
    for (const Case& one : cases) {
      if (one.op == &unknown) unknown_ones.push_back(&one);
    }
  }

  Op unknown = *registry().find("q8ta_relu");
  std::vector<Case> cases;
  std::vector<const Case*> unknown_ones;
};

TEST_F(UnknownWorkTest, MakesNoDrawnCases) {
  ASSERT_FALSE(unknown_ones.empty());
  ShaderUse use(submission, device, {});
  EXPECT_TRUE(fuzzed_cases(unknown_ones, registry(), use, 2, 1, folder / "fuzz").cases.empty());
  JudgedCases judged;
  judged.performance = {unknown_ones.front()};
  EXPECT_TRUE(drawn_points(judged, cases, registry(), use, 1, folder / "drawn").cases.empty());
}

TEST_F(UnknownWorkTest, LeavesACaseOut) {
  ASSERT_LT(unknown_ones.size(), cases.size());
  ShaderUse use(submission, device, {});
  const JudgedCases judged = choose_judged_cases(cases, JudgeOptions{}, use, submission, 1);
  EXPECT_FALSE(judged.performance.empty());
  for (const Case* one : judged.mattering) EXPECT_NE(one->op, &unknown) << one->id;
  for (const Case* one : judged.performance) EXPECT_NE(one->op, &unknown) << one->id;
}

}  // namespace

}  // namespace assay::app
