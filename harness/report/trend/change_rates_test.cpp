// How often changes are found, and how often there is a false alarm, with the noise of five published runs.

#include "harness/base/file.h"
#include "harness/report/trend/change_points.h"
#include "harness/report/writers/csv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace assay {
namespace {

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

}  // namespace
}  // namespace assay
