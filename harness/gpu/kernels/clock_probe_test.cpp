#include "harness/gpu/kernels/clock_probe.h"

#include "harness/base/statistics.h"
#include "harness/gpu/commands/submission.h"
#include "tests/support/gpu.h"
#include "tests/support/shaders_under_test.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::gpu {
namespace {

using namespace test;

class ClockProbeTest : public GpuTest {
 protected:
  static constexpr double us = 1e3;

  /// The output of the clock probe's kernel, run as a program.
  std::vector<float> output_of(std::uint32_t rounds) {
    const Program program = probe_program(device().info(), rounds);
    const std::vector<Physical> tensors{
        Physical({Storage::Buffer, Layout::WP}, DType::F32, {probe_words(device().info())})};
    Executable built(device(), library, program, tensors, 0);
    Workspace memory = workspace(program, tensors, 0);
    built.run(memory, "clock probe", timeout_s);
    const std::vector<std::byte> bytes = memory.read(Resource::tensor(0));
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  ShaderLibrary library{shaders_under_test()};
};

TEST_F(ClockProbeTest, DoesSixteenStepsARoundInEveryInvocation) {
  for (const std::uint32_t rounds : {0U, 1U, 5U, 40U}) {
    const std::vector<float> values = output_of(rounds);
    ASSERT_EQ(values.size(), static_cast<std::size_t>(probe_words(device().info())));
    const double shrunk = std::pow(0.9990234375, 16.0 * rounds);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double expected = 1 + (static_cast<double>(i % 1024) - 1) * shrunk;
      ASSERT_NEAR(values[i], expected, 1e-4 * std::max(1.0, std::abs(expected))) << rounds << " " << i;
    }
  }
}

// Its length is not tested, since a busy machine may take any time; tests/benchmarks prints it.
TEST_F(ClockProbeTest, HasATimeAndRoundsThatWereChosenForIt) {
  ClockProbe probe(device(), library);
  EXPECT_GT(probe.time_ns(timeout_s), 0);
  EXPECT_GE(probe.state().rounds, 1U);
}

TEST_F(ClockProbeTest, ABurdenIsADispatchOfAsMuchWorkAsItsTimeAsksFor) {
  const ClockProbe probe(device(), library);
  const auto rounds_of = [&](double ns) {
    Program program = probe_program(device().info(), 1);
    probe.burden(program, ns);
    EXPECT_EQ(program.dispatches.size(), 2U);
    EXPECT_EQ(program.dispatches.back().label, "burden");
    return program.dispatches.back().push.words().front();
  };
  EXPECT_EQ(rounds_of(0), 1U) << "an empty dispatch at least";
  // Far longer than the probe, which may have only one round if the machine was busy when it was chosen.
  EXPECT_GT(rounds_of(10'000 * us), 1U);
  EXPECT_NEAR(rounds_of(100'000 * us), 10.0 * rounds_of(10'000 * us), 10.0);
}

TEST_F(ClockProbeTest, CanEndATimedSubmission) {
  if (!Stamps::available(device().state())) {
    GTEST_SKIP() << "the queue has no timestamps";
  }
  ClockProbe probe(device(), library);
  const DeviceTable& table = device().state().table;
  Stamps stamps(device().state(), 3);
  Submission submission(device().state(), "testing the clock probe");
  stamps.reset(submission.commands());
  stamps.stamp(submission.commands());
  for (int i = 0; i < 2; ++i) {
    probe.state().record(submission.commands());
    barrier(table, submission.commands(), Scope::Compute, Scope::Compute);
    stamps.stamp(submission.commands());
  }
  submission.submit_and_wait(timeout_s);
  const std::vector<double> steps = stamps.steps_ns();
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_GT(steps[0], 0);
  EXPECT_GT(steps[1], 0);
}

// Tests the harness's own clock with kernels of known relative length, timed like every row. The tests
// compare their order, which other work on the machine does not change; tests/benchmarks prints the ratios.

/// A program of the clock probe's kernel with one dispatch per entry, in its own memory.
class Spin {
 public:
  Spin(Device& device, ShaderLibrary& library, std::span<const std::uint32_t> rounds)
      : program_(program_of(device, rounds)),
        executable_(device, library, program_, tensors(device), 0),
        memory_(device, program_, tensors(device), 0) {}

  double time_ns(double timeout_s) {
    const Timing timing = executable_.time(memory_, {.warm = 1, .batch = 2}, timeout_s);
    return timing.gpu_ns.value_or(timing.wall_ns) / 2;
  }

 private:
  static std::vector<Physical> tensors(Device& device) {
    return {Physical({Storage::Buffer, Layout::WP}, DType::F32, {probe_words(device.info())})};
  }
  static Program program_of(Device& device, std::span<const std::uint32_t> rounds) {
    Program program;
    for (const std::uint32_t count : rounds) {
      program.dispatches.push_back(probe_program(device.info(), count).dispatches.front());
    }
    return program;
  }

  Program program_;
  Executable executable_;
  Workspace memory_;
};

class ClockTest : public GpuTest {
 protected:
  static constexpr int batches = 15;

  void SetUp() override {
    GpuTest::SetUp();
    const double length_ns = device().info().is_cpu() ? 1e6 : 2e5;
    n = ClockProbeKernel(device(), library).rounds_for(length_ns, timeout_s);
  }

  /// The shortest times of batches that alternate, so that other work on the machine, which only adds to a
  /// time, affects all of them alike.
  std::vector<double> times_ns(const std::vector<std::vector<std::uint32_t>>& programs) {
    std::vector<Spin> spins;
    for (const std::vector<std::uint32_t>& rounds : programs) {
      spins.emplace_back(device(), library, rounds);
    }
    std::vector<double> shortest(spins.size(), std::numeric_limits<double>::infinity());
    for (int i = 0; i < batches; ++i) {
      for (std::size_t j = 0; j < spins.size(); ++j) {
        shortest[j] = std::min(shortest[j], spins[j].time_ns(timeout_s));
      }
    }
    return shortest;
  }

  ShaderLibrary library;
  std::uint32_t n = 0;
};

TEST_F(ClockTest, MoreWorkTakesMoreTime) {
  const std::vector<double> ns = times_ns({{n}, {4 * n}, {16 * n}});
  EXPECT_LT(ns[0], ns[1]);
  EXPECT_LT(ns[1], ns[2]);
}

TEST_F(ClockTest, AnInjectedStallShowsUpInTheTime) {
  const std::vector<double> ns = times_ns({{n, 1}, {n, 4 * n}, {n, 16 * n}});
  EXPECT_LT(ns[0], ns[1]);
  EXPECT_LT(ns[1], ns[2]);
}

}  // namespace

}  // namespace assay::gpu
