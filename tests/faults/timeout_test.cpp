#include "tests/faults/bench.h"
#include "tests/faults/fault_ops.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <unistd.h>

// A kernel that never ends takes its device with it, hence a process of its own.

namespace assay::faults {
namespace {

/// Runs cases around an endless one and prints how each row ended. Never returns: the device is busy for
/// ever, and so would be whatever waits for it.
[[noreturn]] void run_and_leave(Mode mode) {
  const Op op = matmul();
  const auto test_case = [&](const std::string& impl, std::int64_t m, std::uint64_t key) {
    Case made = fault_case(op, impl, matmul_params(m, 33, 9));
    if (impl == "endless") made.timeout_s = 1;
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
              "endless=TIMEOUT\\(.*did not end within 1 s.*\\);"
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

}  // namespace
}  // namespace assay::faults
