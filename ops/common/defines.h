#pragma once

#include "harness/op/device_info.h"
#include "harness/op/program.h"
#include "harness/tensor/form.h"

#include <array>
#include <cstdint>
#include <string>

// Values of #defines that several kernels have.

namespace assay::ops {

/// "1" or "0".
std::string flag(bool value);

/// Gives `dispatch` a specialization constant.
void set_constant(Dispatch& dispatch, std::string name, std::int64_t value);

/// TEXTURE: 0 for a buffer, else the number of dimensions.
Define texture_define(Form form);

/// Whether a dispatch of such workgroups knows the size of its subgroups, all of them full: the device has
/// one size, or the dispatch may demand the device's own. Drivers with several sizes may run a shader with
/// another one than gl_SubgroupSize says.
bool knows_subgroup_size(const DeviceInfo& device, const std::array<std::uint32_t, 3>& local_size);

/// For such a dispatch, whose local size is set: demands the device's own size where there are several.
void demand_subgroup_size(Dispatch& dispatch, const DeviceInfo& device);

/// SUBGROUPS of shaders/common/value_range.glslh, for a dispatch whose local size is set: whether invocations
/// of a subgroup exchange registers. They are numbered by gl_SubgroupID * gl_SubgroupSize, which counts every
/// number once only if all subgroups are full: the dispatch demands that where it must, or uses shared memory
/// where it cannot.
void use_subgroups(Dispatch& dispatch, const DeviceInfo& device);

}  // namespace assay::ops
