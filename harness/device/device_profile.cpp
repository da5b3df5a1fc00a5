#include "harness/device/device_profile.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace assay {
namespace {

/// What is added to a device's name.
std::string of_profile(const std::string& name) {
  return " as " + name;
}

template <class T>
std::vector<T> in_both(const std::vector<T>& first, const std::vector<T>& second) {
  std::vector<T> both;
  for (const T& one : first) {
    if (std::ranges::find(second, one) != second.end()) both.push_back(one);
  }
  return both;
}

template <class T>
void lower(T& limit, const T& other) {
  limit = std::min(limit, other);
}

template <std::size_t N>
void lower(std::array<std::uint32_t, N>& limits, const std::array<std::uint32_t, N>& others) {
  for (std::size_t i = 0; i < N; ++i) lower(limits[i], others[i]);
}

void lower_limits(DeviceInfo& device, const DeviceInfo& other) {
  lower(device.max_workgroup_count, other.max_workgroup_count);
  lower(device.max_workgroup_size, other.max_workgroup_size);
  lower(device.max_workgroup_invocations, other.max_workgroup_invocations);
  lower(device.max_shared_bytes, other.max_shared_bytes);
  lower(device.max_push_constant_bytes, other.max_push_constant_bytes);
  lower(device.max_storage_buffer_range, other.max_storage_buffer_range);
  lower(device.max_storage_buffers_per_stage, other.max_storage_buffers_per_stage);
  lower(device.max_storage_images_per_stage, other.max_storage_images_per_stage);
  lower(device.max_sampled_images_per_stage, other.max_sampled_images_per_stage);
  lower(device.max_image_3d, other.max_image_3d);
  lower(device.max_image_2d, other.max_image_2d);
  lower(device.max_workgroup_subgroups, other.max_workgroup_subgroups);
}

std::vector<TextureSupport> textures_of_both(const DeviceInfo& real, const DeviceInfo& other) {
  std::vector<TextureSupport> both;
  for (TextureSupport one : real.textures) {
    const TextureSupport* same = other.texture(one.storage, one.dtype);
    if (same == nullptr) continue;
    lower(one.max_extent, same->max_extent);
    lower(one.max_bytes, same->max_bytes);
    one.sampled = one.sampled && same->sampled;
    both.push_back(one);
  }
  return both;
}

constexpr std::array first_operations{Feature::SubgroupArithmetic, Feature::SubgroupShuffle};
constexpr std::array later_operations{Feature::SubgroupVote, Feature::SubgroupBallot,
                                      Feature::SubgroupShuffleRelative, Feature::SubgroupClustered,
                                      Feature::SubgroupQuad};
constexpr std::array later_values{Feature::UniformStorage8, Feature::UniformStorage16, Feature::MemoryModel,
                                  Feature::MemoryModelDeviceScope};

constexpr std::array later_float_modes{
    Feature::RoundsToEven16,      Feature::RoundsToZero32,    Feature::RoundsToZero16,
    Feature::KeepsSubnormals32,   Feature::KeepsSubnormals16, Feature::FlushesSubnormals32,
    Feature::FlushesSubnormals16, Feature::KeepsInfinities32, Feature::KeepsInfinities16};

/// Profiles and reports of an older assay name fewer features, none of the later ones. What these then are is
/// as the device has it where the profile has what came with them: other operations of subgroups, storage
/// buffers of such values, cooperative matrices (which need the memory model), rounding to nearest even
/// of float32. Vulkan 1.3 requires the memory model and maintenance4, too.
bool may_have(const DeviceInfo& profile, Feature feature) {
  const auto has = [&](Feature one) { return profile.has(one); };
  if (has(feature)) return true;
  const bool is_older =
      std::ranges::none_of(later_operations, has) && std::ranges::none_of(later_values, has);
  if (std::ranges::find(later_operations, feature) != later_operations.end())
    return is_older && std::ranges::any_of(first_operations, has);
  if (feature == Feature::UniformStorage8) return is_older && has(Feature::Storage8);
  if (feature == Feature::UniformStorage16) return is_older && has(Feature::Storage16);
  const bool is_recent = profile.api_version.starts_with("1.3") || profile.api_version.starts_with("1.4");
  if (feature == Feature::Maintenance4) return is_recent;
  if (std::ranges::find(later_float_modes, feature) != later_float_modes.end())
    return has(Feature::RoundsToEven32) && std::ranges::none_of(later_float_modes, has);
  const bool is_memory_model = feature == Feature::MemoryModel || feature == Feature::MemoryModelDeviceScope;
  const bool has_matrices = has(Feature::CooperativeMatrixKhr) || has(Feature::CooperativeMatrixNv);
  return is_memory_model && (is_recent || (is_older && has_matrices));
}

std::vector<Feature> features_of_both(const DeviceInfo& real, const DeviceInfo& other) {
  std::vector<Feature> both = real.features;
  std::erase_if(both, [&](Feature feature) { return !may_have(other, feature); });
  return both;
}

void take_away_sizes(DeviceInfo& device) {
  std::erase_if(device.features, [](Feature feature) {
    return feature == Feature::SubgroupSizeControl || feature == Feature::FullSubgroups;
  });
}

/// Sets the sizes of subgroups. `device` has the features of both already, and the real device's sizes.
void restrict_subgroups(DeviceInfo& device, const DeviceInfo& other) {
  const std::uint32_t least = std::max(device.min_subgroup_size, other.min_subgroup_size);
  const std::uint32_t most = std::min(device.max_subgroup_size, other.max_subgroup_size);
  if (!device.has(Feature::FullSubgroups) || least > most) return take_away_sizes(device);
  device.subgroup_size = std::clamp(other.subgroup_size, least, most);
  // A device with several sizes keeps its range if only one is left: as long as there seem to be several, a
  // program whose results depend on the size requires it.
  if (least == most && device.min_subgroup_size != device.max_subgroup_size) return;
  device.min_subgroup_size = least;
  device.max_subgroup_size = most;
}

}  // namespace

DeviceInfo restricted(const DeviceInfo& real, const DeviceProfile& profile) {
  const DeviceInfo& other = profile.device;
  DeviceInfo device = real;
  device.name = real.name + of_profile(profile.name);
  device.as_if = profile.name;
  device.as_if_type = other.type;
  device.features = features_of_both(real, other);
  device.extensions = in_both(real.extensions, other.extensions);
  device.cooperative_shapes = in_both(real.cooperative_shapes, other.cooperative_shapes);
  device.textures = textures_of_both(real, other);
  device.dot_product_accelerated = device.has(Feature::DotProduct) && other.dot_product_accelerated;
  device.shader_cores = other.shader_cores;
  lower_limits(device, other);
  restrict_subgroups(device, other);
  return device;
}

std::string own_name(const DeviceInfo& device) {
  const std::string addition = of_profile(device.as_if);
  const bool has_it = !device.as_if.empty() && device.name.ends_with(addition);
  return has_it ? device.name.substr(0, device.name.size() - addition.size()) : device.name;
}

}  // namespace assay
