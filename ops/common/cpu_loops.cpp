#include "ops/common/cpu_loops.h"

#include <fmt/format.h>

namespace assay::ops {

std::optional<std::string> loops_unsupported_reason(std::int64_t turns, const DeviceInfo& device) {
  if (!leaves_loops_early(turns, device)) return std::nullopt;
  return fmt::format("{} loop iterations per invocation exceed the {} that a CPU device runs", turns,
                     most_turns_on_a_cpu);
}

}  // namespace assay::ops
