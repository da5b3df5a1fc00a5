#pragma once

#include "harness/gpu/device/device.h"

namespace assay::gpu {

/// Frees what the device's memory pool keeps for reuse. Defined with the pool, which is above the blocks that
/// it keeps.
void free_kept_memory(Device::State& device);

}  // namespace assay::gpu
