#pragma once

#include "harness/core/op.h"
#include "harness/core/program.h"

#include <cstdint>

namespace assay::ops {

/// The tunable `local_size`: invocations of a workgroup.
Tunable local_size_tunable();

/// Invocations of a workgroup when no case says so: enough workgroups to fill a large device first, then
/// larger workgroups, between the device's subgroup and 256.
std::uint32_t default_local_size(std::int64_t invocations, const DeviceInfo& device);

/// The tuned `local_size`, or the default for this many invocations.
std::uint32_t tuned_local_size(const BuildContext& context, std::int64_t invocations);

/// Gives `dispatch` the local size (tuned, or by default) and the workgroups for this many invocations.
void set_grid(Dispatch& dispatch, const BuildContext& context, std::int64_t invocations);

}  // namespace assay::ops
