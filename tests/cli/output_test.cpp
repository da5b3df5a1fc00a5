#include "harness/report/journal/journal.h"
#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

// Where runs put their reports.

namespace assay::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// The binary, run in a folder of its own with the cases c.yaml.
struct Desk {
  TemporaryFolder folder;

  Desk() { folder.write("cases/c.yaml", shuffle_cases); }
  ProcessResult assay(std::vector<std::string> words) const {
    words.insert(words.begin(), fs::absolute(ASSAY_BINARY));
    return run({.words = std::move(words), .directory = folder.path()});
  }
  std::size_t runs_in(const std::string& out) const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder / (out + "/runs")), {}));
  }
};

TEST(Output, TwoRunsIntoTheDefaultFolderAreBothKept) {
  const Desk desk;
  const ProcessResult first = desk.assay({"run"});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const fs::path newest = device_folder(desk.folder / "assay-out");
  const fs::path old = fs::canonical(newest);
  EXPECT_THAT(first.out, HasSubstr("reports assay-out/runs/"));
  ASSERT_EQ(desk.assay({"run"}).exit_code, 0);
  EXPECT_EQ(desk.runs_in("assay-out"), 2U);
  EXPECT_TRUE(fs::exists(old / "accu.csv"));
  EXPECT_NE(fs::canonical(newest), old) << "the link names the newest run";
  EXPECT_EQ(read_journal(newest / "journal.jsonl").run.run_id,
            fs::canonical(newest).parent_path().filename());
}

TEST(Output, ALookAtSomeCasesGoesToScratch) {
  const Desk desk;
  ASSERT_EQ(desk.assay({"run", "--filter", "*2x24x8x5*"}).exit_code, 0);
  EXPECT_TRUE(fs::exists(device_folder(desk.folder / "assay-out/scratch") / "accu.csv"));
  EXPECT_FALSE(fs::exists(desk.folder / "assay-out/runs"));
  const ProcessResult result = desk.assay({"show", "assay-out", "small"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("assay-out/scratch has the newest run"));
}

TEST(Output, AnOutThatHoldsARunIsRefusedUnlessOverwriteIsGiven) {
  const Desk desk;
  ASSERT_EQ(desk.assay({"run", "--out", "out"}).exit_code, 0);
  const fs::path old = fs::canonical(device_folder(desk.folder / "out"));
  const std::string journal = read_file(old / "journal.jsonl");
  const ProcessResult refused = desk.assay({"run", "--out", "out"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--out 'out' already holds a run"));
  EXPECT_THAT(refused.err, HasSubstr("--overwrite"));
  EXPECT_EQ(desk.runs_in("out"), 1U);
  EXPECT_EQ(desk.assay({"run", "--out", "out", "--overwrite"}).exit_code, 0);
  EXPECT_EQ(desk.runs_in("out"), 2U);
  EXPECT_EQ(read_file(old / "journal.jsonl"), journal) << "the old run is as it was";
  EXPECT_NE(fs::canonical(device_folder(desk.folder / "out")), old);
}

TEST(Output, AFolderOfAnOlderVersionIsNotReplacedByALink) {
  const Desk desk;
  ASSERT_EQ(desk.assay({"run"}).exit_code, 0);
  const fs::path link = device_folder(desk.folder / "assay-out");
  fs::remove(link);
  desk.folder.write("assay-out/" + link.filename().string() + "/accu.csv", "precious");
  const ProcessResult result = desk.assay({"run"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("move it away (mv 'assay-out/" + link.filename().string() + "'"));
  EXPECT_EQ(read_file(link / "accu.csv"), "precious");
}

TEST(Output, EveryReaderTakesAnOutputFolderARunADeviceAndAJournal) {
  const Desk desk;
  ASSERT_EQ(desk.assay({"run"}).exit_code, 0);
  const std::string device = "assay-out/" + device_folder(desk.folder / "assay-out").filename().string();
  const std::string run = fs::canonical(desk.folder / device).parent_path();
  for (const std::string& report : {std::string("assay-out"), device, run, device + "/journal.jsonl"}) {
    EXPECT_EQ(desk.assay({"report", report}).exit_code, 0) << report;
    EXPECT_EQ(desk.assay({"show", report, "small/1x16x4x4/4W4C.4W4C"}).exit_code, 0) << report;
    EXPECT_EQ(desk.assay({"pivot", report}).exit_code, 0) << report;
    EXPECT_EQ(desk.assay({"compare", report, report}).exit_code, 0) << report;
  }
}

}  // namespace
}  // namespace assay::test
