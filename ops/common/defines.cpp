#include "ops/common/defines.h"

#include <utility>

namespace assay::ops {

std::string flag(bool value) {
  return value ? "1" : "0";
}

void set_constant(Dispatch& dispatch, std::string name, std::int64_t value) {
  dispatch.constants.push_back({std::move(name), static_cast<std::uint32_t>(value)});
}

Define texture_define(Form form) {
  if (!is_texture(form)) return {"TEXTURE", "0"};
  return {"TEXTURE", form.storage == Storage::Texture3D ? "3" : "2"};
}

namespace {

bool has_one_subgroup_size(const DeviceInfo& device) {
  return device.min_subgroup_size == device.max_subgroup_size;
}

}  // namespace

bool knows_subgroup_size(const DeviceInfo& device, const std::array<std::uint32_t, 3>& local_size) {
  return has_one_subgroup_size(device) || device.can_demand(device.subgroup_size, local_size);
}

void demand_subgroup_size(Dispatch& dispatch, const DeviceInfo& device) {
  if (!has_one_subgroup_size(device)) dispatch.subgroup_size = device.subgroup_size;
}

void use_subgroups(Dispatch& dispatch, const DeviceInfo& device) {
  const bool uses = device.has(Feature::SubgroupShuffle) && knows_subgroup_size(device, dispatch.local_size);
  if (uses) demand_subgroup_size(dispatch, device);
  dispatch.defines.push_back({"SUBGROUPS", flag(uses)});
}

}  // namespace assay::ops
