#include "harness/gpu/device/cooperative.h"

#include "harness/gpu/device/vk.h"

#include <optional>

namespace assay::gpu {
namespace {

std::optional<DType> dtype_of_component(VkComponentTypeNV type) {
  switch (type) {
    case VK_COMPONENT_TYPE_FLOAT16_NV:
      return DType::F16;
    case VK_COMPONENT_TYPE_FLOAT32_NV:
      return DType::F32;
    case VK_COMPONENT_TYPE_SINT8_NV:
      return DType::I8;
    case VK_COMPONENT_TYPE_SINT32_NV:
      return DType::I32;
    default:
      return std::nullopt;
  }
}

std::vector<VkCooperativeMatrixPropertiesNV> properties_of(VkPhysicalDevice device) {
  std::uint32_t count = 0;
  check(vkGetPhysicalDeviceCooperativeMatrixPropertiesNV(device, &count, nullptr),
        "listing a device's cooperative matrices");
  std::vector<VkCooperativeMatrixPropertiesNV> found(
      count, {.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_NV});
  check(vkGetPhysicalDeviceCooperativeMatrixPropertiesNV(device, &count, found.data()),
        "listing a device's cooperative matrices");
  return found;
}

}  // namespace

std::vector<CooperativeShape> cooperative_shapes(VkPhysicalDevice device) {
  std::vector<CooperativeShape> shapes;
  for (const VkCooperativeMatrixPropertiesNV& one : properties_of(device)) {
    const auto factors = dtype_of_component(one.AType);
    const auto sums = dtype_of_component(one.CType);
    const bool uniform = one.AType == one.BType && one.CType == one.DType;
    if (!factors || !sums || !uniform || one.scope != VK_SCOPE_SUBGROUP_NV) continue;
    shapes.push_back({one.MSize, one.NSize, one.KSize, *factors, *sums});
  }
  return shapes;
}

}  // namespace assay::gpu
