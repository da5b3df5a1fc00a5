#pragma once

#include "harness/core/device_info.h"
#include "harness/core/program.h"

#include <optional>
#include <string>

namespace assay::gpu {

/// The part of unsupported() that needs the dispatches only: workgroups, shared memory, push constants,
/// bindings.
std::optional<std::string> beyond_limits(const Program& program, const DeviceInfo& device);

}  // namespace assay::gpu
