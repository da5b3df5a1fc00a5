#include "harness/base/text.h"
#include "harness/device/device_profile.h"
#include "harness/device/profile_form.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace assay {
namespace {

using OrderedJson = nlohmann::ordered_json;
using profile_form::compute_stage;
using profile_form::feature_members;
using profile_form::FeatureMember;
using profile_form::float_modes;
using profile_form::limit_members;
using profile_form::LimitMember;
using profile_form::most_u32;
using profile_form::subgroup_operations;
using profile_form::SubgroupOperation;
using profile_form::type_names;

/// "1.4.312" as Vulkan packs it; 1.1.0 for a text that is none.
std::uint32_t packed_version(const std::string& text) {
  std::array<std::uint32_t, 3> parts{1, 1, 0};
  const char* at = text.data();
  const char* end = at + text.size();
  for (std::uint32_t& part : parts) {
    const auto [next, error] = std::from_chars(at, end, part);
    if (error != std::errc()) return 1U << 22 | 1U << 12;
    at = next == end ? end : next + 1;
  }
  return parts[0] << 22 | parts[1] << 12 | parts[2];
}

OrderedJson limits_json(const DeviceInfo& device) {
  OrderedJson limits;
  for (const LimitMember& one : limit_members) limits[one.name] = device.*one.member;
  limits["maxStorageBufferRange"] = std::min(device.max_storage_buffer_range, most_u32);
  limits["maxComputeWorkGroupCount"] = device.max_workgroup_count;
  limits["maxComputeWorkGroupSize"] = device.max_workgroup_size;
  return limits;
}

OrderedJson float_modes_json(const DeviceInfo& device) {
  OrderedJson modes;
  for (const Feature mode : float_modes) {
    if (device.has(mode) || mode == float_modes.front()) modes[std::string(name_of(mode))] = device.has(mode);
  }
  return modes;
}

OrderedJson properties_json(const DeviceInfo& device) {
  std::string type = "VK_PHYSICAL_DEVICE_TYPE_OTHER";
  for (const auto& [vulkan, ours] : type_names) {
    if (device.type == ours) type = vulkan;
  }
  OrderedJson operations = OrderedJson::array({"VK_SUBGROUP_FEATURE_BASIC_BIT"});
  for (const SubgroupOperation& one : subgroup_operations) {
    if (device.has(one.feature)) operations.push_back(one.bit);
  }
  OrderedJson stages = OrderedJson::array();
  if (device.has(Feature::FullSubgroups)) stages.push_back(compute_stage);
  return {{"VkPhysicalDeviceProperties",
           {{"apiVersion", packed_version(device.api_version)},
            {"deviceID", device.device_id},
            {"deviceName", valid_utf8(device.name)},
            {"deviceType", type},
            {"vendorID", device.vendor_id},
            {"limits", limits_json(device)}}},
          {"VkPhysicalDeviceSubgroupProperties",
           {{"subgroupSize", device.subgroup_size},
            {"supportedStages", OrderedJson::array({compute_stage})},
            {"supportedOperations", operations}}},
          {"VkPhysicalDeviceSubgroupSizeControlProperties",
           {{"minSubgroupSize", device.min_subgroup_size},
            {"maxSubgroupSize", device.max_subgroup_size},
            {"maxComputeWorkgroupSubgroups", device.max_workgroup_subgroups},
            {"requiredSubgroupSizeStages", stages}}},
          {"VkPhysicalDeviceFloatControlsProperties", float_modes_json(device)},
          {"VkPhysicalDeviceShaderIntegerDotProductProperties",
           {{"integerDotProduct4x8BitPackedSignedAccelerated", device.dot_product_accelerated}}}};
}

OrderedJson additions_json(const DeviceInfo& device) {
  OrderedJson shapes = OrderedJson::array();
  for (const CooperativeShape& shape : device.cooperative_shapes) {
    shapes.push_back({{"rows", shape.rows},
                      {"columns", shape.columns},
                      {"depth", shape.depth},
                      {"factors", name_of(shape.factors)},
                      {"sums", name_of(shape.sums)},
                      {"extension", name_of(shape.extension)},
                      {"saturates", shape.saturates}});
  }
  return {{"shader_cores", device.shader_cores},
          {"device_memory_bytes", device.device_memory_bytes},
          {"cooperative_shapes", shapes}};
}

}  // namespace

std::string profile_json(const DeviceInfo& device) {
  OrderedJson features, extensions = OrderedJson::object();
  for (const FeatureMember& one : feature_members) {
    const bool has_it = device.has(one.feature);
    if (has_it || one.is_always_written) features[one.structures[1]][one.member] = has_it;
  }
  for (const std::string& extension : device.extensions) extensions[valid_utf8(extension)] = 1;
  const std::string label = valid_utf8(device.name);
  std::string key = slug_of(device.name);
  std::ranges::replace(key, '-', '_');
  const OrderedJson profile{
      {"version", 1},
      {"api-version", device.api_version.empty() ? "1.1.0" : valid_utf8(device.api_version)},
      {"label", label},
      {"description", "Written by assay"},
      {"contributors", OrderedJson::object()},
      {"history", OrderedJson::array()},
      {"capabilities", OrderedJson::array({"device"})}};
  OrderedJson root{{"$schema", "https://schema.khronos.org/vulkan/profiles-0.8-latest.json"}};
  root["capabilities"]["device"] = {
      {"extensions", extensions}, {"features", features}, {"properties", properties_json(device)}};
  root["profiles"]["VP_ASSAY_" + key] = profile;
  root["assay"] = additions_json(device);
  return root.dump(2) + "\n";
}

}  // namespace assay
