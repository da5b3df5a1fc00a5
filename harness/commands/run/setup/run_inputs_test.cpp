#include "harness/commands/run/setup/run_inputs.h"

#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sys/stat.h>

namespace assay::app {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(RunInputs, HaveNoContentOfWhatIsNoFileOrTooLarge) {
  const test::TemporaryFolder folder;
  const std::string fifo = folder / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const std::string sparse = folder.write("sparse.yaml", "");
  fs::resize_file(sparse, std::uintmax_t{1} << 40);
  RunOptions options;
  options.cases.files = {folder.write("c.yaml", "")};
  const auto inputs = run_inputs(options, {.files = {"/dev/zero", fifo, sparse, folder / "gone.yaml"}});
  EXPECT_NE(inputs.at("cases"), "") << "and this returned";
}

TEST(RunInputs, HaveTheContentOfEveryFileOfAnOpsFolder) {
  const test::TemporaryFolder folder;
  RunOptions options;
  options.cases.files = {folder.write("c.yaml", "")};
  const auto hash = [&](const std::string& name) {
    options.cases.op_folders = {folder / name};
    return run_inputs(options, {}).at("ops");
  };
  folder.write("a/op.yaml", "op: a");
  folder.write("a/inc/k.comp", "1");
  const std::string before = hash("a");
  fs::copy(folder / "a", folder / "b", fs::copy_options::recursive);
  EXPECT_EQ(hash("b"), before) << "its place does not matter";
  folder.write("a/inc/k.comp", "2");
  EXPECT_NE(hash("a"), before);
}

RunInfo run_with(std::map<std::string, std::string> inputs) {
  RunInfo run;
  run.run_id = "20260101";
  run.inputs = std::move(inputs);
  return run;
}

std::string refusal(const RunInfo& before, const RunInfo& now) {
  return refuse_other_run(before, now).value_or("");
}

TEST(ResumedInputs, MayNotChangeComeOrGo) {
  const RunInfo without = run_with({{"cases", "1"}});
  const RunInfo with = run_with({{"cases", "1"}, {"expectations", "1"}});
  const RunInfo changed = run_with({{"cases", "1"}, {"expectations", "2"}});
  EXPECT_EQ(refusal(without, without), "");
  EXPECT_EQ(refusal(with, with), "");
  EXPECT_THAT(refusal(with, changed), HasSubstr("the expectations have changed; run the cases again"));
  EXPECT_THAT(refusal(without, with), HasSubstr("the expectations were added since; run the cases again"));
  EXPECT_THAT(refusal(with, without), HasSubstr("the expectations are gone; run the cases again"));
}

TEST(ResumedInputs, MayHaveTheirTuningFileElsewhere) {
  const RunInfo without = run_with({{"cases", "1"}});
  const RunInfo here = run_with({{"cases", "1"}, {"tuning", "1"}, {"tuning_file", "tuning/a.yaml"}});
  const RunInfo there = run_with({{"cases", "1"}, {"tuning", "1"}, {"tuning_file", "a.yaml"}});
  const RunInfo ignored = run_with({{"cases", "1"}, {"tuning_file", "a.yaml: not taken: made elsewhere"}});
  EXPECT_EQ(refusal(here, there), "");
  EXPECT_EQ(refusal(without, ignored), "");
  EXPECT_EQ(refusal(ignored, without), "");
  EXPECT_THAT(refusal(here, without), HasSubstr("the entries of the tuning file are gone"));
}

TEST(ResumedInputs, AreNotComparedIfTheJournalHasNone) {
  EXPECT_EQ(refusal(run_with({}), run_with({{"cases", "1"}})), "");
}

}  // namespace
}  // namespace assay::app
