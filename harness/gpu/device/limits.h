#pragma once

#include "harness/op/device_info.h"
#include "harness/op/program.h"
#include "harness/tensor/form.h"

#include <optional>
#include <span>
#include <string>

namespace assay::gpu {

/// The part of unsupported() that needs the dispatches and the forms of what they bind only: workgroups,
/// shared memory, push constants, bindings.
std::optional<std::string> beyond_limits(const Program& program, std::span<const Physical> tensors,
                                         const DeviceInfo& device);

/// The part that needs one tensor of texture storage only: extents, format, size.
std::optional<std::string> beyond_texture(const std::string& name, const Physical& physical,
                                          const DeviceInfo& device);

/// The form of what a dispatch binds. Throws std::logic_error for a resource that the program does not have.
Form form_of(const Program& program, std::span<const Physical> tensors, Resource resource);
/// The same of its type.
DType dtype_of(const Program& program, std::span<const Physical> tensors, Resource resource);

}  // namespace assay::gpu
