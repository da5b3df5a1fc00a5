#include "harness/commands/export/openmetrics.h"

#include "tests/support/records.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace assay::app {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(UnixTime, IsThatOfTheDate) {
  EXPECT_EQ(unix_seconds("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(unix_seconds("2026-01-02T03:04:05Z"), 1767323045);
  EXPECT_EQ(unix_seconds("2024-02-29T23:59:59Z"), 1709251199);
}

TEST(UnixTime, IsAbsentForWhatIsNoTime) {
  for (const char* text : {"", "yesterday", "2026-01-02", "2026-02-31T00:00:00Z", "2026-01-02T03:04:05Z and",
                           "2026-01-02T03:04:05+01:00", "2026-01-02T25:00:00Z"}) {
    EXPECT_EQ(unix_seconds(text), std::nullopt) << text;
  }
}

RunReport metrics_night(const std::string& date, const std::vector<Record>& records) {
  RunReport report = test::report_of(records);
  report.run.started_utc = date;
  report.run.run_id = date;
  return report;
}

std::string metrics_of(const std::vector<RunReport>& reports,
                       OpenMetrics::Times times = OpenMetrics::Times::All) {
  OpenMetrics metrics;
  for (const RunReport& report : reports) EXPECT_TRUE(metrics.add(report));
  return metrics.text(times);
}

/// The lines of one family.
std::string family_of(const std::string& text, const std::string& name) {
  const auto begin = text.find("# TYPE " + name + " ");
  const auto end = text.find("# TYPE ", begin + 1);
  return begin == text.npos ? "" : text.substr(begin, std::min(end, text.find("# EOF")) - begin);
}

constexpr const char* acme = R"({device="Acme GPU 9",device_key="uuid:000102030405060708090a0b0c0d0e0f")";

TEST(OpenMetrics, HaveTypeUnitAndHelp) {
  const std::string text =
      metrics_of({metrics_night("2026-01-02T03:04:05Z", {test::timed("a", "fused", 4.9)})});
  EXPECT_EQ(family_of(text, "assay_row_time_seconds"),
            "# TYPE assay_row_time_seconds gauge\n"
            "# UNIT assay_row_time_seconds seconds\n"
            "# HELP assay_row_time_seconds Median time of one program.\n"
            "assay_row_time_seconds" +
                std::string(acme) +
                R"(,op="shuffle",impl="fused",id="shuffle/a/1x16x4x8/4W4C.4W4C/fused",cache="hot"} )" +
                "4.9e-06 1767323045\n");
  EXPECT_THAT(family_of(text, "assay_row_ceiling_ratio"), HasSubstr("} 0.125 1767323045\n"));
  EXPECT_THAT(family_of(text, "assay_row_interval_ratio"), HasSubstr("} 0.0075 1767323045\n"));
  EXPECT_THAT(text, EndsWith("\n# EOF\n"));
}

TEST(OpenMetrics, CountRowsByStatusAndSayZero) {
  const std::string text = metrics_of(
      {metrics_night("2026-01-02T03:04:05Z", {test::passed("a"), test::passed("b"), test::failed("c")})});
  const std::string counts = family_of(text, "assay_rows");
  EXPECT_THAT(counts, HasSubstr(std::string(acme) + ",status=\"PASS\"} 2 1767323045\n"));
  EXPECT_THAT(counts, HasSubstr(std::string(acme) + ",status=\"FAIL\"} 1 1767323045\n"));
  EXPECT_THAT(counts, HasSubstr(std::string(acme) + ",status=\"CRASH\"} 0 1767323045\n"));
  EXPECT_EQ(family_of(text, "assay_row_time_seconds"), "") << "no family without values";
}

TEST(OpenMetrics, HaveTheCeilings) {
  const std::string text = metrics_of({metrics_night("2026-01-02T03:04:05Z", {})});
  EXPECT_THAT(text, HasSubstr(std::string(acme) + ",ceiling=\"fp32\"} 5e+13 1767323045\n"));
  EXPECT_THAT(text, HasSubstr(std::string(acme) +
                              ",footprint_bytes=\"1048576\",access=\"read\"} 2.5e+12 1767323045\n"));
  EXPECT_THAT(text, Not(HasSubstr("coop_int8"))) << "the device has none";
  EXPECT_THAT(text, HasSubstr("assay_dispatch_spacing_seconds" + std::string(acme) + "} 2.25e-06 "));
}

TEST(OpenMetrics, EscapeLabels) {
  EXPECT_EQ(labels_text({{"a", "back\\slash"}, {"b", "\"quoted\""}, {"c", "two\nlines"}}),
            R"({a="back\\slash",b="\"quoted\"",c="two\nlines"})");
  EXPECT_EQ(labels_text({{"a", "\x1b[31m\xff"}}), "{a=\"\\\\x1b[31m\xEF\xBF\xBD\"}");
}

TEST(OpenMetrics, PutTheValuesOfASeriesInOrder) {
  const std::string text =
      metrics_of({metrics_night("2026-01-03T00:00:00Z", {test::timed("a", "fused", 3)}),
                  metrics_night("2026-01-01T00:00:00Z", {test::timed("a", "fused", 1)}),
                  metrics_night("2026-01-02T00:00:00Z", {test::timed("a", "fused", 2)})});
  const std::string times = family_of(text, "assay_row_time_seconds");
  const auto first = times.find("} 1e-06 1767225600\n"), second = times.find("} 2e-06 1767312000\n"),
             third = times.find("} 3e-06 1767398400\n");
  EXPECT_NE(first, times.npos);
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
}

TEST(OpenMetrics, OfRobustAccessAreSeriesOfTheirOwn) {
  RunReport robust = metrics_night("2026-01-02T00:00:00Z", {test::timed("a", "fused", 3)});
  robust.run.robust_access = true;
  const std::string text =
      metrics_of({metrics_night("2026-01-01T00:00:00Z", {test::timed("a", "fused", 1)}), robust},
                 OpenMetrics::Times::Newest);
  const std::string times = family_of(text, "assay_row_time_seconds");
  EXPECT_THAT(times, HasSubstr("cache=\"hot\"} 1e-06\n"));
  EXPECT_THAT(times, HasSubstr(",robust_access=\"true\","));
  EXPECT_THAT(times, HasSubstr("} 3e-06\n"));
}

TEST(OpenMetrics, OfRunsWithTheValidationLayerAreSeriesOfTheirOwn) {
  RunReport validated = metrics_night("2026-01-02T00:00:00Z", {test::timed("a", "fused", 3)});
  validated.run.validation = true;
  const std::string text =
      metrics_of({metrics_night("2026-01-01T00:00:00Z", {test::timed("a", "fused", 1)}), validated},
                 OpenMetrics::Times::Newest);
  const std::string times = family_of(text, "assay_row_time_seconds");
  EXPECT_THAT(times, HasSubstr("cache=\"hot\"} 1e-06\n")) << "the newest without the layer";
  EXPECT_THAT(times, HasSubstr(",validation=\"true\","));
  EXPECT_THAT(times, HasSubstr("} 3e-06\n"));
}

TEST(OpenMetrics, OfTheNewestRunHaveNoTimesAndNothingOld) {
  RunReport other = metrics_night("2025-12-31T00:00:00Z", {test::timed("c", "fused", 9)});
  other.run.device.uuid = "ff";
  const std::string text = metrics_of(
      {metrics_night("2026-01-02T00:00:00Z", {test::timed("a", "fused", 2)}),
       metrics_night("2026-01-01T00:00:00Z", {test::timed("a", "fused", 1), test::timed("b", "fused", 5)}),
       other},
      OpenMetrics::Times::Newest);
  const std::string times = family_of(text, "assay_row_time_seconds");
  EXPECT_THAT(times, HasSubstr("} 2e-06\n"));
  EXPECT_THAT(times, Not(HasSubstr("shuffle/b/")));
  EXPECT_THAT(times, HasSubstr("} 9e-06\n")) << "the newest run of another device is older";
  EXPECT_THAT(family_of(text, "assay_run_start_time_seconds"), Not(HasSubstr("2026-01-01")));
}

TEST(OpenMetrics, LeaveOutWhatIsNoNumberOrUnknown) {
  Record record = test::timed("a", "fused", std::numeric_limits<double>::infinity());
  record.perf->pct_peak_bw = 0;
  const std::string text = metrics_of({metrics_night("2026-01-02T03:04:05Z", {record})});
  EXPECT_EQ(family_of(text, "assay_row_time_seconds"), "");
  EXPECT_EQ(family_of(text, "assay_row_ceiling_ratio"), "");
}

TEST(OpenMetrics, NeedATime) {
  OpenMetrics metrics;
  EXPECT_FALSE(metrics.add(metrics_night("yesterday", {test::timed("a", "fused", 2)})));
  EXPECT_EQ(metrics.text(OpenMetrics::Times::All), "# EOF\n");
}

TEST(OpenMetrics, FamiliesAreInTheDocumentAndEndInTheirUnit) {
  const std::string document = test::read_file(std::string(ASSAY_SOURCE_DIR) + "/docs/export.md");
  EXPECT_THAT(document, HasSubstr("\n" + metric_families_markdown()));
  for (const MetricFamily& family : metric_families()) {
    if (family.unit.empty()) continue;
    EXPECT_THAT(std::string(family.name), EndsWith("_" + std::string(family.unit)));
  }
}

}  // namespace

}  // namespace assay::app
