#include "harness/report/trend/trend_report.h"

#include "tests/support/error_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Ten nights of `rows` rows, which become slower on 2026-11-08 with another commit.
class SlowerOnTheEighth {
 public:
  explicit SlowerOnTheEighth(std::uint32_t rows) {
    for (int night = 1; night <= 10; ++night) {
      NightSummary summary;
      const bool is_slow = night >= 8;
      summary.run = {.run_id = fmt::format("run{}", night),
                     .date = fmt::format("2026-11-{:02}T01:00:00Z", night),
                     .device = "Acme",
                     .device_key = "acme",
                     .driver = "1.2",
                     .commit = is_slow ? "bbb" : "aaa"};
      for (std::uint32_t row = 0; row < rows; ++row) {
        const std::uint32_t number = nights.numbers.number_of({fmt::format("op/row{}", row), "perf", "cold"});
        const float slow = 12.0F + static_cast<float>(row);
        summary.rows.push_back({.row = number, .status = Status::Pass, .time_us = is_slow ? slow : 10.0F});
      }
      track.nights.push_back(nights.all.size());
      nights.all.push_back(std::move(summary));
    }
  }

  std::string text(const TrendQuestion& question = {}, const TrendView& view = {}) const {
    return trend_text(nights, changes_of(nights, track, trends_of(nights, track), question), view);
  }

  NightSummaries nights;
  Track track;
};

TEST(TrendText, SaysWhatChangedAndSinceWhen) {
  const std::string text = SlowerOnTheEighth(2).text({}, {.width = 200});
  EXPECT_THAT(text, AllOf(HasSubstr("10 nights, 2 rows judged; half of them see a change of 3.0 %"),
                          HasSubstr("2026-11-03 to 2026-11-10: 2 rows slower, 0 faster"),
                          HasSubstr("from 2026-11-08 on (run run8; before that: 2026-11-07): commit aaa -> "
                                    "bbb, driver 1.2 as before")));
  EXPECT_THAT(text, HasSubstr("  1.30x         10      13      3.0 %  op/row1 (cold)\n"
                              "  1.20x         10      12      3.0 %  op/row0 (cold)"));
}

TEST(TrendText, WritesLongTimesWithoutAnExponent) {
  SlowerOnTheEighth nights(1);
  for (NightSummary& night : nights.nights.all) {
    for (NightRow& row : night.rows) row.time_us *= 1713;
  }
  EXPECT_THAT(nights.text({}, {.width = 200}), HasSubstr("  1.20x      17130   20556      3.0 %  op/row0"));
}

TEST(TrendText, CoversThePeriodThatIsAskedFor) {
  const SlowerOnTheEighth nights(1);
  EXPECT_THAT(nights.text({.days = 2}), HasSubstr("2026-11-08 to 2026-11-10: 0 rows slower"));
  EXPECT_THAT(nights.text({.since = "2026-11-07"}), HasSubstr("2026-11-07 to 2026-11-10: 1 row slower"));
  EXPECT_THAT(nights.text({.until = "2026-11-07"}), HasSubstr("2026-11-01 to 2026-11-07: 0 rows slower"));
  EXPECT_THAT(nights.text({.until = "2025-01-01"}), HasSubstr("no night in that period"));
  EXPECT_EQ(test::error_of([&] { nights.text({.since = "2026-12-01", .until = "2026-11-01"}); }),
            "choosing a period: 2026-11-01 is before 2026-12-01");
  EXPECT_EQ(test::error_of([&] { nights.text({.since = "monday"}); }),
            "choosing a period: 'monday' is no date; write it as 2026-11-26");
}

TEST(TrendText, ListsTenRowsOfANightUnlessAllAreWanted) {
  const SlowerOnTheEighth nights(12);
  EXPECT_THAT(nights.text(), AllOf(HasSubstr("and 2 more (--all lists them)"), Not(HasSubstr("row1 "))));
  EXPECT_THAT(nights.text({}, {.all = true}), AllOf(Not(HasSubstr("--all")), HasSubstr("row1 ")));
}

TEST(TrendText, SaysHowManyRowsHaveTooFewNights) {
  SlowerOnTheEighth nights(2);
  for (std::size_t night = 0; night < 5; ++night) nights.nights.all[night].rows.pop_back();
  EXPECT_THAT(nights.text(), HasSubstr("; 1 row with times in fewer than 6 nights are not judged"));
}

TEST(TrendText, SaysWhatIsNotComparedAndWhatWasTakenOut) {
  SlowerOnTheEighth nights(6);
  NightSummary robust = nights.nights.all[3];
  robust.run.run_id = "robust";
  robust.run.robust_access = true;
  nights.nights.all.push_back(robust);
  for (std::size_t night = 0; night < 10; ++night) {
    for (NightRow& row : nights.nights.all[night].rows) row.program = 7;
  }
  const std::string text = nights.text({}, {.width = 200});
  EXPECT_THAT(text,
              HasSubstr("\nnot compared with the device's runs of other kinds: these are plain, others with "
                        "robust access (--robust-access)\n"));
  EXPECT_THAT(text,
              HasSubstr("\nthe machine, taken out of the times: 2026-11-08 to 2026-11-10: 1.45x slower (6 "
                        "unchanged rows)\n"));
  for (std::size_t night = 0; night < 10; ++night) {
    for (NightRow& row : nights.nights.all[night].rows) row.tune = night < 7 && row.row == 0 ? 1 : 2;
  }
  EXPECT_THAT(nights.text({}, {.width = 200}),
              HasSubstr("\n1 row is not compared with times from before: their tunables were others\n"));
}

TEST(TrendText, SaysThatRunsWithTheValidationLayerAreNotCompared) {
  SlowerOnTheEighth nights(1);
  NightSummary validated = nights.nights.all.back();
  validated.run.run_id = "validated";
  validated.run.validation = true;
  nights.nights.all.push_back(validated);
  EXPECT_THAT(nights.text({}, {.width = 200}),
              HasSubstr("\nnot compared with the device's runs of other kinds: these are plain, others with "
                        "the validation layer (--validation)\n"));
  nights.track.nights = {nights.nights.all.size() - 1};
  const std::string text = nights.text({}, {.width = 200});
  EXPECT_THAT(text, StartsWith("Acme, with the validation layer (--validation)\n"));
  EXPECT_THAT(text, HasSubstr("\nnot compared with the device's runs of other kinds: these are with the "
                              "validation layer (--validation), others plain\n"));
  EXPECT_THAT(nights.text({}, {.width = 40}),
              StartsWith("Acme, with the validation layer\n(--validation)\n"));
}

TEST(TrendText, NamesEachOtherKindOfRun) {
  SlowerOnTheEighth nights(1);
  for (const bool is_robust : {true, false}) {
    NightSummary& other = nights.nights.all.emplace_back(nights.nights.all.front());
    other.run.run_id = is_robust ? "robust" : "validated";
    other.run.robust_access = is_robust;
    other.run.validation = !is_robust;
  }
  EXPECT_THAT(nights.text({}, {.width = 200}),
              HasSubstr("\nnot compared with the device's runs of other kinds: these are plain, others with "
                        "the validation layer (--validation) or with robust access (--robust-access)\n"));
}

TEST(TrendText, OneNightIsNoPlural) {
  SlowerOnTheEighth nights(1);
  nights.track.nights.resize(1);
  EXPECT_THAT(nights.text(), HasSubstr("1 night, 0 rows judged"));
}

TEST(TrendText, BearsADateThatIsNone) {
  SlowerOnTheEighth nights(1);
  nights.nights.all.back().run.date = "\x1b[31m";
  EXPECT_THAT(nights.text(), HasSubstr("no night in that period"));
}

TEST(TrendCsv, HasTheNightOfEachChange) {
  const SlowerOnTheEighth nights(1);
  EXPECT_THAT(
      trend_csv(nights.nights,
                {changes_of(nights.nights, nights.track, trends_of(nights.nights, nights.track), {})}),
      HasSubstr("Acme,op/"
                "row0,perf,cold,10,12,1.2000,3.00,run8,2026-11-08T01:00:00Z,aaa,bbb,1.2,1.2,1.0000,1.0000"));
}

}  // namespace
}  // namespace assay
