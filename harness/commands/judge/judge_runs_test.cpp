#include "harness/commands/judge/judge_runs.h"

#include "harness/base/error.h"
#include "harness/commands/run_options.h"
#include "tests/support/small_op.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace assay::app {
namespace {

/// Runs that end before a worker has opened its device, as a stop or the time limit may end them.
class UnopenedRunsTest : public testing::Test {
 protected:
  UnopenedRunsTest() {
    cases.accuracy = cases.secret = cases.performance = {&one};
    context.parse_run = [](const std::vector<std::string>&) -> RunOptions {
      throw Error("interrupted before a device was open: nothing was run", ExitCode::Infrastructure);
    };
  }

  Op op = test::flip_op();
  Case one = test::make_case(op, test::shape_params({4}));
  const Registry no_ops{{}};
  Context context{.registry = no_ops, .command_line = {"assay", "judge"}};
  std::ostringstream text;
  const Terminal terminal{text, text, text};
  const JudgeOptions options{};
  const Submission submission{};
  JudgedCases cases;
  const DrawnCases none{};
  std::string why;
  const JudgeRunParts parts{.options = options,
                            .context = context,
                            .terminal = terminal,
                            .submission = submission,
                            .cases = cases,
                            .fuzzed = none,
                            .drawn = none,
                            .folder = "out",
                            .why_stopped = [this] { return why; }};
};

TEST_F(UnopenedRunsTest, LeaveOutTheirRowsWhereTheTimeIsUp) {
  why = "the time limit was reached";
  JudgeRuns runs(parts);
  for (const std::vector<JudgedRow>& rows : {runs.accuracy(), runs.secret_and_fuzzed(), runs.performance()}) {
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].id, one.id);
    EXPECT_TRUE(rows[0].incomplete);
    EXPECT_FALSE(rows[0].correct.has_value());
    EXPECT_EQ(rows[0].reasons.at(0).text, why);
  }
}

TEST_F(UnopenedRunsTest, AreAnErrorWhereNothingStopsThem) {
  const JudgeRuns runs(parts);
  EXPECT_THROW(static_cast<void>(runs.accuracy()), Error);
}

}  // namespace
}  // namespace assay::app
