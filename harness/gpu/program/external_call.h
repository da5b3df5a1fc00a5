#pragma once

#include "harness/device/device_info.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/spirv/module_declarations.h"
#include "harness/op/program.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace assay::gpu {

/// The bits of a number of that type, the lowest first; nothing if it cannot be one: a fraction or a value
/// out of range for an integer, anything but 0 and 1 for a boolean. Floats are rounded.
std::optional<std::uint64_t> encoded(const Number& number, NumberType type);

/// The bytes of one uniform block that a call sets.
struct UniformBlock {
  std::uint32_t binding = 0;  ///< in the resolved module
  std::vector<std::byte> bytes;
};

/// A dispatch of an external kernel in this harness's own terms: binding i is `dispatch.bindings[i]`, and its
/// local size, constants (by id) and push constants are set.
struct ResolvedCall {
  Dispatch dispatch;
  Spirv spirv;                         ///< with its variables at set 0: the bindings, then the uniform blocks
  std::vector<UniformBlock> uniforms;  ///< of bindings after those of the dispatch, ascending
};

/// Finds what `dispatch.external` names in the declarations of its module. Throws Error, which names the
/// shader, the dispatch, what is missing and what the module declares, when a name is unknown or stands for
/// several things, when a binding or a member that the kernel uses gets no value, or when a value does not
/// fit its type. Throws Unsupported when the module needs what the device does not have: a feature, SPIR-V of
/// a later version, or a larger workgroup.
ResolvedCall resolved_call(const Dispatch& dispatch, const Spirv& spirv, const DeviceInfo& device);

}  // namespace assay::gpu
