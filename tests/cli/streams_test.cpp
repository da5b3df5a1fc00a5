#include "harness/report/journal/journal.h"
#include "tests/cli/sample_cases.h"
#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

// Odd standard descriptors: closed, full, and with nobody at their other end.

namespace assay::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The binary with these words, run by a shell that redirects as `redirection` says.
ProcessResult assay_in_shell(const std::string& words, const std::string& redirection) {
  return run({.words = {"bash", "-c", "exec \"$0\" " + words + " " + redirection, ASSAY_BINARY}});
}

TEST(Streams, ClosedOnesLeaveTheJournalAlone) {
  for (const char* redirection : {">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
    const TemporaryFolder folder;
    const std::string cases = folder.write("c.yaml", shuffle_cases), out = folder / "out";
    const ProcessResult result = assay_in_shell("run " + cases + " --mode accu --out " + out, redirection);
    EXPECT_EQ(result.exit_code, 0) << redirection << result.err;
    const RunReport report = read_journal(device_folder(out) / "journal.jsonl");
    EXPECT_TRUE(report.complete) << redirection;
    EXPECT_EQ(report.records.size(), 4U) << redirection;
  }
}

TEST(Streams, AnOutputThatDoesNotTakeWhatIsPrintedIsAnErrorOfTheInfrastructure) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", shuffle_cases), out = folder / "out";
  ASSERT_EQ(assay({"run", cases, "--out", out}).exit_code, 0);
  for (const std::string& words :
       {"list " + cases, std::string("ops"), std::string("schema"), std::string("--help"), "report " + out,
        "pivot " + out, "show " + out + " small/1x16x4x4/4W4C.4W4C", "compare " + out + " " + out,
        "run " + cases + " --out " + out + "2"}) {
    const ProcessResult result = assay_in_shell(words, ">/dev/full");
    EXPECT_EQ(result.exit_code, 3) << words;
    EXPECT_THAT(result.err, HasSubstr("cannot write to stdout: ")) << words;
  }
}

TEST(Streams, APipeThatNobodyReadsEndsNoRun) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", shuffle_cases), out = folder / "out";
  const ProcessResult result =
      run({.words = {"bash", "-c", "\"$0\" run " + cases + " --out " + out + " | true; exit ${PIPESTATUS[0]}",
                     ASSAY_BINARY}});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  EXPECT_TRUE(read_journal(device_folder(out) / "journal.jsonl").complete);
}

TEST(Streams, AFileThatMayNotGrowIsAnErrorThatSaysSo) {
  const TemporaryFolder folder;
  const std::string cases = folder.write("c.yaml", shuffle_cases), out = folder / "out";
  const ProcessResult result = run({.words = {"bash", "-c",
                                              "ulimit -f 1; exec \"$0\" run " + cases +
                                                  " --ceilings none --answer-cache none --out " + out,
                                              ASSAY_BINARY}});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("File too large"));
  EXPECT_THAT(result.err, Not(HasSubstr("internal error")));
}

TEST(Streams, AFileOfAnOptionMayBeADevice) {
  const TemporaryFolder folder;
  ASSERT_EQ(assay({"run", folder.write("c.yaml", shuffle_cases), "--out", folder / "out"}).exit_code, 0);
  std::filesystem::create_symlink("/dev/full", folder / "full.csv");
  const ProcessResult result = assay({"pivot", folder / "out", "--csv", folder / "full.csv"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("No space left on device"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "full.csv"));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

}  // namespace
}  // namespace assay::test
