#include "tests/faults/bench.h"
#include "tests/faults/fault_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <unistd.h>

// A kernel that never ends takes its device with it, hence a process of its own. One that is late does not.

namespace assay::faults {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;

/// Runs cases around an endless one and prints how each row ended. Never returns: the device is busy for
/// ever, and so would be whatever waits for it.
[[noreturn]] void run_and_leave(Mode mode) {
  const Op op = matmul();
  const auto test_case = [&](const std::string& impl, std::int64_t m, std::uint64_t key) {
    Case made = fault_case(op, impl, matmul_params(m, 33, 9));
    if (impl == "endless") made.timeout_s = 0.5;
    made.data_key = key;
    return made;
  };
  // The endless row has a neighbour in its group on either side, then comes another group.
  const std::vector<Case> cases = {test_case("correct", 3, 1), test_case("endless", 3, 1),
                                   test_case("last_k_dropped", 3, 1), test_case("correct", 4, 2)};
  const Heard heard = Bench::shared().run(cases, {.mode = mode});
  for (const Record& record : heard.records) {
    std::fprintf(stderr, "%s=%s(%s)%s;", record.info.impl.c_str(),
                 std::string(name_of(record.status)).c_str(), record.reason.c_str(),
                 record.perf ? " with a time" : "");
  }
  std::fprintf(stderr, "begun %zu", heard.begun.size());
  ::_exit(0);
}

class Timeout : public ::testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (!Bench::shared().is_lavapipe()) GTEST_SKIP() << "an endless kernel may take down a real device";
  }
};

using TimeoutDeathTest = Timeout;

TEST_F(TimeoutDeathTest, AnEndlessKernelTimesOutAndTheRowsAfterItAreMissing) {
  EXPECT_EXIT(run_and_leave(Mode::Accu), ::testing::ExitedWithCode(0),
              "correct=PASS\\(\\);"
              "endless=TIMEOUT\\(.*did not finish within 0.5 s, nor in the 5 s after.*\\);"
              "last_k_dropped=MISSING\\(not run: the device was lost by matmul/fault/endless\\);"
              "correct=MISSING\\(not run: .*\\);"
              "begun 2");
}

TEST_F(TimeoutDeathTest, RowsThatWaitForTheirTimeAreMissingToo) {
  EXPECT_EXIT(run_and_leave(Mode::Perf), ::testing::ExitedWithCode(0),
              "endless=TIMEOUT\\(.*\\);"
              "last_k_dropped=MISSING\\(not run: .*\\);"
              "correct=MISSING\\(not run: .*\\);"
              "correct=MISSING\\(not timed: the device was lost by matmul/fault/endless\\);"
              "begun 2");
}

/// A limit that no submission meets, on any machine.
constexpr double at_once_s = 1e-6;

std::vector<Case> cases_around_a_slow_one(const Op& op) {
  std::vector<Case> cases = {fault_case(op, "correct", matmul_params(3, 33, 9)),
                             fault_case(op, "slow", matmul_params(3, 33, 9)),
                             fault_case(op, "last_k_dropped", matmul_params(3, 33, 9)),
                             fault_case(op, "correct", matmul_params(4, 33, 9))};
  cases[1].timeout_s = at_once_s;
  cases[3].data_key += 1;
  return cases;
}

TEST(LateProgram, TakesNoOtherRowAlong) {
  const Op op = matmul();
  for (const Mode mode : {Mode::Accu, Mode::Perf}) {
    const Heard heard = Bench::shared().run(cases_around_a_slow_one(op), {.mode = mode});
    std::map<std::string, std::vector<Status>> statuses;
    for (const Record& record : heard.records) {
      statuses[record.info.impl].push_back(record.status);
      if (record.info.impl != "slow") continue;
      EXPECT_THAT(record.reason, ContainsRegex("did not finish within 1e-06 s, only after [0-9.e-]+ s"));
      EXPECT_FALSE(record.perf);
    }
    EXPECT_THAT(statuses["correct"], ElementsAre(Status::Pass, Status::Pass));
    EXPECT_THAT(statuses["slow"], ElementsAre(Status::Timeout));
    EXPECT_THAT(statuses["last_k_dropped"], ElementsAre(Status::Fail));
  }
  EXPECT_TRUE(Bench::shared().device().alive());
}

TEST(LateProgram, PassesWithMoreTime) {
  const Op op = matmul();
  const Record record = Bench::shared().run(fault_case(op, "slow", matmul_params(3, 33, 9)));
  EXPECT_EQ(record.status, Status::Pass) << record.reason;
}

}  // namespace
}  // namespace assay::faults
