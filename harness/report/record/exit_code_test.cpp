#include "harness/report/record/exit_code.h"

#include "tests/support/records.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace assay
