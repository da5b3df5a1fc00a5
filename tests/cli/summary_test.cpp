#include "tests/cli/sample_run.h"
#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace assay::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Two of the sample run's rows as layers of a model: what the op of the run does not tell is put in.
class Summary : public SampleRunTest {
 protected:
  void SetUp() override { folder_.write("journal.jsonl", with_model(read_file(journal()))); }

  std::string report() const { return folder_.path().string(); }

 private:
  static std::filesystem::path journal() { return device_folder(out()) / "journal.jsonl"; }

  static std::string with_model(std::string text) {
    const std::string mode = R"("mode":"perf")";
    const auto at = text.find(mode);
    EXPECT_NE(at, text.npos);
    return text.replace(at, mode.size(), mode + R"(,"model":"sample","layer":"up","calls":1000,"tokens":1)");
  }

  TemporaryFolder folder_;
};

TEST_F(Summary, PrintsAReportOnOneScreen) {
  const ProcessResult result = assay({"summary", out()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\n6 rows: 6 PASS\n"));
  EXPECT_THAT(result.out, HasSubstr("  q8ta_pixel_shuffle\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("steps of models")));
  EXPECT_THAT(assay({"summary", report(), out()}).out, HasSubstr("  rows  failed  timed"));
}

TEST_F(Summary, PrintsWhatAStepCostsByDevice) {
  const ProcessResult result = assay({"summary", "--model", "sample", report(), out()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("sample: a step is the sum over its layers of median time x calls\n"));
  EXPECT_THAT(result.out, HasSubstr("  1 of 1  llvmpipe #1  q8ta_pixel_shuffle, i8, hot\n"));
  EXPECT_THAT(result.out, HasSubstr("- llvmpipe #2: no step with 1, 512 tokens; the report has no row"));
  EXPECT_THAT(assay({"summary", report(), "--model", "sample", "--layers"}).out, HasSubstr("  up"));
}

TEST_F(Summary, WritesTheStepsOfAReport) {
  const ProcessResult result = assay({"summary", report(), "--markdown", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("## "));
  EXPECT_THAT(result.out, HasSubstr("\n### sample, 1 token: `q8ta_pixel_shuffle`, i8, hot\n"));
  EXPECT_THAT(result.out, HasSubstr("\n| `up`  |  1000 |"));
  EXPECT_THAT(result.out, HasSubstr(" tokens/s. Every layer of the model in the report is in the sum."));
}

TEST_F(Summary, TakesSeveralReportsAndSaysWhichHaveNoModel) {
  const ProcessResult result = assay({"summary", report(), out(), "--markdown", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("\nNo timed row names a layer of a model.\n"));
}

TEST_F(Summary, WritesTheFilesThatAreAskedForAndNothingElse) {
  const TemporaryFolder folder;
  const std::string csv = folder / "s.csv", markdown = folder / "s.md";
  const ProcessResult result = assay({"summary", report(), "--csv", csv, "--markdown", markdown});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(read_file(csv), StartsWith("device,model,tokens,"));
  EXPECT_EQ(read_file(markdown), assay({"summary", report(), "--markdown", "-"}).out);
  EXPECT_EQ(read_file(csv), assay({"summary", report(), "--csv", "-"}).out);
}

TEST_F(Summary, ShowsTheModelsThatAreAskedFor) {
  EXPECT_EQ(assay({"summary", report(), "--model", "sam*", "--csv", "-"}).out,
            assay({"summary", report(), "--csv", "-"}).out);
  const ProcessResult unknown = assay({"summary", report(), "--model", "simple"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err,
              HasSubstr("--model: no report has a step of a model 'simple'; the models with steps are\n"
                        "  sample"));
}

TEST_F(Summary, RefusesReportsWithoutALayer) {
  const ProcessResult result = assay({"summary", out(), "--csv", "-"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("summing the layers of models: no timed row of "));
  EXPECT_THAT(result.err, HasSubstr("cases/models"));
}

TEST_F(Summary, SaysWhereItCannotWriteOrRead) {
  const ProcessResult unwritable = assay({"summary", report(), "--csv", "/no/such/folder/s.csv"});
  EXPECT_EQ(unwritable.exit_code, 3);
  EXPECT_THAT(unwritable.err, HasSubstr("/no/such/folder/s.csv"));
  const TemporaryFolder empty;
  const ProcessResult unreadable = assay({"summary", empty.path().string()});
  EXPECT_EQ(unreadable.exit_code, 2);
  EXPECT_THAT(unreadable.err, HasSubstr("journal.jsonl"));
  EXPECT_EQ(assay({"summary"}).exit_code, 2);
}

}  // namespace
}  // namespace assay::test
