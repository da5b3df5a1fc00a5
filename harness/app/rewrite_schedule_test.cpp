#include "harness/app/rewrite_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace assay::app {
namespace {

/// A run on a clock of its own. As the Recorder does, the reports are written when the run begins and ends,
/// and between when a row has ended and it is time.
class SimulatedRun {
 public:
  /// A row takes `row_s` to run, and `rewritten_s` in each rewrite.
  SimulatedRun(std::int64_t rows, double row_s, double rewritten_s = 20e-6)
      : rows_(rows), rewrite_s_(rewritten_s * static_cast<double>(rows)) {
    rewrite();
    for (std::int64_t row = 0; row < rows; ++row) {
      now_ += row_s;
      oldest_s_ = std::max(oldest_s_, now_ - written_);
      if (schedule_.is_due(now_)) rewrite();
    }
    rewrite();
  }

  std::int64_t rewritten_rows() const { return rewrites_ * rows_; }
  double rewriting_s() const { return static_cast<double>(rewrites_) * rewrite_s_; }
  double duration_s() const { return now_; }
  /// How old the reports have been at most.
  double oldest_s() const { return oldest_s_; }

 private:
  void rewrite() {
    const double began = now_;
    now_ += rewrite_s_;
    written_ = now_;
    ++rewrites_;
    schedule_.rewrote(began, now_);
  }

  RewriteSchedule schedule_;
  std::int64_t rows_;
  double rewrite_s_;
  double now_ = 0;
  double written_ = 0;
  double oldest_s_ = 0;
  std::int64_t rewrites_ = 0;
};

TEST(RewriteSchedule, TheFirstRewriteIsDueAtOnce) {
  EXPECT_TRUE(RewriteSchedule().is_due(0));
}

TEST(RewriteSchedule, RewrittenRowsGrowInProportionToTheRowsOfARun) {
  for (const double row_s : {1e-4, 1e-3, 1e-2}) {
    const SimulatedRun run(100'000, row_s);
    const SimulatedRun longer(1'000'000, row_s);
    EXPECT_LE(longer.rewritten_rows(), 11 * run.rewritten_rows()) << row_s;
    // Those of the begin and the end, and what takes a twentieth of the time of a row.
    EXPECT_LE(static_cast<double>(longer.rewritten_rows()), 1e6 * (3 + row_s / (20 * 20e-6))) << row_s;
  }
}

TEST(RewriteSchedule, FastRowsAreRewrittenAtTheBeginAndTheEndAlone) {
  EXPECT_EQ(SimulatedRun(100'000, 1e-4).rewritten_rows(), 200'000) << "10 s of rows, and 2 s a rewrite";
}

TEST(RewriteSchedule, RewritesTakeATwentiethOfALongRun) {
  for (const std::int64_t rows : {1000, 10'000, 100'000}) {
    const SimulatedRun run(rows, 0.1);
    EXPECT_LT(run.rewriting_s(), run.duration_s() / 20 + 2 * 20e-6 * static_cast<double>(rows)) << rows;
  }
}

TEST(RewriteSchedule, ASlowRunOfAHundredThousandRowsHasReportsOfTheLastMinute) {
  EXPECT_LT(SimulatedRun(100'000, 1).oldest_s(), 60);
}

TEST(RewriteSchedule, SmallReportsAreRewrittenEveryTwoSeconds) {
  const SimulatedRun run(100, 0.5);
  EXPECT_LE(run.oldest_s(), 2.5);
  EXPECT_LE(run.rewritten_rows(), 100 * (50 / 2 + 2));
}

}  // namespace
}  // namespace assay::app
