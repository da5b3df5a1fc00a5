#include "harness/report/record/failure_groups.h"

#include "tests/support/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using ::testing::Contains;
using ::testing::Not;

Record row(const std::string& name, const std::string& forms, const std::string& impl = "fused") {
  Record record = test::passed(name);
  record.info.forms = forms;
  record.info.impl = impl;
  record.info.params = "factor=" + std::to_string(name.size());
  return record;
}

Record diagnosed(Record record, const std::string& word) {
  const RowInfo info = record.info;
  record = test::failed(info.name);
  record.info = info;
  record.accuracy->diagnosis = Diagnosis{word, "as if something were something else", 1};
  return record;
}

constexpr const char* to_buffer = "x=texture3d/CP y=buffer/CP";
constexpr const char* to_texture = "x=buffer/CP y=texture3d/CP";

/// So many rows of these forms and this impl, which fail with a diagnosis or pass (empty).
void add_rows(std::vector<Record>& records, int count, const char* forms, const char* impl,
              const std::string& word) {
  for (int i = 0; i < count; ++i) {
    const Record record = row("r" + std::to_string(100 + records.size()), forms, impl);
    records.push_back(word.empty() ? record : diagnosed(record, word));
  }
}

std::string first_text(const std::vector<Record>& records) {
  return group_text(failure_groups(test::report_of(records)).at(0));
}

TEST(FailureGroups, SayWhatTheyShareThatRowsWhichPassHaveNot) {
  std::vector<Record> records;
  for (const char* impl : {"fused", "tiled"}) {
    add_rows(records, 5, to_buffer, impl, "unwritten");
    add_rows(records, 6, to_texture, impl, "");
  }
  EXPECT_EQ(
      first_text(records),
      "10 of 10 rows of shuffle with x in a 3D texture (the same rows: y in a buffer), none of 12 without: "
      "never written");
}

TEST(FailureGroups, TellTwoTraitsWhereOneIsNotEnough) {
  std::vector<Record> records;
  add_rows(records, 8, to_buffer, "tiled", "tail");
  add_rows(records, 8, to_buffer, "fused", "");
  add_rows(records, 8, to_texture, "tiled", "");
  add_rows(records, 8, to_texture, "fused", "");
  EXPECT_EQ(first_text(records),
            "8 of 8 rows of shuffle with x in a 3D texture and impl tiled, none of 24 without: tail");
}

TEST(FailureGroups, NameNoTraitThatTooFewRowsCouldContradict) {
  // Ten rows fail, for another reason than their forms, which nearly all rows have.
  std::vector<Record> records;
  add_rows(records, 10, to_buffer, "fused", "tail");
  add_rows(records, 30, to_buffer, "fused", "");
  add_rows(records, 2, to_texture, "fused", "");
  EXPECT_EQ(first_text(records), "10 of 42 rows of shuffle: tail");
  add_rows(records, 40, to_texture, "fused", "");
  EXPECT_EQ(
      first_text(records),
      "10 of 40 rows of shuffle with x in a 3D texture (the same rows: y in a buffer), none of 42 without: "
      "tail");
}

TEST(FailureGroups, NameNoTraitForTwoRows) {
  std::vector<Record> records;
  add_rows(records, 2, to_buffer, "fused", "tail");
  add_rows(records, 3, to_texture, "fused", "");
  EXPECT_EQ(first_text(records), "2 of 5 rows of shuffle: tail");
}

TEST(FailureGroups, OneRowSharesNothing) {
  const RunReport report = test::report_of({diagnosed(row("a", to_buffer), "sign"), row("b", to_texture)});
  EXPECT_EQ(group_text(failure_groups(report).at(0)), "1 of 2 rows of shuffle: sign");
}

TEST(FailureGroups, AreByKindTheLargestFirstAndWhatNeverRanLast) {
  const RunReport report = test::report_of({test::without_answer("a", Status::Missing, "not reached"),
                                            test::without_answer("b", Status::Missing, "not reached"),
                                            test::without_answer("c", Status::Crash, "signal 11 after 3 s"),
                                            test::without_answer("d", Status::Crash, "signal 11 after 17 s"),
                                            diagnosed(row("e", to_buffer), "scale")});
  const std::vector<FailureGroup> groups = failure_groups(report);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].kind, "signal 11 after 3 s");
  EXPECT_EQ(groups[0].rows.size(), 2U) << "numbers in reasons do not tell kinds apart";
  EXPECT_EQ(groups[1].kind, "scale");
  EXPECT_EQ(groups[2].status, Status::Missing);
  EXPECT_EQ(group_text(groups[2]), "2 rows of shuffle: not reached");
  EXPECT_TRUE(failure_groups(test::report_of({test::passed("a")})).empty());
}

TEST(FailureGroups, AreByMetricWhereThereIsNoDiagnosis) {
  EXPECT_EQ(failure_groups(test::report_of({test::failed("a")})).at(0).kind, "wrong value");
}

TEST(FailureGroups, AreListedByAnOptionThatAShellTakes) {
  Record crash = test::without_answer("c", Status::Crash, "it's gone: signal 11");
  const auto option = [&] { return listing_option(failure_groups(test::report_of({crash})).at(0)); };
  EXPECT_EQ(option(), "--group 'failure=CRASH it?s gone: signal #'");
  crash.reason = std::string(300, 'x');
  EXPECT_EQ(option(), "--group 'failure=CRASH " + std::string(51, 'x') + "*'");
}

TEST(FailureGroups, WithNewFailuresAreFirstAndShowANewOne) {
  const RunReport report =
      test::report_of({diagnosed(row("a", to_buffer), "scale"), diagnosed(row("b", to_buffer), "scale"),
                       diagnosed(row("c", to_buffer), "tail"), diagnosed(row("d", to_buffer), "sign"),
                       diagnosed(row("e", to_buffer), "sign")});
  std::vector<RowOutcome> rows;
  for (const Record& record : report.records) rows.push_back(outcome_of(record));
  rows[2].is_new = rows[4].is_new = true;
  const std::vector<FailureGroup> groups = failure_groups(rows);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].name, "FAIL sign");
  EXPECT_EQ(groups[0].is_new, 1U);
  EXPECT_EQ(groups[0].example_row, 4U);
  EXPECT_EQ(groups[1].name, "FAIL tail") << "a single new failure comes before two old ones";
  EXPECT_EQ(groups[2].name, "FAIL scale");
}

TEST(RowTraits, AreInWords) {
  RowInfo info = test::sample_case("a");
  info.forms = "x=buffer/CONV2D(4C) y=texture2d/WP";
  info.shape = "2x3x5x8";
  info.tune = "local_size=64";
  const std::vector<std::string> traits = traits_of(info);
  for (const char* trait :
       {"x in a buffer", "y in a 2D texture", "x in 4C", "x and y in different layouts", "impl fused",
        "tuned local_size = 64", "a last dim that is a multiple of 4",
        "a third-last dim that is not a multiple of 4", "a first dim above 1", "rank 4"}) {
    EXPECT_THAT(traits, Contains(trait));
  }
  EXPECT_THAT(traits, Not(Contains("nothing tuned")));
  info.tune.clear();
  EXPECT_THAT(traits_of(info), Contains("nothing tuned"));
  info.tuned = "local_size=32 (line 3)";
  EXPECT_THAT(traits_of(info), Contains("tuned local_size = 32"));
  EXPECT_THAT(traits_of(info), Not(Contains("nothing tuned")));
}

}  // namespace
}  // namespace assay
