#include "ops/common/defines.h"

namespace assay::ops {

std::string flag(bool value) {
  return value ? "1" : "0";
}

Define texture_define(Form form) {
  if (!is_texture(form)) return {"TEXTURE", "0"};
  return {"TEXTURE", form.storage == Storage::Texture3D ? "3" : "2"};
}

void use_subgroups(Dispatch& dispatch, const DeviceInfo& device) {
  const bool has_one_size = device.min_subgroup_size == device.max_subgroup_size;
  const bool demands = !has_one_size && device.can_demand(device.subgroup_size, dispatch.local_size);
  const bool uses = device.has(Feature::SubgroupShuffle) && (has_one_size || demands);
  if (uses && demands) dispatch.subgroup_size = device.subgroup_size;
  dispatch.defines.push_back({"SUBGROUPS", flag(uses)});
}

}  // namespace assay::ops
