#include "harness/op/device_info.h"

#include "harness/base/names.h"

#include <algorithm>

namespace assay {

std::string_view name_of(Feature feature) {
  static constexpr Names<14> names{"storageBuffer8BitAccess",
                                   "storageBuffer16BitAccess",
                                   "shaderInt8",
                                   "shaderInt16",
                                   "shaderFloat16",
                                   "shaderInt64",
                                   "shaderIntegerDotProduct",
                                   "subgroupArithmetic",
                                   "subgroupShuffle",
                                   "subgroupSizeControl",
                                   "computeFullSubgroups",
                                   "shaderRoundingModeRTEFloat32",
                                   "VK_KHR_cooperative_matrix",
                                   "VK_NV_cooperative_matrix"};
  return name_in(names, feature);
}

bool DeviceInfo::has(Feature feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

const TextureSupport* DeviceInfo::texture(Storage storage, DType dtype) const {
  const auto found = std::find_if(textures.begin(), textures.end(), [&](const TextureSupport& test_case) {
    return test_case.storage == storage && test_case.dtype == dtype;
  });
  return found == textures.end() ? nullptr : &*found;
}

}  // namespace assay
