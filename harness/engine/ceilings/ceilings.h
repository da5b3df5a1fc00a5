#pragma once

#include "harness/device/ceilings.h"
#include "harness/engine/ceilings/ceiling_options.h"
#include "harness/engine/timing/timing_tools.h"
#include "harness/gpu/gpu.h"

#include <cstdint>
#include <span>
#include <string>

namespace assay {

/// Measures the device's ceilings with our own kernels (shaders/ceilings): about 4 s on a GPU, 6 s on a CPU.
/// Every figure is the best of several kernels and repetitions, since a ceiling is a maximum. A figure is 0
/// when the device does not have the feature or it could not be measured at full clock. Throws what running
/// programs throws: Timeout, DeviceLost, OutOfMemory when not even a small footprint can be allocated. A
/// device whose timestamps are distrusted is timed by the CPU's clock.
Ceilings measure_ceilings(TimingTools& tools, gpu::ShaderLibrary& shaders,
                          const CeilingOptions& options = {});

/// The value of `Ceilings::driver`: name and version of the driver; when the device is the host's CPU, also
/// that CPU, since such a driver's UUID is the same on every host.
std::string ceilings_driver(const DeviceInfo& device);

/// The value of `Ceilings::kernels`: a hash of all measuring kernels and of how they are timed.
std::string ceilings_kernels(gpu::ShaderLibrary& shaders);

/// Size of the last-level cache: the largest footprint whose bandwidth (geometric mean of copy, read and
/// write) is nearer to the cache's than to that of the far end, which has to lie well beyond the cache and to
/// be slower by a quarter. 0: there is no such footprint. Inner caches and noise of a few percent do not
/// count.
std::uint64_t last_level_cache_bytes(std::span<const BandwidthPoint> curve);

}  // namespace assay
