#include "harness/app/rewrite_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace assay::app {
namespace {

/// A run on a clock of its own. As the Recorder does, the reports are written when the run begins and ends,
/// and between when a row has ended and it is time.
struct SimulatedRun {
  double row_s = 0;            ///< of a row
  double rewritten_s = 0;      ///< of a row in a rewrite
  std::int64_t rewritten = 0;  ///< rows, in all rewrites
  double rewriting_s = 0;
  double oldest_s = 0;  ///< how old the reports have been at most

  void run(std::int64_t rows) {
    rewrite(rows);
    for (std::int64_t row = 0; row < rows; ++row) {
      now_ += row_s;
      oldest_s = std::max(oldest_s, now_ - written_);
      if (schedule_.is_due(now_)) rewrite(rows);
    }
    rewrite(rows);
  }
  double duration_s() const { return now_; }

 private:
  void rewrite(std::int64_t rows) {
    const double began = now_;
    const double took = rewritten_s * static_cast<double>(rows);
    written_ = now_ += took;
    rewritten += rows;
    rewriting_s += took;
    schedule_.rewrote(began, now_);
  }

  RewriteSchedule schedule_;
  double now_ = 1000;
  double written_ = 0;
};

SimulatedRun run_of(std::int64_t rows, double row_s, double rewritten_s = 20e-6) {
  SimulatedRun made{.row_s = row_s, .rewritten_s = rewritten_s};
  made.run(rows);
  return made;
}

TEST(RewriteSchedule, TheFirstRewriteIsDueAtOnce) {
  EXPECT_TRUE(RewriteSchedule().is_due(0));
}

TEST(RewriteSchedule, RewrittenRowsGrowInProportionToTheRowsOfARun) {
  for (const double row_s : {1e-4, 1e-3, 1e-2}) {
    const SimulatedRun run = run_of(100'000, row_s);
    const SimulatedRun longer = run_of(1'000'000, row_s);
    EXPECT_LE(longer.rewritten, 11 * run.rewritten) << row_s;
    // Those of the begin and the end, and what takes a twentieth of the rows' time.
    EXPECT_LE(longer.rewritten, 1'000'000 * (3 + row_s / (20 * 20e-6))) << row_s;
  }
}

TEST(RewriteSchedule, FastRowsAreRewrittenAtTheBeginAndTheEndAlone) {
  EXPECT_EQ(run_of(100'000, 1e-4).rewritten, 200'000) << "10 s of rows, and 2 s a rewrite";
}

TEST(RewriteSchedule, RewritesTakeATwentiethOfALongRun) {
  for (const std::int64_t rows : {1000, 10'000, 100'000}) {
    const SimulatedRun run = run_of(rows, 0.1);
    EXPECT_LT(run.rewriting_s, run.duration_s() / 20 + 2 * 20e-6 * static_cast<double>(rows)) << rows;
  }
}

TEST(RewriteSchedule, ASlowRunOfAHundredThousandRowsHasReportsOfTheLastMinute) {
  const SimulatedRun run = run_of(100'000, 1);
  EXPECT_LT(run.oldest_s, 60);
  EXPECT_GT(run.rewritten, 100'000 * 1000) << "it lasted a day";
}

TEST(RewriteSchedule, SmallReportsAreRewrittenEveryTwoSeconds) {
  const SimulatedRun run = run_of(100, 0.5);
  EXPECT_LE(run.oldest_s, 2.5);
  EXPECT_LE(run.rewritten, 100 * (50 / 2 + 2));
}

}  // namespace
}  // namespace assay::app
