#include "harness/engine/timing/repetition.h"

#include <gmock/gmock.h>

#include <vector>

namespace assay {
namespace {

using ::testing::HasSubstr;

/// 100 GB/s beyond the caches, 1 us per dispatch.
Ceilings known_ceilings() {
  Ceilings known{
      .bandwidth = {{.footprint_bytes = 1 << 30, .copy_gbps = 100, .read_gbps = 100, .write_gbps = 100}}};
  known.dispatch_us = 1;
  return known;
}

TEST(Repetition, MayTakeLongerByItselfAsFarAsThatIsExplained) {
  const Repetition found{.isolated_us = 151, .batch_us = 100};
  EXPECT_EQ(faster_when_repeated(found, known_ceilings()), "");
}

TEST(Repetition, ThatSparesWorkIsSuspectWithTheNumbers) {
  const Repetition found{.isolated_us = 1850, .batch_us = 72};
  EXPECT_THAT(faster_when_repeated(found, known_ceilings()),
              HasSubstr("faster when repeated: 72 us in a batch, 1850 us by itself"));
}

TEST(Repetition, IsSeenInMeansIfEveryOtherProgramIsSparedItsWork) {
  const std::vector<double> alone = {100e3, 100e3, 100e3};
  const std::vector<double> batches = {100e3, 1e3, 100e3, 1e3, 100e3};  // their median is 100 us
  EXPECT_EQ(faster_when_repeated(repetition_of(alone, alone), known_ceilings()), "");
  EXPECT_NE(faster_when_repeated(repetition_of(alone, batches), known_ceilings()), "");
}

TEST(KnownData, AreASuspicionWhereProgramsAreClearlyFasterOnThem) {
  EXPECT_EQ(faster_on_known_data({.own_us = 100, .secret_us = 120}), "");
  EXPECT_EQ(faster_on_known_data({.own_us = 200, .secret_us = 100}), "") << "nobody knows secret data";
  EXPECT_THAT(faster_on_known_data({.own_us = 100, .secret_us = 130}),
              HasSubstr("faster on known data: 100 us on the row's own data, 130 us on secret data"));
  EXPECT_EQ(faster_on_known_data({.own_us = 100, .secret_us = 190, .is_cpu = true}), "");
  EXPECT_NE(faster_on_known_data({.own_us = 100, .secret_us = 210, .is_cpu = true}), "");
}

TEST(KnownData, AreNoSuspicionWhereSomeBatchesWereDisturbed) {
  const std::vector<double> own = {25e3, 26e3, 25e3}, disturbed = {26e3, 180e3, 25e3},
                            slow = {75e3, 180e3, 76e3};
  const std::vector<double> some = {25e3, 100e3, 25e3}, all = {100e3, 101e3, 100e3};
  const auto suspicion = [&](const std::vector<double>& secret) {
    DataTimes found = data_times_of(own, secret);
    found.is_cpu = true;
    return faster_on_known_data(found);
  };
  EXPECT_EQ(suspicion(disturbed), "");
  EXPECT_NE(suspicion(slow), "");
  EXPECT_NE(faster_on_known_data(data_times_of(some, all)), "") << "knows some of the answers";
}

TEST(Repetition, MayMoveItsDataFromFarAway) {
  const Repetition found{.isolated_us = 250, .batch_us = 100, .bytes = 10'000'000};
  EXPECT_EQ(faster_when_repeated(found, known_ceilings()), "") << "10 MB at 100 GB/s are 100 us";
  EXPECT_NE(faster_when_repeated({.isolated_us = 250, .batch_us = 100}, known_ceilings()), "");
}

TEST(Repetition, MayBeDisturbedOnACpu) {
  const Repetition found{.isolated_us = 290, .batch_us = 100, .is_cpu = true};
  EXPECT_EQ(faster_when_repeated(found, known_ceilings()), "");
}

TEST(Repetition, IsNotAskedOfShortPrograms) {
  EXPECT_TRUE(is_long_enough(20, 1, known_ceilings(), 32));
  EXPECT_FALSE(is_long_enough(9, 1, known_ceilings(), 32)) << "ten dispatches";
  EXPECT_FALSE(is_long_enough(20, 3, known_ceilings(), 32));
  EXPECT_FALSE(is_long_enough(20, 1, known_ceilings(), 1000)) << "fifty units of the timer";
  EXPECT_FALSE(is_long_enough(20, 1, {}, 32)) << "no ceilings, no cold caches";
}

}  // namespace
}  // namespace assay
