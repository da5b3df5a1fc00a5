#include "harness/commands/mutate/equivalent_faults.h"

#include "harness/commands/mutate/fault_test_support.h"
#include "tests/support/error_text.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::app {
namespace {

using test::error_of;
using test::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* one_entry =
    "- fault: f1\n  file: a.comp\n  operator: bound_off_by_one\n  line: 11223344\n  reason: the sizes are "
    "equal\n";

std::vector<EquivalentFault> entries_of(const std::string& text) {
  const TemporaryFolder folder;
  folder.write("equivalent.yaml", text);
  return read_equivalent_faults(folder / "equivalent.yaml");
}

std::vector<std::string> wrong_with(const FaultRecord& record) {
  const std::vector<mutation::Fault> all{record.fault};
  const std::vector<FaultRecord> records{record};
  return wrong_entries(entries_of(one_entry), all, records, {record.fault.file, "a.comp"});
}

TEST(EquivalentFaults, OfAFileThatIsGoneAreWrong) {
  const std::vector<std::string> wrong = wrong_entries(entries_of(one_entry), {}, {}, {"b.comp"});
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_NE(wrong[0].find("there is no such file any more"), std::string::npos) << wrong[0];
}

TEST(EquivalentFaults, AreRead) {
  const std::vector<EquivalentFault> entries = entries_of(std::string("# Comment.\n") + one_entry);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].id, "f1");
  EXPECT_EQ(entries[0].reason, "the sizes are equal");
  EXPECT_EQ(entries[0].where, 2);
}

TEST(EquivalentFaults, AreNoneInAFileOfComments) {
  EXPECT_THAT(entries_of("# None yet.\n"), IsEmpty());
}

TEST(EquivalentFaults, NeedEachKey) {
  EXPECT_THAT(error_of([] { entries_of("- fault: f1\n  file: a.comp\n"); }),
              HasSubstr("'operator' is missing"));
  EXPECT_THAT(error_of([] { entries_of(one_entry + std::string("  because: of it\n")); }),
              HasSubstr("equivalent.yaml:6: unknown key 'because'"));
  EXPECT_THAT(error_of([] { entries_of(one_entry + std::string(one_entry)); }),
              HasSubstr("f1 is listed twice"));
  EXPECT_THAT(error_of([] { entries_of("a: ["); }), HasSubstr("equivalent.yaml:"));
}

TEST(EquivalentFaults, MarkSurvivorsAlone) {
  std::vector<FaultRecord> records{fault_record("f1", FaultEnd::Survived),
                                   fault_record("f2", FaultEnd::Survived)};
  mark_equivalent(entries_of(one_entry), records);
  EXPECT_EQ(records[0].result.end, FaultEnd::Equivalent);
  EXPECT_EQ(records[0].result.why, "the sizes are equal");
  EXPECT_EQ(records[1].result.end, FaultEnd::Survived);
}

TEST(EquivalentFaults, AreRightIfTheFaultSurvives) {
  EXPECT_THAT(wrong_with(fault_record("f1", FaultEnd::Survived)), IsEmpty());
}

TEST(EquivalentFaults, AreWrongIfARowKillsTheFault) {
  EXPECT_THAT(wrong_with(fault_record("f1", FaultEnd::Killed, {kill_by("copy/small")})),
              ElementsAre(HasSubstr("row 'copy/small' kills it")));
}

TEST(EquivalentFaults, AreStaleIfTheLineHasChanged) {
  FaultRecord changed = fault_record("f1", FaultEnd::Survived);
  changed.fault.line_hash = "55667788";
  EXPECT_THAT(wrong_with(changed), ElementsAre(HasSubstr("the line has changed")));
  EXPECT_THAT(wrong_with(fault_record("f2", FaultEnd::Survived)),
              ElementsAre(HasSubstr("the line has changed")));
}

TEST(EquivalentFaults, OfFilesThatWereNotAskedForAreLeftAlone) {
  FaultRecord other = fault_record("f2", FaultEnd::Survived);
  other.fault.file = "b.comp";
  EXPECT_THAT(wrong_with(other), IsEmpty());
}

}  // namespace
}  // namespace assay::app
