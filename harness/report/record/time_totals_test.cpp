#include "harness/report/record/time_totals.h"

#include "harness/report/writers/writers.h"
#include "tests/support/records.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace assay {
namespace {

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
