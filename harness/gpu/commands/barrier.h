#pragma once

#include "harness/gpu/device/vk.h"

namespace assay::gpu {

/// Who accessed memory before a barrier, or will access it after the barrier.
enum class Scope : std::uint8_t {
  Compute,          ///< shaders reading and writing storage
  Transfer,         ///< copies
  Host,             ///< the CPU, through mapped memory
  TransferAndHost,  ///< copies out, and the CPU
  Anything,         ///< all of these
};

/// Records a memory barrier: `after` starts when `before` has ended and sees what `before` wrote.
void barrier(const DeviceTable& table, VkCommandBuffer commands, Scope before, Scope after);

}  // namespace assay::gpu
