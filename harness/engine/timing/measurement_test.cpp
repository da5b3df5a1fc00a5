#include "harness/engine/timing/measurement.h"

#include <gtest/gtest.h>

#include <array>

namespace assay {
namespace {

/// Cases with their times, of which those named auto chose an impl.
class RegretTest : public testing::Test {
 protected:
  void add(std::uint64_t data_key, double time_us, bool chose = false) {
    cases_[count_].data_key = data_key;
    timed_[count_].test_case = &cases_[count_];
    if (chose) timed_[count_].impl_auto = "chosen";
    measurements_[count_].verified = true;
    measurements_[count_].perf.time_us_p50 = time_us;
    ++count_;
  }

  std::optional<double> regret_of_first() {
    note_regret(std::span(timed_).first(count_), std::span(measurements_).first(count_));
    return measurements_[0].perf.regret_pct;
  }

  std::array<Case, 4> cases_;
  std::array<TimedRow, 4> timed_;
  std::array<Measurement, 4> measurements_;
  std::size_t count_ = 0;
};

TEST_F(RegretTest, IsWhatTheChoiceCostsAgainstTheBestOther) {
  add(1, 12, true);
  add(1, 10);
  add(1, 30);
  EXPECT_NEAR(regret_of_first().value(), 20, 1e-9);
}

TEST_F(RegretTest, RowsOfOtherDataAreNoRivals) {
  add(1, 12, true);
  add(2, 3);
  add(1, 16);
  EXPECT_NEAR(regret_of_first().value(), -25, 1e-9);
}

TEST_F(RegretTest, RowsOfOtherFormsAreNoRivalsButThoseWrittenConv2dAre) {
  add(1, 12, true);
  add(1, 10);
  add(1, 3);
  for (std::size_t i = 0; i < 3; ++i) cases_[i].forms = {{Storage::Buffer, Layout::P4C}};
  cases_[1].forms[0].layout = Layout::P4C1W;
  cases_[0].conv2d.tensors = cases_[1].conv2d.tensors = {0};
  EXPECT_NEAR(regret_of_first().value(), 20, 1e-9);
}

TEST_F(RegretTest, NeedsARival) {
  add(1, 12, true);
  add(2, 3);
  add(1, 4, true);
  EXPECT_EQ(regret_of_first(), std::nullopt);
}

}  // namespace
}  // namespace assay
