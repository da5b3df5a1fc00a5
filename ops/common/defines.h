#pragma once

#include "harness/device/device_info.h"
#include "harness/op/program.h"
#include "harness/tensor/form.h"

#include <array>
#include <cstdint>
#include <string>

// Values of #defines that several kernels share.

namespace assay::ops {

/// The value of a #define that is a flag: "1" or "0".
std::string flag(bool value);

/// Adds a specialization constant to `dispatch`.
void set_constant(Dispatch& dispatch, std::string name, std::int64_t value);

/// TEXTURE: 0 for a buffer, else the number of dimensions.
Define texture_define(Form form);

/// Whether a dispatch with workgroups of this size can rely on gl_SubgroupSize, with all subgroups full: the
/// device has one size, or the dispatch may demand the device's own. A driver with several sizes may run a
/// shader with another size than gl_SubgroupSize reports.
bool knows_subgroup_size(const DeviceInfo& device, const std::array<std::uint32_t, 3>& local_size);

/// Demands the device's own subgroup size where there are several, for a dispatch whose local size is set and
/// for which knows_subgroup_size() is true.
void demand_subgroup_size(Dispatch& dispatch, const DeviceInfo& device);

/// Sets SUBGROUPS of shaders/common/value_range.glslh for a dispatch whose local size is set: whether the
/// invocations of a subgroup exchange registers. They are numbered gl_SubgroupID * gl_SubgroupSize +
/// gl_SubgroupInvocationID, which counts every number once only if all subgroups are full. The dispatch
/// demands that where it must, and uses shared memory where it cannot.
void use_subgroups(Dispatch& dispatch, const DeviceInfo& device);

}  // namespace assay::ops
