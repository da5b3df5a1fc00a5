#include "tests/faults/bench.h"
#include "tests/faults/fault_ops.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

// Rows that are prepared ahead end as rows that are not, in the same order and whatever is wrong with them.

namespace assay::faults {
namespace {

/// Cases of two ops and several shapes: some are right, some do not compile, some no device can run. Rows of
/// one shape share their data.
struct MixedCases {
  MixedCases() {
    for (const std::int64_t m : {1, 2, 3, 4, 5}) {
      const Params params = matmul_params(m, 33, 9);
      for (const char* impl : {"correct", "does_not_compile", "oversized_workgroup", "oversized_scratch"})
        add(product, impl, params);
      for (const char* impl : {"constant_not_pushed", "binding_nine", "huge_shared_memory"})
        add(asking, impl, params);
    }
  }

  void add(const Op& op, const std::string& impl, const Params& params) {
    cases.push_back(fault_case(op, impl, params));
    cases.back().id += fmt::format("/{}", cases.size());
  }

  Op product = matmul();
  Op asking = asking_matmul();
  std::vector<Case> cases;
};

std::vector<std::string> told_with(int threads) {
  const MixedCases mixed;
  DeviceRunOptions options;
  options.mode = Mode::Accu;
  options.preparing_threads = threads;
  const Heard heard = Bench::shared().run(mixed.cases, options);
  std::vector<std::string> lines;
  for (const Record& record : heard.records) {
    lines.push_back(fmt::format("{} {} {} {}", record.info.id, name_of(record.status), record.reason,
                                record.accuracy ? record.accuracy->output_hash : ""));
  }
  return lines;
}

TEST(PreparedRows, EndAsOthersDo) {
  const std::vector<std::string> prepared = told_with(3);
  EXPECT_EQ(prepared, told_with(0));
  EXPECT_EQ(prepared.size(), MixedCases().cases.size());
}

TEST(PreparedRows, AreTimedWithSecretData) {
  Op op = matmul();
  std::vector<Case> cases;
  for (const std::int64_t m : {1, 2, 3}) cases.push_back(fault_case(op, "correct", matmul_params(m, 33, 9)));
  for (std::size_t i = 0; i < cases.size(); ++i) cases[i].id += fmt::format("/{}", i);
  DeviceRunOptions options;
  options.preparing_threads = 2;
  options.secret_seed = 5;
  const Heard heard = Bench::shared().run(cases, options);
  EXPECT_EQ(heard.records.size(), 6U);
  for (const Record& record : heard.records) {
    EXPECT_THAT(record.status, ::testing::AnyOf(Status::Pass, Status::Suspect)) << record.reason;
  }
}

}  // namespace
}  // namespace assay::faults
