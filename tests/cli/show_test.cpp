#include "tests/cli/sample_run.h"
#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace assay::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Show : public SampleRunTest {};

TEST_F(Show, PrintsBothRowsOfAnId) {
  const ProcessResult result = assay({"show", out(), "q8ta_pixel_shuffle/both/4W4C.4W4C/fused"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("PASS  q8ta_pixel_shuffle/both/4W4C.4W4C/fused (accu)\n"));
  EXPECT_THAT(result.out, HasSubstr("PASS  q8ta_pixel_shuffle/both/4W4C.4W4C/fused (perf)\n"));
  EXPECT_THAT(result.out, HasSubstr("\ntime of one program run\n"));
  EXPECT_THAT(result.out, HasSubstr("p.yaml:3:5"));
  EXPECT_THAT(result.out, Not(HasSubstr("samples, us by block")));
}

TEST_F(Show, TakesAPartAGlobAndEveryKindOfReport) {
  const std::filesystem::path device = device_folder(out());
  for (const std::string& report : {out(), device.string(), (device / "journal.jsonl").string()}) {
    for (const char* id : {"both", "*/both/*"}) {
      const ProcessResult result = assay({"show", report, id, "--samples"});
      EXPECT_EQ(result.exit_code, 0) << result.err;
      EXPECT_THAT(result.out, HasSubstr("samples, us by block"));
    }
  }
}

TEST_F(Show, ListsTheIdsWhenSeveralMatch) {
  const ProcessResult result = assay({"show", out(), "small/1x16x4x4"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err,
              HasSubstr("looking for 'small/1x16x4x4' in the report: 2 ids match; name one of them:\n"
                        "  q8ta_pixel_shuffle/small/1x16x4x4/4W4C.4W4C/fused\n"
                        "  q8ta_pixel_shuffle/small/1x16x4x4/4W4C.4C1W/fused\n"));
}

TEST_F(Show, NamesTheNearestIdsWhenNoneMatches) {
  const ProcessResult result = assay({"show", out(), "bth/4W4C"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err,
              HasSubstr("no id matches; the nearest are\n  q8ta_pixel_shuffle/both/4W4C.4W4C/fused\n"));
}

TEST_F(Show, AnswersQuestions) {
  const ProcessResult slowest = assay({"show", out(), "--slowest"});
  EXPECT_EQ(slowest.exit_code, 0) << slowest.err;
  EXPECT_THAT(slowest.out, HasSubstr("1 of 1 row, the longest median time first\n"));
  EXPECT_THAT(slowest.out, HasSubstr("q8ta_pixel_shuffle/both/4W4C.4W4C/fused\n"));
  const ProcessResult worst = assay({"show", out(), "--worst", "2", "--op", "q8ta_*"});
  EXPECT_EQ(worst.exit_code, 0) << worst.err;
  EXPECT_THAT(worst.out, HasSubstr("2 of 5 rows, failures first"));
  const ProcessResult several = assay({"show", out(), "small", "--worst=1", "--group", "impl"});
  EXPECT_THAT(several.out, HasSubstr("1 of 4 rows, failures first"));
  EXPECT_THAT(several.out, HasSubstr("\n4 rows by impl; "));
  EXPECT_THAT(several.out, HasSubstr("  q8ta_pixel_shuffle fused\n"));
}

TEST_F(Show, ListsTheRowsOfAGroup) {
  const ProcessResult rows = assay({"show", out(), "--group", "impl=*fused"});
  EXPECT_EQ(rows.exit_code, 0) << rows.err;
  EXPECT_THAT(rows.out, HasSubstr("6 rows of impl=*fused\n"));
  EXPECT_THAT(rows.out, HasSubstr("q8ta_pixel_shuffle/both/4W4C.4W4C/fused\n"));
  EXPECT_EQ(assay({"show", out(), "--group", "failure=*"}).out,
            "no row of failure=*; `--group failure` shows the groups\n");
}

TEST_F(Show, SaysWhatIsNoQuestion) {
  const ProcessResult none = assay({"show", out(), "--worst", "--op", "clone"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("no row of the report has that id or --op"));
  EXPECT_THAT(assay({"show", out()}).err, HasSubstr("give an id, or ask for --worst, --slowest"));
  EXPECT_EQ(assay({"show", out(), "--group", "colour"}).exit_code, 2);
  EXPECT_EQ(assay({"show", out(), "--group", "colour=red"}).exit_code, 2);
  EXPECT_EQ(assay({"show", out(), "--worst", "0"}).exit_code, 2);
}

TEST_F(Show, AnswersForEachDeviceOfAFolder) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    std::filesystem::create_directories(folder / name);
    std::filesystem::copy(device_folder(out()) / "journal.jsonl", folder / name);
  }
  const ProcessResult result = assay({"show", folder.path().string(), "--slowest", "1"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr(", " + (folder / "a").string() + "\n1 of 1 row"));
  EXPECT_THAT(result.out, HasSubstr(", " + (folder / "b").string() + "\n1 of 1 row"));
}

TEST_F(Show, WantsOneDevice) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) {
    std::filesystem::create_directories(folder / name);
    std::filesystem::copy(device_folder(out()) / "journal.jsonl", folder / name);
  }
  const ProcessResult result = assay({"show", folder.path().string(), "both"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err,
              HasSubstr("holds several devices; name one of them:\n  " + (folder / "a").string()));
}

TEST_F(Show, SaysWhereNoReportIs) {
  const ProcessResult result = assay({"show", "/no/such/folder", "both"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("there is no file or folder /no/such/folder"));
}

}  // namespace
}  // namespace assay::test
