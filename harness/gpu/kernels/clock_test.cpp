// Tests the harness's own clock with kernels of known relative length, timed like every row. The tests
// compare their order, which other work on the machine does not change; tests/benchmarks prints the ratios.

#include "harness/gpu/kernels/clock_probe.h"
#include "tests/support/gpu.h"

#include <algorithm>
#include <limits>

namespace assay::gpu {
namespace {

using namespace test;

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
