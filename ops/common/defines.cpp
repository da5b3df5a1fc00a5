#include "ops/common/defines.h"

namespace assay::ops {

std::string flag(bool value) {
  return value ? "1" : "0";
}

Define texture_define(Form form) {
  if (!is_texture(form)) return {"TEXTURE", "0"};
  return {"TEXTURE", form.storage == Storage::Texture3D ? "3" : "2"};
}

Define subgroups_define(const DeviceInfo& device) {
  const bool has_one_size = device.min_subgroup_size == device.max_subgroup_size;
  return {"SUBGROUPS", flag(device.has(Feature::SubgroupShuffle) && has_one_size)};
}

}  // namespace assay::ops
