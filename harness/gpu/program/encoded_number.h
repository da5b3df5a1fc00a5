#pragma once

#include "harness/gpu/spirv/module_declarations.h"
#include "harness/op/program.h"

#include <cstdint>
#include <optional>

namespace assay::gpu {

/// The bits of a number of that type, the lowest first; nothing if it cannot be one: a fraction or a value
/// out of range for an integer, anything but 0 and 1 for a boolean. Floats are rounded.
std::optional<std::uint64_t> encoded(const Number& number, NumberType type);

}  // namespace assay::gpu
