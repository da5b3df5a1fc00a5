#include "harness/report/compare/run_noise.h"

#include "harness/device/driver_name.h"
#include "harness/report/compare/compare.h"
#include "harness/report/record/device_name.h"
#include "tests/support/error_text.h"
#include "tests/support/simulated_series.h"

#include <gmock/gmock.h>

namespace assay {
namespace {

using ::testing::HasSubstr;

const std::vector<double> noise_times = {100, 100.1, 100.2, 100.3, 100.4};

std::vector<double> scaled_times(std::vector<double> values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

Record of_program(const std::string& name, const std::vector<double>& block_us, const std::string& program) {
  Record record = test::measured(name, test::blocks(block_us));
  record.perf->program_hash = program;
  return record;
}

RunComparison noise_sample() {
  const std::vector<RunReport> base = {
      test::run_of({of_program("quiet", noise_times, "p"), of_program("off", noise_times, "p"),
                    of_program("changed", noise_times, "p")},
                   "1")};
  const std::vector<RunReport> next = {
      test::run_of({of_program("quiet", scaled_times(noise_times, 1.005), "p"),
                    of_program("off", scaled_times(noise_times, 0.98), "p"),
                    of_program("changed", scaled_times(noise_times, 2), "q")},
                   "2")};
  return compare_runs(base, next);
}

TEST(RunPairs, TellTheLargestDifferenceOfTheSameProgram) {
  const std::vector<RunPair> pairs = run_pairs_of(noise_sample());
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].device, "Acme GPU 9");
  EXPECT_EQ(pairs[0].base_run, "1");
  EXPECT_EQ(pairs[0].new_run, "2");
  EXPECT_EQ(pairs[0].rows, 2U) << "the third is another program";
  EXPECT_EQ(pairs[0].alarms, 1U);
  EXPECT_NEAR(pairs[0].largest_pct, 100 * (1 / 0.98 - 1), 1e-9);
}

TEST(RunPairs, AreOfTwoRuns) {
  const std::vector<RunReport> run = {test::run_of({of_program("a", noise_times, "p")})};
  EXPECT_TRUE(run_pairs_of(compare_runs(run, run)).empty());
}

TEST(RunPairs, DoNotTakeAThrottledDeviceForNoise) {
  Record slow = of_program("a", scaled_times(noise_times, 1.5), "p");
  slow.perf->clock_ratio = 0.6;
  const std::vector<RunReport> base = {test::run_of({of_program("a", noise_times, "p")}, "1")};
  const std::vector<RunPair> pairs = run_pairs_of(compare_runs(base, std::vector{test::run_of({slow}, "2")}));
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].alarms, 0U);
}

RunPair pair_of(const std::string& new_run, std::size_t rows, double largest_pct) {
  const RunInfo run = test::sample_run();
  return {.device = run.device.name,
          .device_key = device_key(run),
          .driver = driver_of(run.device),
          .base_run = "0",
          .new_run = new_run,
          .rows = rows,
          .largest_pct = largest_pct};
}

TEST(RunNoise, IsTheLargestOfThreePairsOfADeviceAndDriver) {
  const RunInfo run = test::sample_run();
  const std::vector<RunPair> pairs = {pair_of("1", 50, 0), pair_of("2", 50, 1.8), pair_of("3", 50, 1.4)};
  EXPECT_EQ(RunNoise(pairs).between_runs_pct(run), 1.8);
  EXPECT_FALSE(RunNoise({pairs[0], pairs[1]}).between_runs_pct(run)) << "two pairs";
  EXPECT_FALSE(RunNoise({pair_of("1", 1, 0), pair_of("2", 1, 0), pair_of("3", 1, 0)}).between_runs_pct(run))
      << "three rows";
  RunInfo updated = run, other = run;
  updated.device.driver_info = "12.4";
  other.device.uuid = "another";
  EXPECT_FALSE(RunNoise(pairs).between_runs_pct(updated));
  EXPECT_FALSE(RunNoise(pairs).between_runs_pct(other));
}

TEST(RunNoise, IsKeptInAFile) {
  const std::vector<RunPair> once = with_pairs({}, {pair_of("1", 50, 1.25), pair_of("2", 60, 0)});
  const std::vector<RunPair> twice = with_pairs(once, {pair_of("2", 60, 2.5)});
  ASSERT_EQ(twice.size(), 2U) << "the pair was there";
  const std::vector<RunPair> read = parse_run_noise(run_noise_csv(twice), "noise.csv");
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(run_noise_csv(read), run_noise_csv(twice));
  EXPECT_EQ(read[0].largest_pct, 1.25);
  EXPECT_EQ(read[1].largest_pct, 2.5);
  EXPECT_TRUE(parse_run_noise(run_noise_csv({}), "noise.csv").empty());
}

TEST(RunNoise, SaysWhatIsNoSuchFile) {
  const auto error = [](const std::string& text) {
    return test::error_of([&] { parse_run_noise(text, "noise.csv"); });
  };
  EXPECT_EQ(error("verdict,case\n"),
            "reading run noise: noise.csv:1: this file was not written by `assay "
            "compare --keep-run-noise`");
  EXPECT_THAT(error(run_noise_csv({}) + "a,b\n"), HasSubstr("noise.csv:2: this file was not written"));
  EXPECT_THAT(error(run_noise_csv({}) + "a,b,c,d,e,1,0,much\n"),
              HasSubstr("noise.csv:2: 'much' is not a valid number"));
}

TEST(RunNoise, IsNotReadFromAFileWithoutEnd) {
  EXPECT_EQ(test::error_of([] { read_run_noise("/dev/zero"); }),
            "reading run noise: /dev/zero has more than 64 MiB");
}

}  // namespace
}  // namespace assay
