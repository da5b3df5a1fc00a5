#pragma once

#include "harness/gpu/bindings.h"
#include "harness/gpu/calibration.h"
#include "harness/gpu/recording.h"

namespace assay::gpu {

/// The program of shaders/pilot.comp: one dispatch that writes tensor 0, `pilot_words` float32.
Program pilot_program(const DeviceInfo& device, std::uint32_t rounds);
std::int64_t pilot_words(const DeviceInfo& device);

/// It on a device, with a number of rounds that is chosen anew each time it is recorded.
class PilotKernel {
 public:
  PilotKernel(Device& device, ShaderLibrary& shaders);

  const Device::State& device() const { return device_; }

  /// Records one dispatch. Barriers around it are the caller's.
  void record(VkCommandBuffer commands, std::uint32_t rounds);

  /// One submission: a stamp, then for each entry that many rounds (0: no dispatch) and a stamp. No ticks
  /// without timestamps.
  StampedRun run(std::span<const std::uint32_t> rounds, double timeout_s);

  /// How many rounds last about `target_ns` on the device when it is warm: heats it first, for as long as it
  /// gets faster. By the CPU's clock, so that no timestamp is trusted yet.
  std::uint32_t rounds_for(double target_ns, double timeout_s);

 private:
  double wall_ns(std::uint32_t rounds, double timeout_s) { return run({&rounds, 1}, timeout_s).wall_ns; }
  double best_wall_ns(std::uint32_t rounds, double timeout_s);
  void heat(std::uint32_t rounds, double timeout_s);

  Device::State& device_;
  Program program_;
  Workspace workspace_;
  std::vector<Pipeline> pipelines_;
  Bindings bindings_;
};

struct Pilot::State {
  State(Device& device, ShaderLibrary& shaders);

  /// Records the pilot once. Barriers around it are the caller's.
  void record(VkCommandBuffer commands) { kernel.record(commands, rounds); }

  PilotKernel kernel;
  std::uint32_t rounds;
};

}  // namespace assay::gpu
