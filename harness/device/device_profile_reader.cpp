#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/device/device_profile.h"
#include "harness/device/profile_form.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

using Json = nlohmann::json;
using Structures = std::span<const char* const>;
using profile_form::compute_stage;
using profile_form::dot_product_properties;
using profile_form::feature_members;
using profile_form::FeatureMember;
using profile_form::float_modes;
using profile_form::float_properties;
using profile_form::limit_members;
using profile_form::LimitMember;
using profile_form::most_u32;
using profile_form::size_properties;
using profile_form::subgroup_operations;
using profile_form::SubgroupOperation;
using profile_form::type_names;

constexpr std::size_t most_levels = 32;                              ///< `vulkaninfo --json` has 9
constexpr std::size_t most_shapes = 1000;                            ///< drivers list a few dozen
constexpr std::uint64_t least_image_bytes = std::uint64_t{1} << 31;  ///< maxResourceSize that Vulkan requires

/// A name as a part of a JSON pointer (RFC 6901).
std::string pointer_part(std::string_view name) {
  std::string text = "/";
  for (const char c : name) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return text;
}

/// Parses JSON in which no object has a member twice, with the place of what is wrong.
class ProfileText {
 public:
  explicit ProfileText(std::string file) : file_(std::move(file)) {}

  Json parse(std::string_view text) {
    if (text.size() > most_profile_bytes)
      fail("", fmt::format("the file is larger than {} bytes", most_profile_bytes));
    try {
      return Json::parse(text,
                         [this](int, Json::parse_event_t event, Json& value) { return take(event, value); });
    } catch (const Json::parse_error& error) {
      throw Error(message("it is not JSON from " + place_of(text, error.byte) + " on"));
    } catch (const Json::out_of_range&) {
      throw Error(message("a number in it is larger than any double"));
    }
  }

  [[noreturn]] void fail(const std::string& pointer, const std::string& what) const {
    throw Error(message(pointer.empty() ? what : pointer + " " + what));
  }

 private:
  struct Level {
    std::set<std::string> names;
    std::string name;  ///< the member that is being read; empty in an array
  };

  /// Of a byte that is counted from 1.
  static std::string place_of(std::string_view text, std::size_t byte) {
    const std::string_view before = text.substr(0, byte == 0 ? 0 : byte - 1);
    const std::size_t line_begin = before.rfind('\n') + 1;  // 0 in the first line
    return fmt::format("line {}, column {}", std::ranges::count(before, '\n') + 1,
                       before.size() - line_begin + 1);
  }

  std::string message(const std::string& what) const {
    return printable_line(fmt::format("reading the device profile '{}': {}", file_, shortened(what, 300)));
  }

  bool take(Json::parse_event_t event, const Json& value) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (levels_.size() == most_levels)
        fail(place(), fmt::format("is nested more than {} deep", most_levels));
      levels_.emplace_back();
    } else if (event == Event::object_end || event == Event::array_end) {
      levels_.pop_back();
    } else if (event == Event::key) {
      levels_.back().name = value.get<std::string>();
      if (!levels_.back().names.insert(levels_.back().name).second) fail(place(), "is written twice");
    }
    return true;
  }

  std::string place() const {
    std::string text;
    for (const Level& level : levels_) {
      if (!level.name.empty()) text += pointer_part(level.name);
    }
    return text;
  }

  std::string file_;
  std::vector<Level> levels_;
};

struct Found {
  const Json* value = nullptr;  ///< null: no capabilities have it
  std::string pointer;
  explicit operator bool() const { return value != nullptr; }
};

class ProfileReader {
 public:
  ProfileReader(const Json& root, const ProfileText& text) : root_(root), text_(text) {
    if (!root.is_object()) fail({&root, "/"}, "an object");
    find_capabilities();
    std::ranges::reverse(capabilities_);  // the last counts
  }

  DeviceProfile read(std::string name) {
    DeviceProfile profile{.name = std::move(name), .device = {}};
    DeviceInfo& device = profile.device;
    device.name = device.as_if = profile.name;
    read_identity(device);
    read_limits(device);
    read_features(device);
    read_subgroups(device);
    read_additions(device);
    device.as_if_type = device.type;
    add_required_textures(device);
    return profile;
  }

 private:
  [[noreturn]] void fail(const Found& found, const std::string& wanted) const {
    text_.fail(found.pointer,
               fmt::format("is {}; it must be {}", shortened(found.value->dump(), 40), wanted));
  }

  /// The member of an object, which must be one.
  Found member(const Found& object, const std::string& name) const {
    if (!object.value->is_object()) fail(object, "an object");
    const auto at = object.value->find(name);
    return at == object.value->end() ? Found{} : Found{&*at, object.pointer + pointer_part(name)};
  }
  Found member_of_root(const std::string& name) const { return member({&root_, ""}, name); }

  /// The capabilities that the file's profile names, else all.
  void find_capabilities() {
    const Found all = member_of_root("capabilities");
    if (!all) text_.fail("", "it has no \"capabilities\", so it is no file of Vulkan Profiles");
    if (!all.value->is_object()) fail(all, "an object");
    const Found profiles = member_of_root("profiles");
    if (!profiles) {
      for (const auto& [name, value] : all.value->items()) capabilities_.push_back(member(all, name));
      return;
    }
    if (!profiles.value->is_object()) fail(profiles, "an object");
    if (profiles.value->size() != 1) {
      text_.fail(profiles.pointer,
                 fmt::format("has {} profiles; a file must have one", profiles.value->size()));
    }
    const Found profile = member(profiles, profiles.value->begin().key());
    api_ = member(profile, "api-version");
    const Found names = member(profile, "capabilities");
    if (!names) text_.fail(profile.pointer, "has no \"capabilities\"");
    if (!names.value->is_array()) fail(names, "an array");
    constexpr std::size_t most_names = 1000;
    if (names.value->size() > most_names) fail(names, fmt::format("an array of at most {}", most_names));
    for (std::size_t i = 0; i < names.value->size(); ++i) add_capabilities(all, names, i);
  }

  /// An entry is a name, or an array of names of which any one suffices: the first is taken.
  void add_capabilities(const Found& all, const Found& names, std::size_t index) {
    Found entry{&names.value->at(index), names.pointer + "/" + std::to_string(index)};
    if (entry.value->is_array() && !entry.value->empty())
      entry = {&entry.value->front(), entry.pointer + "/0"};
    if (!entry.value->is_string()) fail(entry, "the name of capabilities");
    const Found found = member(all, entry.value->get<std::string>());
    if (!found) fail(entry, "the name of capabilities that the file has");
    const auto is_it = [&](const Found& one) { return one.value == found.value; };
    if (std::ranges::any_of(capabilities_, is_it)) fail(entry, "a name that is not there already");
    capabilities_.push_back(found);
  }

  /// A member of the first of these structures that has it, in the first of the capabilities.
  Found find(const char* section, Structures structures, const char* name) const {
    for (const char* structure : structures) {
      if (structure == nullptr) continue;
      for (const Found& one : capabilities_) {
        const Found in_section = member(one, section);
        const Found in_structure = in_section ? member(in_section, structure) : Found{};
        const Found found = in_structure ? member(in_structure, name) : Found{};
        if (found) return found;
      }
    }
    return {};
  }
  Found property(Structures structures, const char* name) const {
    return find("properties", structures, name);
  }
  Found property(const char* structure, const char* name) const {
    return find("properties", std::array{structure}, name);
  }
  Found limit(const char* name) const {
    for (Found at : capabilities_) {
      for (const char* part : {"properties", "VkPhysicalDeviceProperties", "limits", name}) {
        if (at) at = member(at, part);
      }
      if (at) return at;
    }
    return {};
  }

  std::uint64_t number(const Found& found, std::uint64_t least, std::uint64_t most,
                       const char* why = "") const {
    const bool is_number = found.value->is_number_unsigned();
    const std::uint64_t value = is_number ? found.value->get<std::uint64_t>() : 0;
    if (!is_number || value < least || value > most)
      fail(found, fmt::format("a whole number from {} to {}{}", least, most, why));
    return value;
  }
  std::uint32_t limit_number(const Found& found, std::uint64_t least) const {
    return static_cast<std::uint32_t>(number(found, least, most_u32, ", as Vulkan requires"));
  }
  std::uint32_t subgroup_size(const Found& found) const {
    const std::uint64_t size = number(found, 1, 128);
    if ((size & (size - 1)) != 0) fail(found, "a power of two from 1 to 128");
    return static_cast<std::uint32_t>(size);
  }
  bool flag(const Found& found) const {
    if (found && !found.value->is_boolean()) fail(found, "true or false");
    return found && found.value->get<bool>();
  }
  std::string text(const Found& found) const {
    if (!found.value->is_string()) fail(found, "a text");
    return found.value->get<std::string>();
  }
  bool has_bit(const Found& found, const char* bit) const {
    if (!found) return false;
    if (!found.value->is_array()) fail(found, "an array of names");
    return std::ranges::any_of(*found.value, [&](const Json& one) { return one == bit; });
  }

  void read_identity(DeviceInfo& device) const {
    const auto of_device = [this](const char* name) { return property("VkPhysicalDeviceProperties", name); };
    device.type = "other";
    if (const Found type = of_device("deviceType")) device.type = type_of(type);
    if (const Found id = of_device("vendorID"))
      device.vendor_id = static_cast<std::uint32_t>(number(id, 0, most_u32));
    if (const Found id = of_device("deviceID"))
      device.device_id = static_cast<std::uint32_t>(number(id, 0, most_u32));
    const Found api = of_device("apiVersion");
    if (api && api.value->is_string()) {
      device.api_version = shortened(printable_line(text(api)), 20);
    } else if (api) {
      const std::uint64_t version = number(api, 0, most_u32);
      device.api_version =
          fmt::format("{}.{}.{}", (version >> 22) & 0x7f, (version >> 12) & 0x3ff, version & 0xfff);
    } else if (api_) {
      device.api_version = shortened(printable_line(text(api_)), 20);
    }
  }

  std::string type_of(const Found& found) const {
    const std::string name = text(found);
    for (const auto& [vulkan, ours] : type_names) {
      if (name == vulkan) return ours;
    }
    fail(found, "one of Vulkan's types of devices, such as VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU");
  }

  void read_limits(DeviceInfo& device) const {
    const DeviceInfo least;
    for (const LimitMember& one : limit_members) {
      if (const Found found = limit(one.name)) device.*one.member = limit_number(found, least.*one.member);
    }
    const Found images = limit("maxPerStageDescriptorSampledImages");
    const Found samplers = limit("maxPerStageDescriptorSamplers");
    // One number stands for both; the one that is not given is the least.
    if (images && samplers) {
      device.max_sampled_images_per_stage = std::min(limit_number(images, 1), limit_number(samplers, 1));
    } else {
      device.max_sampled_images_per_stage = least.max_sampled_images_per_stage;
    }
    if (const Found range = limit("maxStorageBufferRange"))
      device.max_storage_buffer_range = limit_number(range, least.max_storage_buffer_range);
    read_triple("maxComputeWorkGroupCount", device.max_workgroup_count);
    read_triple("maxComputeWorkGroupSize", device.max_workgroup_size);
  }

  /// `values` are the least, and are replaced.
  void read_triple(const char* name, std::array<std::uint32_t, 3>& values) const {
    const Found found = limit(name);
    if (!found) return;
    if (!found.value->is_array() || found.value->size() != 3) fail(found, "an array of three numbers");
    for (std::size_t i = 0; i < 3; ++i)
      values[i] = limit_number({&found.value->at(i), found.pointer + "/" + std::to_string(i)}, values[i]);
  }

  void read_features(DeviceInfo& device) const {
    for (const FeatureMember& one : feature_members) {
      if (flag(find("features", one.structures, one.member))) device.features.push_back(one.feature);
    }
    for (const Feature mode : float_modes) {
      if (flag(property(float_properties, std::string(name_of(mode)).c_str())))
        device.features.push_back(mode);
    }
    device.dot_product_accelerated =
        device.has(Feature::DotProduct) &&
        flag(property(dot_product_properties, "integerDotProduct4x8BitPackedSignedAccelerated"));
    for (const Found& one : capabilities_) {
      const Found listed = member(one, "extensions");
      if (!listed) continue;
      if (!listed.value->is_object()) fail(listed, "an object");
      for (const auto& [name, version] : listed.value->items())
        device.extensions.push_back(shortened(printable_line(name), 256));
    }
    std::ranges::sort(device.extensions);
  }

  void read_subgroups(DeviceInfo& device) const {
    const auto of_subgroups = [this](const char* new_name, const char* name) {
      const Found found = property("VkPhysicalDeviceVulkan11Properties", new_name);
      return found ? found : property("VkPhysicalDeviceSubgroupProperties", name);
    };
    if (const Found size = of_subgroups("subgroupSize", "subgroupSize"))
      device.subgroup_size = subgroup_size(size);
    if (has_bit(of_subgroups("subgroupSupportedStages", "supportedStages"), compute_stage)) {
      const Found operations = of_subgroups("subgroupSupportedOperations", "supportedOperations");
      for (const SubgroupOperation& one : subgroup_operations) {
        if (has_bit(operations, one.bit)) device.features.push_back(one.feature);
      }
    }
    read_subgroup_sizes(device);
    if (!device.has(Feature::SubgroupSizeControl) ||
        !has_bit(property(size_properties, "requiredSubgroupSizeStages"), compute_stage)) {
      std::erase(device.features, Feature::FullSubgroups);
    }
    std::ranges::sort(device.features);
  }

  void read_subgroup_sizes(DeviceInfo& device) const {
    const Found least = property(size_properties, "minSubgroupSize");
    const Found most = property(size_properties, "maxSubgroupSize");
    device.min_subgroup_size = least ? subgroup_size(least) : device.subgroup_size;
    device.max_subgroup_size = most ? subgroup_size(most) : device.subgroup_size;
    if (device.min_subgroup_size > device.subgroup_size) {
      fail(least, fmt::format("at most subgroupSize, {}", device.subgroup_size));
    }
    if (device.max_subgroup_size < device.subgroup_size) {
      fail(most, fmt::format("at least subgroupSize, {}", device.subgroup_size));
    }
    if (const Found count = property(size_properties, "maxComputeWorkgroupSubgroups"))
      device.max_workgroup_subgroups = static_cast<std::uint32_t>(number(count, 0, most_u32));
  }

  /// What the form has no place for, or only in extensions of a vendor.
  void read_additions(DeviceInfo& device) const {
    constexpr std::uint64_t most_cores = 1 << 20;
    if (const Found count = property("VkPhysicalDeviceShaderSMBuiltinsPropertiesNV", "shaderSMCount"))
      device.shader_cores = static_cast<std::uint32_t>(number(count, 0, most_cores));
    if (const Found count = property("VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM", "shaderCoreCount"))
      device.shader_cores = static_cast<std::uint32_t>(number(count, 0, most_cores));
    const Found own = member_of_root("assay");
    if (!own) return;
    if (const Found count = member(own, "shader_cores"))
      device.shader_cores = static_cast<std::uint32_t>(number(count, 0, most_cores));
    if (const Found bytes = member(own, "device_memory_bytes"))
      device.device_memory_bytes = number(bytes, 0, std::uint64_t{1} << 60);
    const Found shapes = member(own, "cooperative_shapes");
    if (!shapes) return;
    if (!shapes.value->is_array() || shapes.value->size() > most_shapes)
      fail(shapes, fmt::format("an array of at most {} shapes", most_shapes));
    for (std::size_t i = 0; i < shapes.value->size(); ++i) {
      const CooperativeShape shape =
          shape_of({&shapes.value->at(i), shapes.pointer + "/" + std::to_string(i)});
      if (device.has(feature_of(shape.extension))) device.cooperative_shapes.push_back(shape);
    }
  }

  CooperativeShape shape_of(const Found& found) const {
    const auto required = [&](const char* name) {
      const Found value = member(found, name);
      if (!value) text_.fail(found.pointer, fmt::format("has no \"{}\"", name));
      return value;
    };
    const auto size = [&](const char* name) {
      return static_cast<std::uint32_t>(number(required(name), 1, 1024));
    };
    const auto dtype = [&](const char* name) {
      const Found value = required(name);
      const std::optional<DType> known = parse_dtype(text(value));
      if (!known) fail(value, "a dtype, such as i8 or f16");
      return *known;
    };
    CooperativeShape shape{.rows = size("rows"),
                           .columns = size("columns"),
                           .depth = size("depth"),
                           .factors = dtype("factors"),
                           .sums = dtype("sums"),
                           .extension = MatrixExtension::Khr,
                           .saturates = flag(member(found, "saturates"))};
    const Found extension = required("extension");
    if (text(extension) == name_of(MatrixExtension::Nv)) {
      shape.extension = MatrixExtension::Nv;
    } else if (text(extension) != name_of(MatrixExtension::Khr)) {
      fail(extension, fmt::format("{} or {}", name_of(MatrixExtension::Khr), name_of(MatrixExtension::Nv)));
    }
    return shape;
  }

  /// Storage images of the formats that are used here, which every device must have and be able to sample
  /// (Vulkan's table of required formats).
  static void add_required_textures(DeviceInfo& device) {
    const std::uint32_t d3 = device.max_image_3d;
    const std::uint32_t d2 = device.max_image_2d;
    for (const Storage storage : {Storage::Texture3D, Storage::Texture2D}) {
      for (const DType dtype : {DType::F32, DType::F16, DType::I32, DType::I16, DType::I8, DType::U8}) {
        TextureSupport texture{.storage = storage, .dtype = dtype};
        texture.max_extent = {d3, d3, d3};
        if (storage == Storage::Texture2D) texture.max_extent = {d2, d2, 1};
        texture.max_bytes = least_image_bytes;
        texture.sampled = true;
        device.textures.push_back(texture);
      }
    }
  }

  const Json& root_;
  const ProfileText& text_;
  std::vector<Found> capabilities_;  ///< those that count first are first
  Found api_;
};

}  // namespace

DeviceProfile parse_profile(std::string_view text, const std::string& file, std::string name) {
  ProfileText parser(file);
  const Json root = parser.parse(text);
  return ProfileReader(root, parser).read(std::move(name));
}

}  // namespace assay
