#pragma once

#include "harness/engine/ceilings/ceiling_options.h"
#include "harness/engine/timing/timing_tools.h"
#include "harness/gpu/gpu.h"
#include "harness/op/ceilings.h"

#include <cstdint>
#include <span>
#include <string>

namespace assay {

/// What the device reaches, by kernels of our own (shaders/ceilings): about 4 s on a GPU, 6 s on a CPU. Every
/// figure is the best of several kernels and repetitions: a ceiling is a maximum. What the device lacks the
/// feature for is 0, and so is what could not be measured at the device's full clock. Throws what running
/// programs throws: Timeout, DeviceLost, OutOfMemory when not even a small footprint can be had. A device
/// whose timestamps are distrusted is timed by the CPU's clock.
Ceilings measure_ceilings(TimingTools& tools, gpu::ShaderLibrary& shaders,
                          const CeilingOptions& options = {});

/// What `Ceilings::driver` says: name and version of the driver; where the device is the host's CPU, that CPU
/// too, since such a driver's UUID is the same on every host.
std::string ceilings_driver(const DeviceInfo& device);

/// What `Ceilings::kernels` says: a hash of all kernels that would measure, and of how they are timed.
std::string ceilings_kernels(gpu::ShaderLibrary& shaders);

/// Size of the last-level cache: the largest footprint whose bandwidth (geometric mean of copy, read and
/// write) is nearer to the cache's than to that of the far end, which has to lie well beyond the cache and to
/// be slower by a quarter. 0: no such place. Inner caches do not count, nor noise of a few percent.
std::uint64_t last_level_cache_bytes(std::span<const BandwidthPoint> curve);

}  // namespace assay
