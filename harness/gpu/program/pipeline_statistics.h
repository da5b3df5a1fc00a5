#pragma once

#include "harness/gpu/program/pipeline.h"

#include <string_view>

namespace assay::gpu {

/// One value that a driver tells of a compiled shader, as it names it.
struct DriverStatistic {
  std::string_view name;
  double value = 0;
  std::uint32_t subgroup_size = 0;  ///< the shader's; 0: unknown
};

/// Takes `test_case` into account where its name means something here: the largest of each counts. Names
/// differ by driver, and most (instructions, latencies, hashes) are passed over.
void add_statistic(ExecutableStatistics& all, const DriverStatistic& one);

/// The largest of each; what only one of the two knows is kept.
void add_statistics(ExecutableStatistics& all, const ExecutableStatistics& some);

/// What the driver tells of a dispatch; nothing where it does not tell. From a pipeline of its own, made with
/// the flag that captures statistics and thrown away: drivers may leave their caches out for such a pipeline,
/// so that neither what is timed nor compile_ms may have it. A pipeline is asked once; it remembers.
ExecutableStatistics statistics_of(const Device::State& device, const Dispatch& dispatch, Pipeline& pipeline);

}  // namespace assay::gpu
