#include "ops/common/shader_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <utility>

namespace assay::ops {
namespace {

/// Whether the last subgroup of a workgroup is full, or the only one.
bool ends_with_a_subgroup(const Dispatch& dispatch, const DeviceInfo& device) {
  const std::uint32_t size = std::max(device.subgroup_size, 1U), invocations = dispatch.local_size[0];
  return invocations < size || invocations % size == 0;
}

}  // namespace

std::string flag(bool value) {
  return value ? "1" : "0";
}

void set_define(Dispatch& dispatch, std::string name, std::int64_t value) {
  dispatch.defines.push_back({std::move(name), std::to_string(value)});
}

void set_constant(Dispatch& dispatch, std::string name, std::int64_t value) {
  dispatch.constants.push_back({std::move(name), static_cast<std::uint32_t>(value)});
}

void bind_at(Dispatch& dispatch, std::string name, const Binding& binding) {
  set_define(dispatch, std::move(name), static_cast<std::int64_t>(dispatch.bindings.size()));
  dispatch.bindings.push_back(binding);
}

Define texture_define(Form form) {
  if (!is_texture(form)) return {"TEXTURE", "0"};
  return {"TEXTURE", form.storage == Storage::Texture3D ? "3" : "2"};
}

void demand_subgroup_size(Dispatch& dispatch, const DeviceInfo& device) {
  const bool can = device.can_demand(device.subgroup_size, dispatch.local_size);
  if (can || !device.has_one_subgroup_size()) dispatch.subgroup_size = device.subgroup_size;
}

std::optional<std::string> subgroup_size_unsupported_reason(std::int64_t invocations,
                                                            const DeviceInfo& device) {
  if (device.knows_subgroup_size({static_cast<std::uint32_t>(invocations), 1, 1})) return std::nullopt;
  return fmt::format("full subgroups of {} cannot be demanded in workgroups of {}", device.subgroup_size,
                     invocations);
}

void use_subgroups(Dispatch& dispatch, const DeviceInfo& device) {
  const bool uses = device.has(Feature::SubgroupShuffle) && device.knows_subgroup_size(dispatch.local_size) &&
                    ends_with_a_subgroup(dispatch, device);
  if (uses) demand_subgroup_size(dispatch, device);
  dispatch.defines.push_back({"SUBGROUPS", flag(uses)});
}

// With l = ceil(log2 d), the multiplier ceil(2^(31+l) / d) is less than 2^32 and exceeds the true ratio by
// less than 2^l / d parts of 2^(31+l): too little to change a quotient of a 31-bit number (Granlund and
// Montgomery, "Division by invariant integers using multiplication", PLDI 1994).
Divider divider(std::int64_t divisor) {
  if (divisor < 1 || divisor >= std::int64_t{1} << 31) {
    throw std::logic_error("cannot make a divider for " + std::to_string(divisor) +
                           ": it must be between 1 and 2^31 - 1");
  }
  if (divisor == 1) return {};
  const auto d = static_cast<std::uint64_t>(divisor);
  const int l = static_cast<int>(std::bit_width(d - 1));
  const std::uint64_t multiplier = ((std::uint64_t{1} << (31 + l)) + d - 1) / d;
  return {static_cast<std::uint32_t>(multiplier), static_cast<std::uint32_t>(l - 1)};
}

Tunable bake_tunable() {
  return {.name = "bake",
          .fallback = 1,
          .min = 0,
          .max = 1,
          .doc =
              "1: sizes and qparams are built into the program; 0: they are pushed, and all shapes share "
              "programs; by default 1, but 0 on a CPU, where constants are cached"};
}

bool wants_bake(const BuildContext& context) {
  return context.tuned("bake", context.device.is_planned_as_cpu() ? 0 : 1) != 0;
}

void bake(Dispatch& dispatch, std::span<const std::string_view> names, bool bakes) {
  const std::vector<std::uint32_t>& words = dispatch.push.words();
  if (names.size() != words.size()) {
    throw std::logic_error("bake: " + std::to_string(names.size()) + " names for the " +
                           std::to_string(words.size()) + " push constants of dispatch '" + dispatch.label +
                           "'");
  }
  dispatch.constants.push_back({"baked", bakes ? 1U : 0U});
  for (std::size_t i = 0; i < names.size(); ++i) {
    // 1, not 0: no compiler should see a division by zero, not even one that is never executed.
    if (!names[i].empty()) {
      dispatch.constants.push_back({"baked_" + std::string(names[i]), bakes ? words[i] : 1U});
    }
  }
}

}  // namespace assay::ops
