#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace assay::ops {

/// The least power of two that is n or more, and the greatest that is n or less; n >= 1.
std::int64_t power_of_two_from(std::int64_t n);
std::int64_t power_of_two_within(std::int64_t n);

/// The most invocations along x of a workgroup that are a power of two.
std::int64_t most_invocations(const DeviceInfo& device);

/// The tunable `local_size`: invocations of a workgroup.
Tunable local_size_tunable();

/// Invocations of a workgroup when no case says so: enough workgroups to fill a large device first, then
/// larger workgroups, between the device's subgroup or 64 and 256; 128 where few workgroups hold all.
std::uint32_t default_local_size(std::int64_t invocations, const DeviceInfo& device);

/// The tuned `local_size`, or the default for this many invocations.
std::uint32_t tuned_local_size(const BuildContext& context, std::int64_t invocations);

/// Gives `dispatch` the local size (tuned, or by default) and the workgroups for this many invocations.
void set_grid(Dispatch& dispatch, const BuildContext& context, std::int64_t invocations);

/// The tunable `vectors_per_invocation` (shaders/common/vectors.glslh).
Tunable vectors_tunable();

/// Gives `dispatch` a grid for so many vectors, several an invocation where there are many:
/// `vectors_per_invocation`, tuned or by default, which becomes a specialization constant.
void set_vector_grid(Dispatch& dispatch, const BuildContext& context, std::int64_t vectors);

/// The tunables `local_x`, `local_y`, `local_z`: the sides of a workgroup. Those that a case does not set
/// stay as they were chosen, so that one alone may make a workgroup too large for the device.
std::vector<Tunable> local_side_tunables(const std::string& doc);

/// The same for workgroups over a texture's texels.
std::vector<Tunable> local_extent_tunables();

/// One of them: side 0, 1 or 2, tuned or `fallback`.
std::uint32_t tuned_side(const BuildContext& context, std::size_t side, std::uint32_t fallback);

/// The sides of a workgroup of about `wanted` invocations, one a texel of `extent`. x is filled up to the
/// device's subgroup, then y, then z, then x again. No side exceeds the extent's, and each divides it as
/// evenly as it can; sides grow beyond `wanted` where the device could not count the workgroups otherwise.
std::array<std::uint32_t, 3> local_extent(std::array<std::uint32_t, 3> extent, std::uint32_t wanted,
                                          const DeviceInfo& device);

/// Gives `dispatch` a grid of one invocation a texel of `extent`. `local_x`, `local_y` and `local_z` set
/// sides of the workgroup, `local_size` what the others are chosen for.
void set_texture_grid(Dispatch& dispatch, const BuildContext& context, std::array<std::uint32_t, 3> extent);

}  // namespace assay::ops
