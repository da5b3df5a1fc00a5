#include "tests/cli/sample_run.h"
#include "tests/support/assay_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>

namespace assay::test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Pivot : public SampleRunTest {
 protected:
  static std::string journal() { return read_file(device_folder(out()) / "journal.jsonl"); }
};

// `text` with the first `from` after `after` replaced.
std::string replaced(std::string text, const std::string& after, const std::string& from,
                     const std::string& to) {
  const auto at = text.find(from, text.find(after));
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

// The journal changed as if the run had been on another device.
std::string on_another_device(const std::string& journal) {
  return replaced(journal, R"("device")", R"("name":")", R"("name":"Another )");
}

TEST_F(Pivot, PrintsMarkdownOfEveryDeviceInAFolder) {
  const TemporaryFolder folder;
  folder.write("a/journal.jsonl", journal());
  folder.write("b/journal.jsonl", on_another_device(journal()));
  const ProcessResult result = assay({"pivot", folder.path().string(), "--markdown", "-"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("| device "));
  EXPECT_THAT(result.out, HasSubstr("\n| Another "));
  EXPECT_THAT(result.out, HasSubstr("\n| `q8ta_pixel_shuffle/both/4W4C.4W4C/fused` | fused |"));
  EXPECT_THAT(result.out, EndsWith("\n5 exact outputs equal on 2 devices\n"));
}

TEST_F(Pivot, PrintsWhatFitsATerminal) {
  const TemporaryFolder folder;
  folder.write("a/journal.jsonl", journal());
  folder.write("b/journal.jsonl", on_another_device(journal()));
  const ProcessResult result = assay({"pivot", folder.path().string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, StartsWith("devices\n"));
  EXPECT_THAT(result.out, HasSubstr("\n      ceilings: "));
  EXPECT_THAT(result.out, HasSubstr("    1x  1 row  all ops\n"));
  EXPECT_THAT(result.out, HasSubstr("q8ta_pixel_shuffle/both/4W4C.4W4C/fused\n"));
  EXPECT_THAT(result.out, EndsWith("\n5 exact outputs equal on 2 devices\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("|"))) << "Markdown is for files";
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST_F(Pivot, WritesTheFilesThatAreAskedForAndNothingElse) {
  const TemporaryFolder folder;
  const std::string csv = folder / "p.csv", markdown = folder / "p.md";
  const ProcessResult result = assay({"pivot", out(), out(), "--csv", csv, "--markdown", markdown});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(read_file(csv), StartsWith("case,op,impl,"));
  EXPECT_EQ(std::ranges::count(read_file(csv), '\n'), 2);
  EXPECT_THAT(read_file(csv), HasSubstr("q8ta_pixel_shuffle/both/4W4C.4W4C/fused,q8ta_pixel_shuffle,fused,"));
  EXPECT_EQ(read_file(markdown), assay({"pivot", out(), out(), "--markdown", "-"}).out);
  EXPECT_EQ(read_file(csv), assay({"pivot", out(), out(), "--csv", "-"}).out);
}

TEST_F(Pivot, FindsEqualHashes) {
  const ProcessResult result = assay({"pivot", out(), device_folder(out()).string(), "--hashes"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "5 exact outputs equal on 2 devices\n");
}

TEST_F(Pivot, FindsADifferentHash) {
  const TemporaryFolder folder;
  const std::string key = R"("output_hash":")";
  const std::string other = replaced(journal(), R"("event":"judged")", key, key + "0");
  folder.write("journal.jsonl", on_another_device(other));
  const ProcessResult result = assay({"pivot", out(), folder.path().string(), "--hashes"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_THAT(result.out, StartsWith("q8ta_pixel_shuffle/"));
  EXPECT_THAT(result.out, HasSubstr("\n  Another "));
  EXPECT_THAT(result.out, EndsWith("\n4 exact outputs equal on 2 devices; 1 differs\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("the inputs differ")));
}

TEST_F(Pivot, CannotCompareTheHashesOfOneReport) {
  const ProcessResult result = assay({"pivot", out(), "--hashes"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("comparing hashes: there is only one report"));
}

TEST_F(Pivot, SaysWhereItCannotWriteOrRead) {
  const ProcessResult unwritable = assay({"pivot", out(), "--csv", "/no/such/folder/p.csv"});
  EXPECT_EQ(unwritable.exit_code, 3);
  EXPECT_THAT(unwritable.err, HasSubstr("/no/such/folder/p.csv"));
  const TemporaryFolder empty;
  const ProcessResult unreadable = assay({"pivot", empty.path().string()});
  EXPECT_EQ(unreadable.exit_code, 2);
  EXPECT_THAT(unreadable.err, HasSubstr("journal.jsonl"));
  EXPECT_EQ(assay({"pivot"}).exit_code, 2);
}

}  // namespace
}  // namespace assay::test
