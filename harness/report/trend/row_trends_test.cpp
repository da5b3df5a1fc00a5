#include "harness/report/trend/row_trends.h"

#include "harness/base/file.h"
#include "harness/report/writers/csv.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace assay {
namespace {

using ::testing::DoubleNear;
using ::testing::IsEmpty;

/// Times of nights around a level, which scatter by 1 %.
std::vector<double> nights_at(std::initializer_list<std::pair<int, double>> levels, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 0.01);
  std::vector<double> values;
  for (const auto& [count, level] : levels) {
    for (int i = 0; i < count; ++i) values.push_back(level * std::exp(noise(random)));
  }
  return values;
}

TEST(TimeLevelsTest, HaveNoChangeWithoutOne) {
  const auto found = time_levels(nights_at({{30, 100}}));
  ASSERT_TRUE(found);
  EXPECT_THAT(found->changes, IsEmpty());
  EXPECT_THAT(found->levels, testing::Each(DoubleNear(100, 1)));
  EXPECT_NEAR(found->deviation, 0.01, 0.005);
}

TEST(TimeLevelsTest, HaveTheNightOfAStep) {
  const auto found = time_levels(nights_at({{20, 100}, {10, 106}}));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->changes.size(), 1U);
  EXPECT_NEAR(static_cast<double>(found->changes[0].first), 20, 1);
  EXPECT_NEAR(found->changes[0].ratio, 1.06, 0.01);
  EXPECT_NEAR(found->levels.front(), 100, 1);
  EXPECT_NEAR(found->levels.back(), 106, 1);
}

TEST(TimeLevelsTest, HaveEveryStepOfSeveral) {
  const auto found = time_levels(nights_at({{15, 100}, {10, 90}, {15, 100}}));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->changes.size(), 2U);
  EXPECT_NEAR(found->changes[0].ratio, 0.9, 0.01);
  EXPECT_NEAR(found->changes[1].ratio, 1 / 0.9, 0.01);
}

TEST(TimeLevelsTest, TakeTwoSlowNightsForOutliers) {
  std::vector<double> values = nights_at({{30, 100}});
  values[10] = values[11] = 160;
  EXPECT_THAT(time_levels(values)->changes, IsEmpty());
  values[28] = values[29] = 160;
  EXPECT_THAT(time_levels(values)->changes, IsEmpty()) << "also if they are the newest";
}

TEST(TimeLevelsTest, FollowASlowDriftInSteps) {
  std::vector<double> values = nights_at({{60, 100}});
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= 1 + 0.1 * static_cast<double>(i) / 60;
  const auto found = time_levels(values);
  EXPECT_GT(found->levels.back() / found->levels.front(), 1.05) << "the middles of its first and last step";
  EXPECT_LT(found->levels.back() / found->levels.front(), 1.1);
}

TEST(TimeLevelsTest, AreUnknownForFewNights) {
  EXPECT_FALSE(time_levels(std::vector<double>{1, 1, 1, 2, 2}));
  const auto six = time_levels(std::vector<double>{1, 1, 1, 2, 2, 2});
  ASSERT_TRUE(six);
  ASSERT_EQ(six->changes.size(), 1U);
  EXPECT_EQ(six->changes[0].first, 3U);
  EXPECT_DOUBLE_EQ(six->changes[0].ratio, 2);
}

// How often changes are found, and how often there is a false alarm, with the noise of five published runs.

/// The noise between runs of one program: rows scatter by different deviations, and how they scatter is drawn
/// from all rows.
class PublishedNoise {
 public:
  PublishedNoise() {
    const auto text = whole_file(ASSAY_SOURCE_DIR "/reports/published/nvidia-h100/five_runs.csv");
    for_each_csv_row(text.value_or(""), [&](const std::vector<std::string>& cells, std::size_t line) {
      if (line > 1) add({cells.begin() + first_time, cells.end()});
    });
  }

  double deviation() { return drawn(deviations_); }
  /// The times of nights around a level, which changes by a factor after `before` of them.
  std::vector<double> nights(std::size_t count, double deviation, std::size_t before = 0, double factor = 1) {
    std::vector<double> times;
    for (std::size_t i = 0; i < count; ++i)
      times.push_back((i < before ? 100 : 100 * factor) * std::exp(deviation * drawn(residuals_)));
    return times;
  }
  std::size_t rows() const { return deviations_.size(); }

 private:
  static constexpr std::ptrdiff_t first_time = 3;

  void add(const std::vector<std::string>& cells) {
    std::vector<double> logs;
    double mean = 0;
    for (const std::string& cell : cells) {
      logs.push_back(std::log(std::stod(cell)));
      mean += logs.back() / static_cast<double>(cells.size());
    }
    double squares = 0;
    for (const double log : logs) squares += (log - mean) * (log - mean);
    const auto count = static_cast<double>(logs.size());
    deviations_.push_back(std::sqrt(squares / (count - 1)));
    for (const double log : logs)
      residuals_.push_back((log - mean) / deviations_.back() * std::sqrt(count / (count - 1)));
  }

  double drawn(const std::vector<double>& values) { return values[random_() % values.size()]; }

  std::mt19937 random_{20261126};
  std::vector<double> deviations_, residuals_;
};

TEST(TimeLevelsRates, FindAStepOfFourDeviationsWithinThreeNights) {
  PublishedNoise noise;
  ASSERT_GT(noise.rows(), 100U);
  for (const std::size_t before : {15U, 30U, 57U}) {
    int found = 0;
    constexpr int rows = 300;
    for (int row = 0; row < rows; ++row) {
      const double deviation = noise.deviation();
      const double step = std::max(4 * deviation, std::log(1.03));
      const double factor = std::exp(row % 2 == 0 ? step : -step);
      const auto levels = time_levels(noise.nights(before + 3, deviation, before, factor));
      if (levels && !levels->changes.empty() && (levels->changes.back().ratio > 1) == (factor > 1)) ++found;
    }
    EXPECT_GE(found, rows * 9 / 10) << "after " << before << " nights";
  }
}

TEST(TimeLevelsRates, HaveNoFalseAlarmInAMonth) {
  PublishedNoise noise;
  int alarms = 0;
  for (int row = 0; row < 200; ++row) {
    const std::vector<double> times = noise.nights(fewest_nights + 30, noise.deviation());
    for (std::size_t night = fewest_nights; night <= times.size(); ++night) {
      const auto levels = time_levels(std::span(times).first(night));
      if (!levels->changes.empty()) ++alarms;
    }
  }
  EXPECT_EQ(alarms, 0) << "at most one in 1,000 rows is expected";
}

using ::testing::ElementsAre;

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
  EXPECT_EQ(places("2026-11-12"), std::pair(11, 11));
  EXPECT_EQ(places("2027-11-05"), std::pair(-1, -1)) << "younger than all nights";
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
