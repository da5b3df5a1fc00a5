#include "harness/report/trend/row_trends.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Nights of one device, one a day from 2026-11-01, with one row per column of times; 0: the night does not
/// have the row.
class Nights {
 public:
  explicit Nights(const std::vector<std::vector<float>>& times) {
    for (std::size_t night = 0; night < times.size(); ++night) {
      NightSummary summary;
      summary.run.date = fmt::format("2026-11-{:02}T01:00:00Z", night + 1);
      for (std::uint32_t row = 0; row < times[night].size(); ++row) {
        if (times[night][row] > 0)
          summary.rows.push_back({.row = row, .status = Status::Pass, .time_us = times[night][row]});
      }
      summaries_.all.push_back(std::move(summary));
      track_.nights.push_back(night);
    }
  }

  std::vector<RowTrend> trends() const { return trends_of(summaries_, track_).rows; }
  TrackTrends all_trends() const { return trends_of(summaries_, track_); }
  std::optional<Period> period(std::string_view since, std::string_view until = {}) const {
    return period_of(summaries_, track_, since, until);
  }
  NightSummary& night(std::size_t number) { return summaries_.all[number]; }

 private:
  NightSummaries summaries_;
  Track track_;
};

/// A row that is slower from the eighth of twelve nights on, and one that stays as it is.
Nights slower_from_the_eighth() {
  std::vector<std::vector<float>> times;
  for (int night = 0; night < 12; ++night) times.push_back({night < 7 ? 10.0F : 12.0F, 5.0F});
  return Nights(times);
}

TEST(RowTrends, HaveTheNightOfAChange) {
  const Nights nights = slower_from_the_eighth();
  const std::vector<RowChange> changes = changes_in(nights.trends(), {0, 11});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].row, 0U);
  EXPECT_EQ(changes[0].place, 7U);
  EXPECT_NEAR(changes[0].ratio(), 1.2, 1e-6);
  EXPECT_THAT(changes_in(nights.trends(), {7, 11}), IsEmpty()) << "it changed before";
  EXPECT_THAT(changes_in(nights.trends(), {0, 6}), IsEmpty()) << "it changes later";
}

TEST(RowTrends, CountOnlyNightsInWhichTheRowPassedWithATime) {
  Nights nights = slower_from_the_eighth();
  nights.night(3).rows[0].time_us = 0;
  nights.night(5).rows[0].status = Status::Fail;
  const std::vector<RowTrend> trends = nights.trends();
  ASSERT_EQ(trends.size(), 2U);
  EXPECT_THAT(trends[0].places, ElementsAre(0, 1, 2, 4, 6, 7, 8, 9, 10, 11));
  EXPECT_EQ(trends[0].level_at(5), trends[0].level_at(4));
  EXPECT_EQ(changes_in(trends, {0, 11}).front().place, 7U);
}

TEST(RowTrends, NameTheLastNightWithATimeBeforeAChange) {
  Nights nights = slower_from_the_eighth();
  for (const std::size_t night : {5U, 6U}) nights.night(night).rows[0].status = Status::Fail;
  const RowChange change = changes_in(nights.trends(), {0, 11}).front();
  EXPECT_EQ(change.place, 7U);
  EXPECT_EQ(change.previous, 4U);
}

TEST(RowTrends, DoNotCallALevelThatCameBackAChange) {
  std::vector<std::vector<float>> times;
  for (int night = 0; night < 15; ++night) times.push_back({night < 5 ? 10.0F : night < 10 ? 12.0F : 10.02F});
  const Nights nights(times);
  EXPECT_EQ(nights.trends()[0].times.changes.size(), 2U);
  EXPECT_THAT(changes_in(nights.trends(), {0, 14}), IsEmpty());
}

TEST(RowTrends, TakeNoTimeThatIsInfinite) {
  Nights nights = slower_from_the_eighth();
  for (const std::size_t night : {1U, 2U})
    nights.night(night).rows[0].time_us = std::numeric_limits<float>::infinity();
  EXPECT_EQ(nights.trends()[0].places.size(), 10U);
}

TEST(RowTrends, LeaveOutRowsOfFewNights) {
  EXPECT_EQ(Nights({{1}, {1}, {1}, {1}, {1}}).trends().size(), 0U);
  EXPECT_EQ(Nights({{1}, {1}, {1}, {1}, {1}, {1}}).trends().size(), 1U);
}

TEST(RowTrends, CompareAYoungRowWithItsFirstLevel) {
  std::vector<std::vector<float>> times;
  for (int night = 0; night < 12; ++night) times.push_back({night < 3 ? 0.0F : night < 8 ? 10.0F : 9.0F});
  const std::vector<RowChange> changes = changes_in(Nights(times).trends(), {0, 11});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_NEAR(changes[0].ratio(), 0.9, 1e-6);
}

TEST(Periods, AreFoundByDates) {
  const Nights nights = slower_from_the_eighth();
  const auto places = [&](std::string_view since, std::string_view until = {}) {
    const auto period = nights.period(since, until);
    return period ? std::pair(static_cast<int>(period->first), static_cast<int>(period->last))
                  : std::pair(-1, -1);
  };
  EXPECT_EQ(places("2026-11-05"), std::pair(4, 11));
  EXPECT_EQ(places("2026-10-01"), std::pair(0, 11)) << "older than all nights";
  EXPECT_EQ(places("2026-11-05", "2026-11-07"), std::pair(4, 6)) << "both days count";
  EXPECT_EQ(places("2026-11-05T00:30:00Z"), std::pair(3, 11)) << "before that day's night";
  EXPECT_EQ(places("2026-10-01", "2026-10-02"), std::pair(-1, -1));
}

TEST(Periods, CountDaysBackOverMonthsAndLeapYears) {
  EXPECT_EQ(days_before("2026-11-26T01:00:00Z", 7), "2026-11-19");
  EXPECT_EQ(days_before("2028-03-01", 1), "2028-02-29");
  EXPECT_EQ(days_before("2026-01-01", 30), "2025-12-02");
  EXPECT_EQ(days_before("yesterday", 1), std::nullopt);
  EXPECT_EQ(days_before("2026-13-01", 1), std::nullopt);
}

/// Twelve nights of eight rows of unchanged programs; the machine is 1.5 times as slow in the eighth to
/// tenth. The last row has another program, and is slower, from the sixth on.
Nights on_a_machine_that_was_slow() {
  std::vector<std::vector<float>> times;
  for (int night = 0; night < 12; ++night) {
    const float machine = night >= 7 && night < 10 ? 1.5F : 1.0F;
    std::vector<float> rows(8, 10.0F * machine);
    rows.push_back((night < 5 ? 10.0F : 12.0F) * machine);
    times.push_back(rows);
  }
  Nights nights(times);
  for (std::size_t night = 0; night < 12; ++night) {
    for (NightRow& row : nights.night(night).rows)
      row.program = row.row < 8 ? 100 + row.row : night < 5 ? 1 : 2;
  }
  return nights;
}

TEST(RowTrends, HaveNoChangeInEveryRowForAMachineThatWasSlow) {
  const Nights nights = on_a_machine_that_was_slow();
  const TrackTrends trends = nights.all_trends();
  EXPECT_THAT(changes_in(trends.rows, {0, 8}), ::testing::SizeIs(1)) << "the period ends on the slow machine";
  const std::vector<RowChange> changes = changes_in(trends.rows, {0, 11});
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].row, 8U);
  EXPECT_EQ(changes[0].place, 5U);
  EXPECT_NEAR(changes[0].ratio(), 1.2, 0.01);
  EXPECT_NEAR(trends.machine[8].ratio, 1.5, 1e-5);
  EXPECT_EQ(trends.machine[8].rows, 9U);
  EXPECT_EQ(trends.machine[11].ratio, 1);
}

TEST(RowTrends, KeepChangesOfEveryRowThatAreNotTheMachines) {
  Nights nights = on_a_machine_that_was_slow();
  for (std::size_t night = 7; night < 12; ++night) nights.night(night).run.driver = "2";
  EXPECT_THAT(changes_in(nights.trends(), {0, 8}), ::testing::SizeIs(9)) << "another driver";
  nights = on_a_machine_that_was_slow();
  for (std::size_t night = 7; night < 12; ++night) {
    for (NightRow& row : nights.night(night).rows) row.program += 1000;
  }
  EXPECT_THAT(changes_in(nights.trends(), {0, 8}), ::testing::SizeIs(9)) << "other programs";
}

TEST(RowTrends, CompareNoTimesOfOtherTunables) {
  Nights nights = slower_from_the_eighth();
  for (std::size_t night = 0; night < 12; ++night) nights.night(night).rows[0].tune = night < 7 ? 1 : 2;
  nights.night(2).rows[1].tune = 0;  // unknown, as in summaries of old runs
  nights.night(11).rows[1].tune = 3;
  const TrackTrends trends = nights.all_trends();
  EXPECT_THAT(changes_in(trends.rows, {0, 11}), IsEmpty());
  EXPECT_EQ(trends.retuned, 1U);
}

}  // namespace
}  // namespace assay
