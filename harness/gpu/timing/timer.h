#pragma once

#include "harness/gpu/device/device.h"

namespace assay::gpu {

/// Timestamps of one submission. Only for queues that have them: see `available`.
class Stamps {
 public:
  /// Whether there are timestamps, and nobody distrusts them.
  static bool available(const Device::State& device) {
    return device.info().timestamp_valid_bits > 0 && !device.timestamps_distrusted;
  }

  Stamps(Device::State& device, std::uint32_t count);

  /// Record first: resets all stamps.
  void reset(VkCommandBuffer commands) const;

  /// Records the next stamp, at the bottom of the pipe: the time at which everything recorded before it has
  /// ended. Both stamps of a pair use that stage. The top of the pipe would be wrong for the first (drivers
  /// write it while the warm-up still runs) and for the last (before the work has ended); the same stage at
  /// both ends has the same latency, which the difference cancels. A barrier goes before each stamp, so that
  /// the work of the other side waits for the same moment that the stamp shows.
  void stamp(VkCommandBuffer commands);

  /// After the submission ended: the ticks of all stamps in order.
  std::vector<std::uint64_t> ticks() const;
  /// ns from stamp i to stamp i+1.
  std::vector<double> steps_ns() const;

 private:
  Device::State& device_;
  std::uint32_t count_;
  std::uint32_t next_ = 0;
  Handle<VkQueryPool> pool_;
};

}  // namespace assay::gpu
