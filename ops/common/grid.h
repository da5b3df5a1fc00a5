#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::ops {

/// The least power of two >= n, and the greatest <= n, for n >= 1.
std::int64_t power_of_two_from(std::int64_t n);
std::int64_t power_of_two_within(std::int64_t n);

/// The largest power of two that the device allows as a workgroup's invocations along x.
std::int64_t most_invocations(const DeviceInfo& device);

/// Why workgroups of `invocations` exceed `most`, which is what the device allows, or nothing.
std::optional<std::string> workgroup_unsupported_reason(std::int64_t invocations, std::int64_t most);

/// The tunable `local_size`: invocations of a workgroup.
Tunable local_size_tunable();

/// The invocations of a workgroup when no case sets them. They are chosen so that a large device is filled
/// first and workgroups grow after that, between the device's subgroup (or 64) and 256; 128 where a few
/// workgroups hold all invocations.
std::uint32_t default_local_size(std::int64_t invocations, const DeviceInfo& device);

/// The tuned `local_size`, or the default for this many invocations.
std::uint32_t tuned_local_size(const BuildContext& context, std::int64_t invocations);

/// The invocations of a workgroup in which each group of `columns`, a power of two, shares a row: the tuned
/// `local_size` or 128, made a power of two that the device allows and that has room for one group.
std::int64_t local_size_of_rows(const BuildContext& context, std::int64_t columns);

/// Gives `dispatch` its local size, tuned or by default, and the workgroups for this many invocations.
void set_grid(Dispatch& dispatch, const BuildContext& context, std::int64_t invocations);

/// The tunable `vectors_per_invocation` (shaders/common/vectors.glslh).
Tunable vectors_tunable();

/// Gives `dispatch` a grid for this many vectors. An invocation takes `most` of them where there are many, or
/// as many as `vectors_per_invocation` is tuned to, which becomes a specialization constant.
void set_vector_grid(Dispatch& dispatch, const BuildContext& context, std::int64_t vectors,
                     std::int64_t most = 4);

/// The tunables `local_x`, `local_y`, `local_z`: the sides of a workgroup. Sides that a case does not set
/// keep their default, so that setting one alone may make a workgroup too large for the device.
std::vector<Tunable> local_side_tunables(const std::string& doc);

/// The tunables `local_x`, `local_y`, `local_z` for workgroups over the texels of a texture.
std::vector<Tunable> local_extent_tunables();

/// The tuned value of `local_x`, `local_y` or `local_z` (side 0, 1 or 2), or `fallback`.
std::uint32_t tuned_side(const BuildContext& context, std::size_t side, std::uint32_t fallback);

/// The sides of a workgroup of about `wanted` invocations, with one invocation per texel of `extent`. x is
/// filled up to the device's subgroup, then y, then z, then x again. No side exceeds the extent's, and each
/// divides it as evenly as it can; sides grow beyond `wanted` where the device could not count the workgroups
/// otherwise.
std::array<std::uint32_t, 3> local_extent(std::array<std::uint32_t, 3> extent, std::uint32_t wanted,
                                          const DeviceInfo& device);

/// Gives `dispatch` a grid with one invocation per texel of `extent`. `local_x`, `local_y` and `local_z` set
/// sides of the workgroup; `local_size` is the number of invocations for which the other sides are chosen.
void set_texture_grid(Dispatch& dispatch, const BuildContext& context, std::array<std::uint32_t, 3> extent);

}  // namespace assay::ops
