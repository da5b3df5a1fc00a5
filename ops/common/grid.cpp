#include "ops/common/grid.h"

#include <algorithm>
#include <bit>

namespace assay::ops {
namespace {

constexpr std::int64_t workgroups_to_fill_a_device = 1024;
constexpr std::int64_t smallest_workgroup = 32;
constexpr std::int64_t largest_workgroup = 256;

}  // namespace

Tunable local_size_tunable() {
  return {.name = "local_size",
          .fallback = 0,
          .min = 1,
          .max = 1024,
          .doc = "invocations of a workgroup; by default chosen from the tensor's size and the device"};
}

std::uint32_t default_local_size(std::int64_t invocations, const DeviceInfo& device) {
  const std::int64_t most = std::min<std::int64_t>(largest_workgroup, device.max_workgroup_invocations);
  const std::int64_t least = std::max<std::int64_t>(smallest_workgroup, device.subgroup_size);
  const auto wanted =
      static_cast<std::uint64_t>(std::max<std::int64_t>(invocations / workgroups_to_fill_a_device, 1));
  const auto local = static_cast<std::int64_t>(std::bit_floor(wanted));
  return static_cast<std::uint32_t>(std::clamp(local, std::min(least, most), most));
}

std::uint32_t tuned_local_size(const BuildContext& context, std::int64_t invocations) {
  const std::uint32_t fallback = default_local_size(invocations, context.device);
  return static_cast<std::uint32_t>(context.tuned("local_size", fallback));
}

void set_grid(Dispatch& dispatch, const BuildContext& context, std::int64_t invocations) {
  const std::uint32_t local = tuned_local_size(context, invocations);
  dispatch.local_size = {local, 1, 1};
  dispatch.workgroups = fold_grid(invocations, local);
}

}  // namespace assay::ops
