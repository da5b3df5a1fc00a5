#include "harness/device/device_info.h"

#include "harness/base/names.h"

#include <algorithm>
#include <bit>

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

Feature feature_of(MatrixExtension extension) {
  return extension == MatrixExtension::Khr ? Feature::CooperativeMatrixKhr : Feature::CooperativeMatrixNv;
}

std::string_view name_of(MatrixExtension extension) {
  return name_of(feature_of(extension));
}

std::string to_string(const CooperativeShape& shape) {
  return std::to_string(shape.rows) + "x" + std::to_string(shape.columns) + "x" +
         std::to_string(shape.depth) + " " + std::string(name_of(shape.factors)) + " to " +
         std::string(name_of(shape.sums)) + (shape.saturates ? ", saturating" : "");
}

bool DeviceInfo::has(Feature feature) const {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

bool DeviceInfo::can_demand(std::uint32_t size, const std::array<std::uint32_t, 3>& local_size) const {
  if (!has(Feature::FullSubgroups)) return false;
  if (!std::has_single_bit(size) || size < min_subgroup_size || size > max_subgroup_size) return false;
  const std::uint64_t invocations = std::uint64_t{local_size[0]} * local_size[1] * local_size[2];
  return local_size[0] % size == 0 && invocations / size <= max_workgroup_subgroups;
}

const TextureSupport* DeviceInfo::texture(Storage storage, DType dtype) const {
  const auto found = std::find_if(textures.begin(), textures.end(), [&](const TextureSupport& texture) {
    return texture.storage == storage && texture.dtype == dtype;
  });
  return found == textures.end() ? nullptr : &*found;
}

}  // namespace assay
