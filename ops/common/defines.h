#pragma once

#include "harness/op/device_info.h"
#include "harness/op/program.h"
#include "harness/tensor/form.h"

#include <string>

// Values of #defines that several kernels have.

namespace assay::ops {

/// "1" or "0".
std::string flag(bool value);

/// TEXTURE: 0 for a buffer, else the number of dimensions.
Define texture_define(Form form);

/// SUBGROUPS of shaders/common/value_range.glslh, for a dispatch whose local size is set: whether invocations
/// of a subgroup exchange registers. They are numbered by gl_SubgroupID * gl_SubgroupSize, which counts every
/// number once only if all subgroups are full. Drivers with several sizes may run a shader with another one
/// than gl_SubgroupSize says: there the dispatch demands the device's own, or uses shared memory where it
/// cannot.
void use_subgroups(Dispatch& dispatch, const DeviceInfo& device);

}  // namespace assay::ops
