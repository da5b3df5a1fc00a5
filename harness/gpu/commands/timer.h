#pragma once

#include "harness/gpu/device/device.h"

namespace assay::gpu {

/// The timestamps of one submission. Only for queues that have timestamps: see available().
class Stamps {
 public:
  /// Whether the queue has timestamps that are not distrusted.
  static bool available(const Device::State& device) {
    return device.info().timestamp_valid_bits > 0 && !device.timestamps_distrusted;
  }

  Stamps(Device::State& device, std::uint32_t count);

  /// Resets all timestamps; must be recorded before the first stamp().
  void reset(VkCommandBuffer commands) const;

  /// Records the next timestamp at the bottom of the pipe: the time at which everything recorded before it
  /// has ended. Both timestamps of a pair use that stage. The top of the pipe would be wrong for the first
  /// (drivers write it while the warm-up still runs) and for the last (before the work has ended); the same
  /// stage at both ends has the same latency, which the difference cancels. Record a barrier before each
  /// timestamp, so that the work after it starts at the moment that the timestamp shows.
  void stamp(VkCommandBuffer commands);

  /// The ticks of all timestamps in order; call it after the submission has ended.
  std::vector<std::uint64_t> ticks() const;
  /// Times in ns from timestamp i to timestamp i+1.
  std::vector<double> steps_ns() const;

 private:
  Device::State& device_;
  std::uint32_t count_;
  std::uint32_t next_ = 0;
  Handle<VkQueryPool> pool_;
};

}  // namespace assay::gpu
