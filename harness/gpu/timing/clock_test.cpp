// The harness tests its own clock: kernels of known relative length, timed as every row is.

#include "harness/base/statistics.h"
#include "harness/gpu/timing/clock_probe.h"
#include "tests/support/gpu.h"

#include <fmt/format.h>

#include <cmath>

namespace assay::gpu {
namespace {

using namespace test;

/// One program of the clock probe's kernel, a dispatch for each entry, in memory of its own.
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
  static constexpr int tries = 8;  // the machine may be busy with other things
  static constexpr int batches = 15;

  void SetUp() override {
    GpuTest::SetUp();
    const double length_ns = device().info().is_cpu() ? 1e6 : 2e5;
    n = ClockProbeKernel(device(), library).rounds_for(length_ns, timeout_s);
  }

  /// Lower quartiles over batches that take turns, so that all see the same of what else the machine does,
  /// and little of it: that only ever adds to a time.
  std::vector<double> times_ns(const std::vector<std::vector<std::uint32_t>>& programs) {
    std::vector<Spin> spins;
    for (const std::vector<std::uint32_t>& rounds : programs) {
      spins.emplace_back(device(), library, rounds);
    }
    std::vector<std::vector<double>> times(spins.size());
    for (int i = 0; i < batches; ++i) {
      for (std::size_t j = 0; j < spins.size(); ++j) {
        times[j].push_back(spins[j].time_ns(timeout_s));
      }
    }
    std::vector<double> quartiles;
    for (std::vector<double>& one : times) {
      quartiles.push_back(summarize(std::move(one)).p25);
    }
    return quartiles;
  }

  /// `ratio()` is `expected`, in one of several tries at least.
  template <class F>
  static void expect_ratio(double expected, double tolerance, const F& ratio) {
    std::string seen;
    for (int i = 0; i < tries; ++i) {
      const double found = ratio();
      if (std::abs(found / expected - 1) <= tolerance) {
        return;
      }
      seen += fmt::format(" {:.4g}", found);
    }
    ADD_FAILURE() << "expected " << expected << ", measured" << seen;
  }

  ShaderLibrary library;
  std::uint32_t n = 0;
};

TEST_F(ClockTest, TwiceTheWorkTakesTwiceTheTime) {
  expect_ratio(2, 0.15, [this] {
    const std::vector<double> ns = times_ns({{n}, {2 * n}, {3 * n}});
    return (ns[2] - ns[0]) / (ns[1] - ns[0]);
  });
}

TEST_F(ClockTest, AnInjectedStallShowsUpAsTheTimeThatItTakes) {
  // What half of a program's work more costs, known from a program that is longer still.
  const std::uint32_t stall = std::max(n / 2, 2U);
  expect_ratio(1, 0.15, [&] {
    const std::vector<double> ns = times_ns({{n, 1}, {n, stall}, {n, 4 * stall + 1}});
    const double stall_ns = ns[1] - ns[0];
    const double round_ns = (ns[2] - ns[0]) / (4 * stall);
    return stall_ns / (round_ns * (stall - 1));
  });
}

}  // namespace
}  // namespace assay::gpu
