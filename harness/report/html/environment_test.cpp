#include "harness/report/html/environment.h"

#include "tests/support/records.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

TEST(EnvironmentChanges, AreNoneBetweenEqualRuns) {
  EXPECT_TRUE(environment_changes(test::sample_run(), test::sample_run()).empty());
}

TEST(EnvironmentChanges, NameWhatDiffersWithBothValues) {
  RunInfo next = test::sample_run();
  next.device.driver_info = "12.4";
  next.ceilings.kernels = "fedcba9876543210";
  const std::vector<EnvironmentChange> changes = environment_changes(test::sample_run(), next);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].what, "driver");
  EXPECT_EQ(changes[0].base, "Acme 12.3");
  EXPECT_EQ(changes[0].next, "Acme 12.4");
  EXPECT_EQ(changes[1].what, "ceilings' kernels (hash)");
  EXPECT_EQ(changes[1].next, "fedcba9876543210");
}

TEST(EnvironmentChanges, AreSeenInHashesThatDifferInTheLastDigit) {
  RunInfo base = test::sample_run(), next = test::sample_run();
  base.ceilings.kernels = "0123456789abcdef";
  next.ceilings.kernels = "0123456789abcdee";
  EXPECT_EQ(environment_changes(base, next).size(), 1U);
}

TEST(EnvironmentChanges, NameCeilingsOnlyBeyondTheirScatter) {
  RunInfo next = test::sample_run();
  next.ceilings.fp32_gops = 50900;
  EXPECT_TRUE(environment_changes(test::sample_run(), next).empty());
  next.ceilings.fp32_gops = 52000;
  next.ceilings.fp16_gops = 0;
  const std::vector<EnvironmentChange> changes = environment_changes(test::sample_run(), next);
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].next, "52000 GOP/s");
  EXPECT_EQ(changes[1].next, "not measured");
}

}  // namespace
}  // namespace assay
