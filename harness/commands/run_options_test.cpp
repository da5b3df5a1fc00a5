#include "harness/commands/run_options.h"

#include "harness/base/error.h"
#include "tests/support/error_text.h"
#include "tests/support/small_op.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

namespace assay::app {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;
using Variables = std::map<std::string, std::string>;

/// What is said when these options select none of two cases of the op `flip`, whose impl is `plain`.
std::string refusal(const CaseOptions& options) {
  const Op op = test::flip_op();
  std::vector<Case> cases{test::make_case(op, test::shape_params({4}), "small"),
                          test::make_case(op, test::shape_params({8}), "large")};
  for (Case& test_case : cases) test_case.mode = Mode::Accu;
  return test::error_of([&] { throw_nothing_selected(options, cases); });
}

TEST(CasePaths, AreOutsideOfWhatIsNotTrusted) {
  const test::TemporaryFolder folder;
  const std::string inside = folder.write("mine/cases/c.yaml", "op: flip\n");
  const std::string outside = folder.write("cases/c.yaml", "op: flip\n");
  const CaseOptions mine{.files = {inside}};
  EXPECT_EQ(mine.paths().size(), 1U);
  EXPECT_THAT(test::error_of([&] { mine.paths(folder / "mine"); }),
              HasSubstr("which does not choose what it is judged by"));
  EXPECT_EQ(CaseOptions{.files = {outside}}.paths(folder / "mine").size(), 1U);
  // Tests run in the root of the source tree, whose folder cases/ would be found first.
  EXPECT_EQ(CaseOptions{}.paths().front(), "cases");
  EXPECT_THAT(test::error_of([&] {
                if (CaseOptions{}.paths(".").front() == "cases") throw Error("the submission's cases");
              }),
              Not(HasSubstr("the submission's")));
}

TEST(ExpectationFiles, OfAFolderOfOtherFilesAreAnError) {
  const test::TemporaryFolder folder;
  folder.write("rules/gpu.yml", "device: a\n");
  const std::vector<std::filesystem::path> places{folder / "rules"};
  EXPECT_THAT(test::error_of([&] { expectation_files(places); }),
              HasSubstr("there is no file with rules (*.yaml) in the folder '" + places[0].string() + "'"));
  const std::filesystem::path rules = folder.write("rules/gpu.yaml", "device: a\n");
  EXPECT_EQ(expectation_files(places), std::vector{rules});
  const std::vector<std::filesystem::path> retired{folder / "retired"};
  std::filesystem::create_directory(retired[0]);
  EXPECT_TRUE(expectation_files(retired).empty()) << "the last rule may be deleted";
}

TEST(NothingSelected, NamesTheIdsNearestToAFilter) {
  EXPECT_THAT(refusal({.filter = "flip/smal/*"}),
              HasSubstr("none of 2 is selected by --filter 'flip/smal/*'; the nearest: flip/small/plain; "));
  EXPECT_THAT(refusal({.filter = "large"}),
              HasSubstr("; '*large*' would match 1, such as flip/large/plain; "));
}

TEST(NothingSelected, SaysWhatMayBeMeantByAnOpOrAnImpl) {
  EXPECT_THAT(refusal({.impls = {"plian"}}), HasSubstr("; did you mean --impl 'plain'?; "));
  EXPECT_THAT(refusal({.ops = {"filp"}}), HasSubstr("; did you mean --op 'flip'?; "));
  EXPECT_THAT(refusal({.ops = {"quantize"}}), HasSubstr("; known for --op are: flip; "));
}

TEST(NothingSelected, BlamesOnlyWhatSelectsNothingAlone) {
  CaseOptions options{.filter = "flip/*"};
  options.impls = {"*"};
  options.mode = "perf";
  options.tiers = {"ci"};
  EXPECT_THAT(refusal(options), AllOf(HasSubstr("; no case has that mode; "), Not(HasSubstr("nearest")),
                                      Not(HasSubstr("did you mean")), Not(HasSubstr("has that tier"))));
}

TEST(ModeOption, OfBothNarrowsNothing) {
  for (const char* mode : {"", "both"}) {
    CaseOptions options;
    options.mode = mode;
    EXPECT_EQ(options.selection().mode, std::nullopt) << mode;
    EXPECT_FALSE(options.is_narrowed()) << mode;
  }
  CaseOptions options;
  options.mode = "perf";
  EXPECT_EQ(options.selection().mode, Mode::Perf);
  EXPECT_TRUE(options.is_narrowed());
}

Environment environment_of(const Variables& variables) {
  return [variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

/// "2/8 by ...", or "whole".
std::string asked(const std::string& option, const Variables& variables) {
  const auto shard = asked_shard(option, environment_of(variables));
  if (!shard) return "whole";
  return std::to_string(shard->shard.index) + "/" + std::to_string(shard->shard.count) + " by " + shard->by;
}

void expect_refused(const std::string& option, const Variables& variables, const std::string& words) {
  EXPECT_THAT([&] { asked_shard(option, environment_of(variables)); },
              ThrowsMessage<Error>(HasSubstr(words)));
}

TEST(AskedShard, IsTheOptions) {
  EXPECT_EQ(asked("2/8", {}), "2/8 by --shard");
  EXPECT_EQ(asked("", {}), "whole");
  EXPECT_EQ(asked("1/1", {}), "whole");
  for (const char* none : {"0/8", "9/8", "2", "/8", "2/", "a/8", "2/8x", "-1/8", "1/0", "1/99999999999999"})
    expect_refused(none, {}, none);
}

TEST(AskedShard, CountsAsEachOfTheVariablesDoes) {
  EXPECT_EQ(asked("", {{"GTEST_SHARD_INDEX", "0"}, {"GTEST_TOTAL_SHARDS", "4"}}),
            "1/4 by GTEST_SHARD_INDEX of GTEST_TOTAL_SHARDS");
  EXPECT_EQ(asked("", {{"TEST_SHARD_INDEX", "3"}, {"TEST_TOTAL_SHARDS", "4"}}),
            "4/4 by TEST_SHARD_INDEX of TEST_TOTAL_SHARDS");
  EXPECT_EQ(asked("", {{"CI_NODE_INDEX", "4"}, {"CI_NODE_TOTAL", "4"}}),
            "4/4 by CI_NODE_INDEX of CI_NODE_TOTAL");
}

TEST(AskedShard, TheFirstThatIsGivenCounts) {
  const Variables gtest{{"GTEST_SHARD_INDEX", "0"}, {"GTEST_TOTAL_SHARDS", "2"}};
  Variables all = gtest;
  all.insert({{"TEST_SHARD_INDEX", "1"}, {"TEST_TOTAL_SHARDS", "3"}});
  all.insert({{"CI_NODE_INDEX", "4"}, {"CI_NODE_TOTAL", "4"}});
  EXPECT_EQ(asked("5/5", all), "5/5 by --shard");
  EXPECT_EQ(asked("1/1", all), "whole") << "the option counts although it asks for all";
  EXPECT_EQ(asked("", all), "1/2 by GTEST_SHARD_INDEX of GTEST_TOTAL_SHARDS");
}

TEST(AskedShard, VariablesThatNameNoneAreRefused) {
  expect_refused("", {{"GTEST_SHARD_INDEX", "4"}, {"GTEST_TOTAL_SHARDS", "4"}}, "GTEST_SHARD_INDEX='4'");
  expect_refused("", {{"GTEST_SHARD_INDEX", "1"}}, "GTEST_TOTAL_SHARDS=''");
  expect_refused("", {{"GTEST_TOTAL_SHARDS", "1"}}, "GTEST_SHARD_INDEX=''");
  expect_refused("", {{"TEST_SHARD_INDEX", "-1"}, {"TEST_TOTAL_SHARDS", "4"}}, "TEST_SHARD_INDEX='-1'");
  expect_refused("", {{"CI_NODE_INDEX", "0"}, {"CI_NODE_TOTAL", "4"}}, "CI_NODE_INDEX='0'");
  expect_refused("", {{"CI_NODE_TOTAL", "4"}}, "CI_NODE_INDEX=''");
  EXPECT_EQ(asked("2/3", {{"GTEST_SHARD_INDEX", "x"}}), "2/3 by --shard")
      << "what does not count may be anything";
}

TEST(AskedShard, GitlabSetsATotalOfOneWhereThereAreNone) {
  EXPECT_EQ(asked("", {{"CI_NODE_TOTAL", "1"}}), "whole");
}

TEST(ShardStatusFiles, AreMade) {
  const test::TemporaryFolder folder;
  touch_shard_status_files(environment_of(
      {{"GTEST_SHARD_STATUS_FILE", folder / "gtest"}, {"TEST_SHARD_STATUS_FILE", folder / "bazel"}}));
  EXPECT_TRUE(std::filesystem::exists(folder / "gtest"));
  EXPECT_TRUE(std::filesystem::exists(folder / "bazel"));
  touch_shard_status_files(environment_of({}));
  EXPECT_THROW(touch_shard_status_files(environment_of({{"TEST_SHARD_STATUS_FILE", folder / "no" / "such"}})),
               Error);
}

}  // namespace

}  // namespace assay::app
