#include "ops/common/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace assay::ops {
namespace {

constexpr std::int64_t workgroups_to_fill_a_device = 1024;
constexpr std::int64_t smallest_workgroup = 64;
constexpr std::int64_t largest_workgroup = 256;
// This few invocations end before they could overlap, so that the number of workgroups to start counts most.
constexpr std::int64_t few_invocations = 1024;
constexpr std::int64_t workgroup_of_few = 128;

constexpr std::int64_t most_vectors = 4;  // MOST_VECTORS of shaders/common/vectors.glslh
// From this many vectors, twice as many as large devices hold invocations, an invocation takes several.
constexpr std::int64_t many_vectors = 1 << 20;

constexpr std::array<const char*, 3> side_names{"local_x", "local_y", "local_z"};

/// The longest that one side may be for the workgroup to have at most `wanted` invocations.
std::uint32_t room_along(std::size_t side, const std::array<std::uint32_t, 3>& local, std::uint32_t wanted) {
  std::uint64_t others = 1;
  for (std::size_t i = 0; i < 3; ++i) others *= i == side ? 1 : local[i];
  return static_cast<std::uint32_t>(wanted / others);
}

/// The smallest side that needs no more workgroups along `extent` than `side`.
std::uint32_t evened(std::uint32_t extent, std::uint32_t side) {
  const std::uint32_t workgroups = (extent + side - 1) / side;
  return (extent + workgroups - 1) / workgroups;
}

}  // namespace

std::int64_t power_of_two_from(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
}

std::int64_t power_of_two_within(std::int64_t n) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n)));
}

std::int64_t most_invocations(const DeviceInfo& device) {
  return power_of_two_within(std::min(device.max_workgroup_invocations, device.max_workgroup_size[0]));
}

std::optional<std::string> workgroup_unsupported_reason(std::int64_t invocations, std::int64_t most) {
  if (invocations <= most) return std::nullopt;
  return fmt::format("workgroups of {} invocations exceed the device's {}", invocations, most);
}

Tunable local_size_tunable() {
  return {.name = "local_size",
          .fallback = 0,
          .min = 1,
          .max = 1024,
          .doc = "invocations of a workgroup; by default chosen from the tensor's size and the device"};
}

std::uint32_t default_local_size(std::int64_t invocations, const DeviceInfo& device) {
  const std::int64_t most = std::min(largest_workgroup, most_invocations(device));
  const std::int64_t least = std::max<std::int64_t>(smallest_workgroup, device.subgroup_size);
  const std::int64_t wanted = invocations <= few_invocations ? std::min(invocations, workgroup_of_few)
                                                             : invocations / workgroups_to_fill_a_device;
  return static_cast<std::uint32_t>(std::clamp(power_of_two_within(wanted), std::min(least, most), most));
}

std::uint32_t tuned_local_size(const BuildContext& context, std::int64_t invocations) {
  const std::uint32_t fallback = default_local_size(invocations, context.device);
  return static_cast<std::uint32_t>(context.tuned("local_size", fallback));
}

std::int64_t local_size_of_rows(const BuildContext& context, std::int64_t columns) {
  constexpr std::int64_t of_few_columns = 128;
  const std::int64_t local = context.tuned("local_size", of_few_columns);
  return std::max(columns, power_of_two_within(std::min(local, most_invocations(context.device))));
}

void set_grid(Dispatch& dispatch, const BuildContext& context, std::int64_t invocations) {
  const std::uint32_t local = tuned_local_size(context, invocations);
  dispatch.local_size = {local, 1, 1};
  dispatch.workgroups = fold_grid(invocations, local, context.device.max_workgroup_count[0]);
}

Tunable vectors_tunable() {
  return {.name = "vectors_per_invocation",
          .fallback = 0,
          .min = 1,
          .max = most_vectors,
          .doc = "vectors that an invocation writes; by default chosen from the tensor's size"};
}

void set_vector_grid(Dispatch& dispatch, const BuildContext& context, std::int64_t vectors,
                     std::int64_t most) {
  const std::int64_t each = context.tuned("vectors_per_invocation", vectors >= many_vectors ? most : 1);
  dispatch.constants.push_back({"vectors_per_invocation", static_cast<std::uint32_t>(each)});
  set_grid(dispatch, context, div_up(vectors, each));
}

std::vector<Tunable> local_side_tunables(const std::string& doc) {
  std::vector<Tunable> tunables;
  for (const char* name : side_names) {
    tunables.push_back({.name = name, .fallback = 0, .min = 1, .max = 1024, .doc = doc});
  }
  return tunables;
}

std::vector<Tunable> local_extent_tunables() {
  return local_side_tunables(
      "textures: side of a workgroup in texels; by default chosen from the texture's extent and the device");
}

std::uint32_t tuned_side(const BuildContext& context, std::size_t side, std::uint32_t fallback) {
  return static_cast<std::uint32_t>(context.tuned(side_names[side], fallback));
}

std::array<std::uint32_t, 3> local_extent(std::array<std::uint32_t, 3> extent, std::uint32_t wanted,
                                          const DeviceInfo& device) {
  std::array<std::uint32_t, 3> local{};
  for (std::size_t i = 0; i < 3; ++i) {
    local[i] = static_cast<std::uint32_t>(div_up(extent[i], device.max_workgroup_count[i]));
  }
  const auto grow = [&](std::size_t side, std::uint32_t most) {
    const std::uint32_t room = room_along(side, local, wanted);
    local[side] =
        std::max(local[side], std::min({most, room, extent[side], device.max_workgroup_size[side]}));
  };
  grow(0, std::max(device.subgroup_size, 1u));
  local[0] = evened(extent[0], local[0]);
  for (const std::size_t side : {1, 2}) {
    grow(side, wanted);
    local[side] = evened(extent[side], local[side]);
  }
  grow(0, room_along(0, local, wanted) / local[0] * local[0]);
  return local;
}

void set_texture_grid(Dispatch& dispatch, const BuildContext& context, std::array<std::uint32_t, 3> extent) {
  const std::int64_t texels = std::int64_t{extent[0]} * extent[1] * extent[2];
  const std::array<std::uint32_t, 3> chosen =
      local_extent(extent, tuned_local_size(context, texels), context.device);
  for (std::size_t i = 0; i < 3; ++i) {
    dispatch.local_size[i] = tuned_side(context, i, chosen[i]);
    dispatch.workgroups[i] = static_cast<std::uint32_t>(div_up(extent[i], dispatch.local_size[i]));
  }
}

}  // namespace assay::ops
