#pragma once

#include "harness/device/device_info.h"
#include "harness/gpu/spirv/shader_interface.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace assay::gpu {

/// What a module from outside needs and the device does not have, with its name or both numbers: a feature
/// for one of its capabilities, SPIR-V of its version, a workgroup of its size, its push constants. Nothing
/// if it can run.
std::optional<std::string> unmet_need(std::span<const std::uint32_t> words, const ShaderInterface& interface,
                                      const DeviceInfo& device);

}  // namespace assay::gpu
