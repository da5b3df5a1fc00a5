#include "harness/commands/shard_choice.h"

#include "harness/base/error.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

namespace assay::app {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

using Variables = std::map<std::string, std::string>;

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
