#include "harness/report/record/report_totals.h"

#include "harness/report/writers/writers.h"
#include "tests/support/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace assay {
namespace {

struct Row {
  std::vector<Status> statuses;
  ExitCode code;
};

ExitCode code_of(const std::vector<Status>& statuses) {
  std::vector<Record> records;
  for (const Status status : statuses) records.push_back(test::without_answer("case", status, ""));
  return exit_code(test::report_of(records));
}

TEST(ExitCode, OfTwoDevicesIsTheOneThatCounts) {
  const std::vector<ExitCode> order{ExitCode::Infrastructure, ExitCode::Failures, ExitCode::Usage,
                                    ExitCode::Fine};
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t j = 0; j < order.size(); ++j)
      EXPECT_EQ(exit_code_of_both(order[i], order[j]), order[std::min(i, j)]) << i << ' ' << j;
  }
}

TEST(ExitCode, FollowsFromEachStatusAlone) {
  const std::vector<std::pair<Status, ExitCode>> table = {
      {Status::Pass, ExitCode::Fine},
      {Status::Unsupported, ExitCode::Usage},
      {Status::Invalid, ExitCode::Usage},
      {Status::Skipped, ExitCode::Usage},
      {Status::ExpectedFail, ExitCode::Fine},
      {Status::Fail, ExitCode::Failures},
      {Status::Mistrusted, ExitCode::Failures},
      {Status::Suspect, ExitCode::Failures},
      {Status::Crash, ExitCode::Failures},
      {Status::Timeout, ExitCode::Failures},
      {Status::OutOfMemory, ExitCode::Failures},
      {Status::Flaky, ExitCode::Failures},
      {Status::UnexpectedPass, ExitCode::Failures},
      {Status::DeviceLost, ExitCode::Infrastructure},
      {Status::Missing, ExitCode::Infrastructure},
      {Status::Interrupted, ExitCode::Infrastructure},
  };
  for (const auto& [status, code] : table) EXPECT_EQ(code_of({status}), code) << name_of(status);
}

TEST(ExitCode, IsTheWorstOfAllCases) {
  const std::vector<Row> table = {
      {{}, ExitCode::Usage},
      {{Status::Unsupported, Status::Pass, Status::Invalid}, ExitCode::Fine},
      {{Status::Unsupported, Status::Invalid, Status::Skipped}, ExitCode::Usage},
      {{Status::Pass, Status::Fail, Status::Pass}, ExitCode::Failures},
      {{Status::Fail, Status::Missing, Status::Pass}, ExitCode::Infrastructure},
      {{Status::DeviceLost, Status::Crash}, ExitCode::Infrastructure},
  };
  for (const Row& row : table) {
    std::string names;
    for (const Status status : row.statuses) names += std::string(name_of(status)) + " ";
    EXPECT_EQ(code_of(row.statuses), row.code) << names;
  }
}

TEST(ExitCode, OfAStrictRunIsFailuresWhenARuleIsExpiredOrStale) {
  RunReport report = test::report_of({test::without_answer("case", Status::Pass, "")});
  EXPECT_EQ(exit_code(report, true), ExitCode::Fine);
  report.run.rule_notes = {{.state = "stale"}};
  EXPECT_EQ(exit_code(report, true), ExitCode::Failures);
  EXPECT_EQ(exit_code(report, false), ExitCode::Fine);
  report.records[0].status = Status::Missing;
  EXPECT_EQ(exit_code(report, true), ExitCode::Infrastructure);
}

Record timed_row(double total_ms, double submitted_ms, const TimeSpent& spent) {
  Record record = test::timed("a", "fused", 2.5);
  record.total_ms = total_ms;
  record.perf->submitted_ms = submitted_ms;
  record.spent = spent;
  return record;
}

TEST(TimeTotals, AddUpTheRowsThatWereTimed) {
  const TimeSpent spent{.judging_ms = 100, .filling_ms = 60, .heating_ms = 200, .resting_ms = 12};
  const RunReport report = test::report_of({timed_row(1000, 800, spent), timed_row(3000, 2480, spent),
                                            test::passed("b"), test::timed("old", "fused", 1)});
  const TimeTotals totals = time_totals(report).value();
  EXPECT_DOUBLE_EQ(totals.rows_s, 4);
  EXPECT_DOUBLE_EQ(totals.submitted_s, 3.28);
  EXPECT_DOUBLE_EQ(totals.heating_s, 0.4);
  EXPECT_DOUBLE_EQ(totals.judging_s, 0.2);
  EXPECT_DOUBLE_EQ(totals.filling_s, 0.12);
  EXPECT_DOUBLE_EQ(totals.resting_s, 0.024);
  EXPECT_NEAR(totals.other_s(), 0.376, 1e-9);
  EXPECT_EQ(time_line(totals),
            "4.0 s in timed rows: 82 % submissions (10 % of all to heat the device), 5 % checking outputs, "
            "3 % filling memory, 1 % letting the device cool down, 9 % other");
  const nlohmann::json file = nlohmann::json::parse(run_json(report));
  EXPECT_DOUBLE_EQ(file.at("timed_rows").at("wall_s"), 4);
  EXPECT_DOUBLE_EQ(file.at("timed_rows").at("judging_s"), 0.2);
}

TEST(TimeTotals, AreNothingWithoutSuchRows) {
  const RunReport report = test::report_of({test::passed("b"), test::timed("old", "fused", 1)});
  EXPECT_FALSE(time_totals(report).has_value());
  EXPECT_FALSE(nlohmann::json::parse(run_json(report)).contains("timed_rows"));
}

}  // namespace

}  // namespace assay
