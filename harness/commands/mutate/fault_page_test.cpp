#include "harness/commands/mutate/fault_page.h"

#include "harness/commands/mutate/fault_reports.h"
#include "harness/commands/mutate/fault_test_support.h"
#include "harness/commands/mutate/kill_matrix.h"
#include "tests/support/error_text.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>
#include <zlib.h>

namespace assay::app {
namespace {

using nlohmann::json;
using test::error_of;
using test::TemporaryFolder;
using ::testing::HasSubstr;

const std::string hostile = "<script>\"x\", 'y'; z\r\n</script>=1+1";

/// One fault of each kind, in code that is hostile to CSV and to markup.
std::vector<FaultRecord> some_records() {
  std::vector<FaultRecord> records{
      fault_record("f1", FaultEnd::Killed, {kill_by("copy/a"), kill_by("copy/b")}),
      fault_record("f2", FaultEnd::Killed, {kill_by("copy/a")}), fault_record("f3", FaultEnd::Survived),
      fault_record("f4", FaultEnd::Equivalent), fault_record("f5", FaultEnd::NotRun)};
  records[2].fault.before = "=" + hostile;
  records[3].result.why = hostile;
  records[4].fault.file = "b.comp";
  return records;
}

/// The JSON in a part: base64 of what zlib deflated.
json json_in(const PagePart& part) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : part.packed.substr(0, part.packed.find('='))) {
    bits = bits << 6 | static_cast<unsigned>(digits.find(c));
    count += 6;
    if (count >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 255);
  }
  std::string text(1 << 20, '\0');
  uLongf size = text.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                       reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()),
            Z_OK);
  return json::parse(text.substr(0, size));
}

TEST(KillMatrixReader, ReadsBackWhatIsWritten) {
  const std::vector<FaultRecord> written = some_records();
  const std::vector<FaultRecord> read = read_kill_matrix(kill_matrix_csv(written));
  ASSERT_EQ(read.size(), written.size());
  EXPECT_EQ(kill_matrix_csv(read), kill_matrix_csv(written));
  EXPECT_EQ(faults_markdown({}, read), faults_markdown({}, written));
  ASSERT_EQ(read[0].result.kills.size(), 2U);
  EXPECT_EQ(read[0].result.kills[1].row, "copy/b");
  EXPECT_EQ(read[0].result.kills[1].how, "wrong_value");
  EXPECT_EQ(read[2].fault.before.front(), '=') << "the apostrophe that keeps spreadsheets off is gone";
}

TEST(KillMatrixReader, NamesTheLineThatIsWrong) {
  const std::string good = kill_matrix_csv(some_records());
  const auto error_with = [&](const std::string& from, const std::string& to) {
    std::string csv = good;
    csv.replace(csv.find(from), from.size(), to);
    return error_of([&] { read_kill_matrix(csv); });
  };
  EXPECT_THAT(error_with("line,column", "lime,column"), HasSubstr("line 2: the column 'line' is missing"));
  EXPECT_THAT(error_with("f2,a.comp,7", "f2,a.comp,x7"),
              HasSubstr("line 3: 'x7' in the column 'line' is no number"));
  EXPECT_THAT(error_with("killed,2", "eaten,2"), HasSubstr("line 2: "));
  EXPECT_THAT(error_with("killed,2", "killed,99999999999"), HasSubstr("line 2: "));
  EXPECT_THAT(error_with("f2,a.comp", "f2,\"a.comp"), HasSubstr("line 3"));
}

TEST(FaultPart, HasTheScoreAndWhatSurvived) {
  const TemporaryFolder folder;
  folder.write("kill_matrix.csv", kill_matrix_csv(some_records()));
  folder.write("faults.md", faults_markdown({.device = "llvmpipe"}, some_records()));
  const PagePart part = fault_part(folder.path());
  EXPECT_EQ(part.name, "faults");
  const json data = json_in(part);
  EXPECT_EQ(data["score"], "66.7 % (2 of 3)");
  EXPECT_THAT(data["about"].get<std::string>(), HasSubstr("on llvmpipe"));
  EXPECT_EQ(data["files"].size(), 2U);
  EXPECT_EQ(data["files"][1]["not_run"], 1);
  EXPECT_TRUE(data["files"][1]["percent"].is_null());
  ASSERT_EQ(data["survivors"].size(), 1U);
  EXPECT_EQ(data["survivors"][0]["line"], 7);
  EXPECT_EQ(data["survivors"][0]["rows_ran"], 5);
  ASSERT_EQ(data["fragile"].size(), 1U);
  EXPECT_EQ(data["fragile"][0]["killed_by"], "copy/a");
  EXPECT_EQ(data["equivalent"].size(), 1U);
  EXPECT_EQ(data["csv"], kill_matrix_csv(some_records()));
}

TEST(FaultPart, SaysNothingAboutTheRunIfTheSummaryIsOfAnotherMatrix) {
  const TemporaryFolder folder;
  std::vector<FaultRecord> records = some_records();
  folder.write("faults.md", faults_markdown({.device = "llvmpipe"}, records));
  records.pop_back();
  records.push_back(fault_record("f6", FaultEnd::Survived));
  folder.write("kill_matrix.csv", kill_matrix_csv(records));
  EXPECT_EQ(json_in(fault_part(folder.path()))["about"], "");
}

TEST(FaultPart, NeedsAMatrix) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { fault_part(folder.path()); }), HasSubstr("there is no "));
  folder.write("kill_matrix.csv", "fault,file\r\nf1,a.comp\r\n");
  EXPECT_THAT(error_of([&] { fault_part(folder.path()); }), HasSubstr("kill_matrix.csv: line 2: "));
}

}  // namespace
}  // namespace assay::app
