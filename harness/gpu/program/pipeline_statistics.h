#pragma once

#include "harness/gpu/program/pipeline.h"

#include <string_view>

namespace assay::gpu {

/// One statistic of a compiled shader, under the driver's name for it.
struct DriverStatistic {
  std::string_view name;
  double value = 0;
  std::uint32_t subgroup_size = 0;  ///< the shader's; 0: unknown
};

/// Adds `one` to `all` if its name is known; each figure is the largest one seen. Names differ by driver, and
/// most (instructions, latencies, hashes) are ignored.
void add_statistic(ExecutableStatistics& all, const DriverStatistic& one);

/// Merges `some` into `all`: the larger of each figure; a figure that only one of them has is kept.
void add_statistics(ExecutableStatistics& all, const ExecutableStatistics& some);

/// The driver's statistics of a dispatch, empty when it reports none. They come from a throw-away pipeline
/// that is created with the flag that captures statistics: drivers may bypass their caches for it, so it must
/// affect neither timed pipelines nor compile_ms. The result is stored in `pipeline`, which is queried only
/// once.
ExecutableStatistics statistics_of(const Device::State& device, const Dispatch& dispatch, Pipeline& pipeline);

}  // namespace assay::gpu
