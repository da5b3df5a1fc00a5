#pragma once

#include "harness/gpu/kernels/calibration.h"
#include "harness/gpu/program/bindings.h"

namespace assay::gpu {

/// The program of shaders/harness/clock_probe.comp: one dispatch that writes tensor 0, `probe_words` float32.
Program probe_program(const DeviceInfo& device, std::uint32_t rounds);
std::int64_t probe_words(const DeviceInfo& device);

/// The clock probe's kernel on a device; the number of rounds is chosen each time it is recorded.
class ClockProbeKernel {
 public:
  ClockProbeKernel(Device& device, ShaderLibrary& shaders);

  const Device::State& device() const { return device_; }

  /// Records one dispatch. Barriers around it are the caller's.
  void record(VkCommandBuffer commands, std::uint32_t rounds);

  /// One submission: a stamp, then for each entry that many rounds (0: no dispatch) and a stamp. No ticks
  /// without timestamps.
  StampedRun run(std::span<const std::uint32_t> rounds, double timeout_s);

  /// Number of rounds that take about `target_ns` on the warm device. Heats the device first, for as long as
  /// it gets faster. Measures by the CPU's clock, because timestamps are not trusted yet.
  std::uint32_t rounds_for(double target_ns, double timeout_s);

 private:
  double wall_ns(std::uint32_t rounds, double timeout_s) { return run({&rounds, 1}, timeout_s).wall_ns; }
  double best_wall_ns(std::uint32_t rounds, double timeout_s);
  void heat(std::uint32_t rounds, double timeout_s);

  Device::State& device_;
  Program program_;
  Workspace workspace_;
  std::vector<SharedPipeline> pipelines_;
  Bindings bindings_;
};

struct ClockProbe::State final : AppendedWork {
  State(Device& device, ShaderLibrary& shaders);

  void record(VkCommandBuffer commands) override { kernel.record(commands, rounds); }

  ClockProbeKernel kernel;
  std::uint32_t rounds;
};

}  // namespace assay::gpu
