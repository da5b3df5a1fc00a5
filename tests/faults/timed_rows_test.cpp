#include "harness/gpu/device/device.h"
#include "tests/faults/bench.h"
#include "tests/faults/fault_ops.h"
#include "tests/support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <unistd.h>

namespace assay::faults {

// Timed rows report more than their time: cold sets, chosen impls, the device's ceilings, an injected
// slowdown.

namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

/// 256 KiB and more of input: enough that some hundred sets exceed any cache.
Case large_quantize_case(const Op& op, const std::string& impl) {
  return fault_case(op, impl, quantize_params({1, 1, 256, 512}), FillKind::Normal);
}

std::vector<Record> timed(const std::vector<Case>& cases, DeviceRunOptions options = {}) {
  options.mode = Mode::Perf;
  return Bench::shared().run(cases, options).records;
}

TEST(ColdRow, RotatesOverSetsAndEachIsVerified) {
  const Op op = quantize();
  Case test_case = large_quantize_case(op, "correct");
  test_case.caches = Caches::Both;
  const std::vector<Record> records = timed({test_case});
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].info.cache, "hot");
  EXPECT_EQ(records[0].info.id, test_case.id);
  ASSERT_TRUE(records[0].perf) << records[0].reason;
  EXPECT_EQ(records[0].perf->sets, 1);
  EXPECT_EQ(records[1].info.cache, "cold");
  EXPECT_EQ(records[1].info.id, test_case.id + "/cold");
  ASSERT_TRUE(records[1].perf) << records[1].reason;
  EXPECT_GT(records[1].perf->sets, 100);
  EXPECT_GT(records[1].perf->memory_bytes, 100 * records[0].perf->memory_bytes);
  EXPECT_EQ(records[1].perf->verified_pct, 100);
}

TEST(ColdRow, OfTensorsThatAreTooSmallIsSkippedWithTheNumbers) {
  const Op op = quantize();
  Case test_case = fault_case(op, "correct", quantize_params({2, 5, 3, 7}), FillKind::Normal);
  test_case.caches = Caches::Cold;
  const std::vector<Record> records = timed({test_case});
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, Status::Skipped);
  EXPECT_THAT(records[0].reason, HasSubstr("2048 sets of"));
  EXPECT_FALSE(records[0].perf);
}

/// Counts the dispatches of each submission that is recorded while it lives, one at a time.
class DispatchCounts {
 public:
  explicit DispatchCounts(gpu::Device& device)
      : vk_(&device.state().table.vk), begin_(vk_->vkBeginCommandBuffer), dispatch_(vk_->vkCmdDispatch) {
    counting = this;
    vk_->vkBeginCommandBuffer = [](VkCommandBuffer commands, const VkCommandBufferBeginInfo* info) {
      counting->counts.push_back(0);
      return counting->begin_(commands, info);
    };
    vk_->vkCmdDispatch = [](VkCommandBuffer commands, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
      ++counting->counts.back();
      counting->dispatch_(commands, x, y, z);
    };
  }
  ~DispatchCounts() {
    vk_->vkBeginCommandBuffer = begin_;
    vk_->vkCmdDispatch = dispatch_;
  }
  DispatchCounts(const DispatchCounts&) = delete;
  DispatchCounts& operator=(const DispatchCounts&) = delete;

  std::vector<int> counts;

 private:
  inline static DispatchCounts* counting = nullptr;
  VolkDeviceTable* vk_;
  PFN_vkBeginCommandBuffer begin_;
  PFN_vkCmdDispatch dispatch_;
};

TEST(Submissions, HaveOneProgramWhereMoreWouldTakeTooLong) {
  Bench& bench = Bench::shared();
  if (!bench.is_lavapipe()) GTEST_SKIP() << "kernels that poison memory are dispatches, too";
  const Op op = quantize();
  TimingTools tools(bench.device(), bench.shaders());
  Case test_case = large_quantize_case(op, "correct");
  test_case.caches = Caches::Both;
  DeviceRunOptions options{.tools = &tools};
  options.sampling.max_submission_ns = 1;
  DispatchCounts counted(bench.device());
  const std::vector<Record> records = timed({test_case}, options);
  ASSERT_EQ(records.size(), 2U);
  for (const Record& record : records) {
    EXPECT_EQ(record.status, Status::Pass) << record.reason;
    ASSERT_TRUE(record.perf);
    EXPECT_EQ(record.perf->batch, 1);
    EXPECT_EQ(record.perf->verified_pct, 100);
  }
  EXPECT_EQ(std::ranges::max(counted.counts), 2) << "a program and the clock probe";
}

// The CPU's clock times a submission as a whole.
TEST(Submissions, HaveTimedProgramsAloneWithoutTimestamps) {
  const std::unique_ptr<Bench> bench = Bench::fresh();
  const Op op = quantize();
  TimingTools tools(bench->device(), bench->shaders());
  bench->device().distrust_timestamps();
  DeviceRunOptions options{.mode = Mode::Perf, .tools = &tools};
  options.sampling.sample_target_ns = 20e6;
  DispatchCounts counted(bench->device());
  const Case small = fault_case(op, "correct", quantize_params({2, 5, 3, 7}));
  const Record record = bench->run({small}, options).records.at(0);
  ASSERT_TRUE(record.perf) << record.reason;
  ASSERT_GT(record.perf->batch, 4);
  EXPECT_EQ(record.perf->clock, "wall");
  const std::vector<int> timed_alone{std::max(1, record.perf->batch / 4), record.perf->batch};
  int found = 0;
  for (std::size_t i = 1; i < counted.counts.size(); ++i) {
    found += std::vector{counted.counts[i - 1], counted.counts[i]} == timed_alone ? 1 : 0;
  }
  EXPECT_GE(found, 5) << testing::PrintToString(counted.counts);
}

// Passes that need timestamps run nothing, and leave no set without an answer.
TEST(Submissions, OfAColdRowWithoutTimestampsAreVerified) {
  const std::unique_ptr<Bench> bench = Bench::fresh();
  const Op op = quantize();
  TimingTools tools(bench->device(), bench->shaders());
  bench->device().distrust_timestamps();
  Case test_case = large_quantize_case(op, "correct");
  test_case.caches = Caches::Cold;
  const Record record = bench->run({test_case}, {.mode = Mode::Perf, .tools = &tools}).records.at(0);
  EXPECT_EQ(record.status, Status::Pass) << record.reason;
  ASSERT_TRUE(record.perf);
  EXPECT_EQ(record.perf->isolated_us, 0);
  EXPECT_TRUE(record.perf->dispatches.empty());
}

TEST(Submissions, OfARowThatIsDescribedSayThatItGoesOn) {
  Bench& bench = Bench::shared();
  const Op op = quantize();
  TimingTools tools(bench.device(), bench.shaders());
  int told = 0;
  bench.device().watch_phases([&](Phase phase, double) { told += phase == Phase::Timing ? 1 : 0; });
  const Heard heard = bench.run({large_quantize_case(op, "correct")}, {.mode = Mode::Perf, .tools = &tools});
  bench.device().watch_phases({});
  const int repeats = 5;  // of each pass, at least
  EXPECT_GE(told, static_cast<int>(heard.blocks.size()) + 4 * repeats);
}

TEST(ChosenImpl, IsNamedAndHeldAgainstTheBestOfItsRivals) {
  Op op = quantize();
  op.impls.push_back(
      {.name = "auto", .choose = [](const BuildContext&) { return std::vector<std::string>{"correct"}; }});
  const std::vector<Record> records =
      timed({large_quantize_case(op, "correct"), large_quantize_case(op, "auto")});
  ASSERT_EQ(records.size(), 2U);
  ASSERT_TRUE(records[0].perf && records[1].perf) << records[1].reason;
  EXPECT_EQ(records[0].perf->impl_auto, "");
  EXPECT_FALSE(records[0].perf->regret_pct);
  EXPECT_EQ(records[1].perf->impl_auto, "correct");
  ASSERT_TRUE(records[1].perf->regret_pct);
  const double ratio = records[1].perf->time_us_p50 / records[0].perf->time_us_p50;
  EXPECT_NEAR(*records[1].perf->regret_pct, 100 * (ratio - 1), 1e-9);
  EXPECT_EQ(records[0].perf->program_hash, records[1].perf->program_hash) << "it is the same program";
}

TEST(ChosenImpl, ThatDoesNotExistFailsItsRow) {
  Op op = quantize();
  op.impls.push_back(
      {.name = "auto", .choose = [](const BuildContext&) { return std::vector<std::string>{"nobody"}; }});
  const std::vector<Record> records = timed({large_quantize_case(op, "auto")});
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, Status::Fail);
  EXPECT_THAT(records[0].reason, HasSubstr("'auto' chooses 'nobody'"));
}

Ceilings ceilings_of(double gbps) {
  return {
      .bandwidth = {{.footprint_bytes = 1 << 20, .copy_gbps = gbps, .read_gbps = gbps, .write_gbps = gbps}},
      .dispatch_us = 1};
}

TEST(Ceiling, ARowAboveItIsSuspectAndKeepsItsFigures) {
  Bench& bench = Bench::shared();
  const Op op = quantize();
  TimingTools tools(bench.device(), bench.shaders());
  tools.ceilings = ceilings_of(1e-3);
  int measured = 0;
  tools.measure_again = [&measured] { ++measured; };
  const std::vector<Record> records = timed({large_quantize_case(op, "correct")}, {.tools = &tools});
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, Status::Suspect);
  EXPECT_THAT(records[0].reason,
              HasSubstr("the time is too short, the work is not done, or the ceiling is wrong"));
  ASSERT_TRUE(records[0].perf);
  EXPECT_GT(records[0].perf->pct_peak_bw, 200);
  EXPECT_EQ(measured, 1) << "the ceiling may be what is wrong";
}

TEST(Block, HasTheStateOfTheMachine) {
  const test::TemporaryFolder sys;
  sys.write("class/thermal/thermal_zone0/temp", "41500\n");
  Bench& bench = Bench::shared();
  const Op op = quantize();
  TimingTools tools(bench.device(), bench.shaders());
  tools.sensors = SystemSensors(sys.path());
  DeviceRunOptions options{.mode = Mode::Perf, .tools = &tools};
  const Heard heard = bench.run({large_quantize_case(op, "correct")}, options);
  EXPECT_FALSE(heard.systems.empty());
  for (const SystemState& system : heard.systems) EXPECT_EQ(system, SystemState({.hottest_c = 41.5}));
}

/// A meter of a device that takes 5 W.
class FiveWatts : public EnergyMeter {
 public:
  double read() override { return 5; }
  Kind kind() const override { return Kind::Power; }
  std::string source() const override { return "five watts"; }
};

TEST(EnergyOfARow, IsMeasuredInAWindowOfItsOwnAndVerified) {
  Bench& bench = Bench::shared();
  const Op op = quantize();
  TimingTools tools(bench.device(), bench.shaders());
  tools.energy = std::make_shared<FiveWatts>();
  tools.energy_window = {.heating_s = 0, .least_s = 0.05, .least_readings = 5, .interval_s = 0.005};
  Case test_case = large_quantize_case(op, "correct");
  test_case.caches = Caches::Both;
  const std::vector<Record> records = timed({test_case}, {.tools = &tools});
  ASSERT_EQ(records.size(), 2U);
  for (const Record& record : records) {
    EXPECT_EQ(record.status, Status::Pass) << record.reason;
    ASSERT_TRUE(record.perf && record.perf->energy) << record.info.id;
    const Energy& energy = *record.perf->energy;
    EXPECT_EQ(energy.source, "five watts");
    EXPECT_DOUBLE_EQ(energy.watts, 5);
    EXPECT_GE(energy.window_s, 0.05);
    EXPECT_DOUBLE_EQ(energy.joules, 5 * energy.window_s / static_cast<double>(energy.programs));
    EXPECT_TRUE(record.perf->verified);
    EXPECT_EQ(record.perf->verified_pct, 100);
  }
}

TEST(EnergyOfARow, ThatTheMeterCannotTellIsAbsentWithAReason) {
  Bench& bench = Bench::shared();
  const Op op = quantize();
  TimingTools tools(bench.device(), bench.shaders());
  tools.energy = std::make_shared<FiveWatts>();
  tools.energy_window = {.heating_s = 0, .least_s = 0.01, .most_s = 0.02, .least_readings = 1'000'000};
  const std::vector<Record> records = timed({large_quantize_case(op, "correct")}, {.tools = &tools});
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, Status::Pass) << records[0].reason;
  ASSERT_TRUE(records[0].perf);
  EXPECT_FALSE(records[0].perf->energy);
  EXPECT_THAT(records[0].perf->no_energy, HasSubstr("a mean needs 1000000"));
}

/// A meter with which a window fails.
class FailingMeter : public FiveWatts {
 public:
  explicit FailingMeter(std::function<void()> fail) : fail_(std::move(fail)) {}
  /// Asked for by the thread that runs the programs.
  double averaged_s() const override {
    fail_();
    return 0;
  }

 private:
  std::function<void()> fail_;
};

Record row_with_failing_window(std::function<void()> fail) {
  Bench& bench = Bench::shared();
  const Op op = quantize();
  TimingTools tools(bench.device(), bench.shaders());
  tools.energy = std::make_shared<FailingMeter>(std::move(fail));
  return timed({large_quantize_case(op, "correct")}, {.tools = &tools}).at(0);
}

TEST(EnergyOfARow, ThatFailsForLackOfMemoryLeavesTheTime) {
  for (const auto& fail : {std::function<void()>([] { throw gpu::OutOfMemory("9 GiB for the window"); }),
                           std::function<void()>([] { throw Error("9 GiB for the window"); })}) {
    const Record record = row_with_failing_window(fail);
    EXPECT_EQ(record.status, Status::Pass) << record.reason;
    ASSERT_TRUE(record.perf);
    EXPECT_GT(record.perf->time_us_p50, 0);
    EXPECT_TRUE(record.perf->verified);
    EXPECT_FALSE(record.perf->energy);
    EXPECT_EQ(record.perf->no_energy, "9 GiB for the window");
  }
}

TEST(EnergyOfARow, FailsTheRowIfItTakesTooLong) {
  const Record record = row_with_failing_window([] { throw gpu::Timeout("the window hung"); });
  EXPECT_EQ(record.status, Status::Timeout);
  EXPECT_EQ(record.reason, "the window hung");
}

/// A meter that tells how often it was read.
class CountingMeter : public FiveWatts {
 public:
  double read() override {
    ++reads;
    return FiveWatts::read();
  }
  std::atomic<int> reads = 0;
};

TEST(EnergyOfARow, ThatAStopEndsIsMeasuredWhenTheRunIsResumed) {
  Bench& bench = Bench::shared();
  const Op op = quantize();
  TimingTools tools(bench.device(), bench.shaders());
  const auto meter = std::make_shared<CountingMeter>();
  tools.energy = meter;
  tools.energy_window = {.heating_s = 0, .least_s = 60, .most_s = 120, .interval_s = 0.001};
  DeviceRunOptions options{.mode = Mode::Perf, .tools = &tools};
  options.stop_requested = [&] { return meter->reads > 0; };
  Case other = large_quantize_case(op, "correct");
  other.id += "/other";
  const Heard heard = bench.run({large_quantize_case(op, "correct"), other}, options);
  ASSERT_EQ(heard.ends.size(), 2U);
  for (const RowEnd& end : heard.ends) {
    EXPECT_NE(end.status, Status::Pass);
    EXPECT_TRUE(end.stopped) << end.reason;
  }
  EXPECT_EQ(std::ranges::count(heard.ends, Status::Interrupted, &RowEnd::status), 1);
  EXPECT_EQ(std::ranges::count(heard.ends, Status::Missing, &RowEnd::status), 1);
}

TEST(EnergyOfARow, IsNotMeasuredUnlessAskedFor) {
  const Op op = quantize();
  const std::vector<Record> records = timed({large_quantize_case(op, "correct")});
  ASSERT_TRUE(records.at(0).perf);
  EXPECT_FALSE(records[0].perf->energy);
  EXPECT_EQ(records[0].perf->no_energy, "");
}

TEST(Ceiling, OneThatWasMeasuredTooLowSuspectsNobody) {
  Bench& bench = Bench::shared();
  const Op op = quantize();
  TimingTools tools(bench.device(), bench.shaders());
  tools.ceilings = ceilings_of(1e-3);
  tools.measure_again = [&tools] { tools.ceilings = ceilings_of(1e6); };
  const std::vector<Record> records = timed({large_quantize_case(op, "correct")}, {.tools = &tools});
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records[0].status, Status::Pass) << records[0].reason;
  EXPECT_LT(records[0].perf->pct_peak_bw, 1);
}

TEST(Ceiling, ARowThatNeedsLongerThanItsLimitIsSkippedWithTheNumbersBeforeItRuns) {
  const Op op = quantize();
  const Case test_case = large_quantize_case(op, "correct");
  for (const Mode mode : {Mode::Accu, Mode::Perf}) {
    DeviceRunOptions options{.mode = mode};
    options.ceilings = ceilings_of(1e-6);  // some 0.7 MB at 1 kB/s
    const Record slow = Bench::shared().run({test_case}, options).records.front();
    EXPECT_EQ(slow.status, Status::Skipped);
    EXPECT_THAT(slow.reason,
                ContainsRegex("needs at least 65[0-9] s per program on this device: 6.5[0-9]e\\+05 "
                              "bytes at 1e-06 GB/s; the limit is 10 s \\(--program-limit\\)"));
    EXPECT_FALSE(slow.accuracy);
    options.rows.program_limit_s = 700;
    Case hasty = test_case;
    hasty.timeout_s = 20;
    EXPECT_THAT(Bench::shared().run({hasty}, options).records.front().reason,
                HasSubstr("the limit is 20 s (the case's timeout)"));
    hasty.timeout_s = 1000;
    EXPECT_EQ(Bench::shared().run({hasty}, options).records.front().status, Status::Pass);
  }
}

// Order and counts: how much longer it takes on a busy machine is nobody's promise.
TEST(InjectSlowdown, AddsADispatchOfWorkToTheTimedProgramAndLeavesItsAnswer) {
  const Op op = quantize();
  const Record plain = timed({large_quantize_case(op, "correct")}).front();
  const Record slowed =
      timed({large_quantize_case(op, "correct")}, {.rows = {.injected_slowdown_pct = 300}}).front();
  ASSERT_TRUE(plain.perf && slowed.perf) << slowed.reason;
  ASSERT_EQ(slowed.perf->dispatches.size(), plain.perf->dispatches.size() + 1);
  EXPECT_EQ(slowed.perf->dispatches.front().label, plain.perf->dispatches.front().label);
  EXPECT_EQ(slowed.perf->dispatches.back().label, "burden");
  EXPECT_NE(slowed.perf->program_hash, plain.perf->program_hash);
  EXPECT_EQ(slowed.perf->output_hash, plain.perf->output_hash);
}

// A kernel that never ends takes its device with it, hence a process of its own. One that is late does not.

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
