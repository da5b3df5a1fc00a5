#pragma once

#include "harness/gpu/device/vk.h"

namespace assay::gpu {

/// Who touched memory before a barrier, or will after it.
enum class Scope : std::uint8_t {
  Compute,          ///< shaders reading and writing storage
  Transfer,         ///< copies
  Host,             ///< the CPU, through mapped memory
  TransferAndHost,  ///< copies out, and the CPU
  Anything,         ///< all of these
};

/// A memory barrier: what `before` wrote is seen by `after`, and `after` starts when `before` has ended.
void barrier(const DeviceTable& table, VkCommandBuffer commands, Scope before, Scope after);

}  // namespace assay::gpu
