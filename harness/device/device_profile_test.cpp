#include "harness/device/device_profile.h"

#include "harness/base/error.h"
#include "harness/base/file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

DeviceProfile parsed(const std::string& text) {
  return parse_profile(text, "some.json", "some");
}

/// A profile with one member in the capabilities' properties or features.
std::string with(const std::string& section, const std::string& structure, const std::string& members) {
  return fmt::format(R"({{"capabilities": {{"device": {{"{}": {{"{}": {{{}}}}}}}}}}})", section, structure,
                     members);
}
std::string with_limit(const std::string& name, const std::string& value) {
  return with("properties", "VkPhysicalDeviceProperties",
              fmt::format(R"("limits": {{"{}": {}}})", name, value));
}

std::string error_of(const std::string& text) {
  try {
    parsed(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::Usage);
    return error.what();
  }
  return "no error";
}

DeviceInfo rich_device() {
  DeviceInfo device;
  device.name = "Rich";
  device.type = "discrete";
  device.api_version = "1.3.250";
  device.vendor_id = 7;
  device.device_id = 9;
  for (int i = 0; i <= static_cast<int>(Feature::CooperativeMatrixNv); ++i)
    device.features.push_back(static_cast<Feature>(i));
  device.extensions = {"VK_EXT_b", "VK_KHR_a"};
  device.dot_product_accelerated = true;
  device.cooperative_shapes = {{16, 16, 32, DType::I8, DType::I32, MatrixExtension::Khr, true},
                               {16, 8, 16, DType::F16, DType::F32, MatrixExtension::Nv, false}};
  device.max_workgroup_count = {1000000, 65535, 65536};
  device.max_workgroup_size = {1024, 512, 64};
  device.max_workgroup_invocations = 1024;
  device.max_shared_bytes = 49152;
  device.max_push_constant_bytes = 256;
  device.max_storage_buffer_range = 4294967295;
  device.max_storage_buffers_per_stage = 31;
  device.max_storage_images_per_stage = 30;
  device.max_sampled_images_per_stage = 29;
  device.max_image_3d = 2048;
  device.max_image_2d = 16384;
  device.subgroup_size = 32;
  device.min_subgroup_size = 8;
  device.max_subgroup_size = 64;
  device.max_workgroup_subgroups = 20;
  device.shader_cores = 40;
  device.device_memory_bytes = 123456789012;
  return device;
}

/// Whether assay has not known it from the start.
bool is_later(Feature feature) {
  return feature == Feature::UniformStorage8 || feature == Feature::UniformStorage16 ||
         (feature >= Feature::SubgroupVote && feature <= Feature::SubgroupQuad) ||
         (feature >= Feature::RoundsToEven16 && feature <= Feature::Maintenance4) ||
         feature == Feature::MemoryModel || feature == Feature::MemoryModelDeviceScope;
}

TEST(DeviceProfile, IsTheSameAfterItWasWrittenAndRead) {
  const DeviceInfo device = rich_device();
  const std::string text = profile_json(device);
  const DeviceInfo read = parsed(text).device;
  EXPECT_EQ(read.name, "some");
  EXPECT_EQ(read.as_if, "some");
  EXPECT_EQ(read.type, device.type);
  EXPECT_EQ(read.api_version, device.api_version);
  EXPECT_EQ(read.features, device.features);
  EXPECT_EQ(read.extensions, device.extensions);
  EXPECT_EQ(read.cooperative_shapes, device.cooperative_shapes);
  EXPECT_EQ(read.max_sampled_images_per_stage, 29U);
  EXPECT_EQ(read.textures.size(), 12U);
  // The rest: what was read writes the same, but for its name.
  DeviceInfo renamed = read;
  renamed.name = device.name;
  EXPECT_EQ(profile_json(renamed), text);
}

TEST(DeviceProfile, OfADeviceWithLittleIsTheSameToo) {
  DeviceInfo device;
  device.name = "Bare";
  device.type = "integrated";
  const DeviceInfo read = parsed(profile_json(device)).device;
  EXPECT_TRUE(read.features.empty());
  EXPECT_EQ(read.max_workgroup_invocations, 128U);
  EXPECT_EQ(read.type, "integrated");
}

TEST(DeviceProfile, WithoutAnyLimitIsTheLeastThatVulkanRequires) {
  const DeviceInfo device = parsed(R"({"capabilities": {"none": {}}})").device;
  EXPECT_TRUE(device.features.empty());
  EXPECT_EQ(device.max_shared_bytes, 16384U);
  EXPECT_EQ(device.max_storage_buffer_range, 1U << 27);
  EXPECT_EQ(device.max_storage_images_per_stage, 4U);
  EXPECT_EQ(device.subgroup_size, 1U);
  ASSERT_NE(device.texture(Storage::Texture3D, DType::I8), nullptr);
  EXPECT_EQ(device.texture(Storage::Texture3D, DType::I8)->max_extent[0], 256U);
  EXPECT_EQ(device.texture(Storage::Texture2D, DType::F32)->max_extent[2], 1U);
}

TEST(DeviceProfile, ReadsCapabilitiesThatTheProfileNamesAndTheLastOneCounts) {
  const std::string text = R"({
    "capabilities": {
      "base": {"features": {"VkPhysicalDeviceFeatures": {"shaderInt16": true}},
               "properties": {"VkPhysicalDeviceProperties": {"limits": {"maxPushConstantsSize": 256}}}},
      "more": {"properties": {"VkPhysicalDeviceProperties": {"limits": {"maxPushConstantsSize": 512}}}},
      "else": {"properties": {"VkPhysicalDeviceProperties": {"limits": {"maxPushConstantsSize": 1024}}}}},
    "profiles": {"VP_X": {"api-version": "1.1.106", "capabilities": ["base", ["more", "else"]]}}})";
  const DeviceInfo device = parsed(text).device;
  EXPECT_EQ(device.max_push_constant_bytes, 512U);
  EXPECT_TRUE(device.has(Feature::Int16));
  EXPECT_EQ(device.api_version, "1.1.106");
}

TEST(DeviceProfile, HasSubgroupOperationsOnlyWhereComputeShadersHaveThem) {
  const std::string operations =
      R"("supportedOperations": ["VK_SUBGROUP_FEATURE_ARITHMETIC_BIT", "VK_SUBGROUP_FEATURE_SHUFFLE_BIT"])";
  const auto has_any = [&](const std::string& stage) {
    const std::string text = with("properties", "VkPhysicalDeviceSubgroupProperties",
                                  fmt::format(R"("supportedStages": ["{}"], {})", stage, operations));
    return !parsed(text).device.features.empty();
  };
  EXPECT_TRUE(has_any("VK_SHADER_STAGE_COMPUTE_BIT"));
  EXPECT_FALSE(has_any("VK_SHADER_STAGE_FRAGMENT_BIT"));
}

/// The name of a profile has a hash of what is written of it.
TEST(DeviceProfile, IsWrittenAsBeforeIfItHasNoneOfTheFeaturesThatCameLater) {
  DeviceInfo device = rich_device();
  std::erase_if(device.features, [](Feature feature) { return is_later(feature); });
  const std::string text = profile_json(device);
  for (const char* later : {"uniformAndStorageBuffer", "vulkanMemoryModel", "BALLOT", "VOTE", "QUAD"})
    EXPECT_THAT(text, testing::Not(HasSubstr(later)));
  EXPECT_THAT(profile_json(rich_device()), HasSubstr("VK_SUBGROUP_FEATURE_BALLOT_BIT"));
}

TEST(DeviceProfile, NamesThePlaceOfWhatIsWrong) {
  EXPECT_THAT(error_of(with_limit("maxPushConstantsSize", "-1")),
              HasSubstr("reading the device profile 'some.json': /capabilities/device/properties/"
                        "VkPhysicalDeviceProperties/limits/maxPushConstantsSize is -1; it must be a whole "
                        "number from 128 to 4294967295"));
  EXPECT_THAT(error_of(with_limit("maxComputeSharedMemorySize", "1e30")), HasSubstr("is 1e+30; it must be"));
  EXPECT_THAT(error_of(with_limit("maxComputeSharedMemorySize", "16383")), HasSubstr("as Vulkan requires"));
  EXPECT_THAT(error_of(with_limit("maxStorageBufferRange", "4294967296")), HasSubstr("to 4294967295"));
  EXPECT_THAT(error_of(with_limit("maxComputeWorkGroupSize", "[128, 128]")),
              HasSubstr("an array of three numbers"));
  EXPECT_THAT(error_of(with_limit("maxComputeWorkGroupSize", "[128, 128, 1]")),
              HasSubstr("/maxComputeWorkGroupSize/2 is 1"));
  EXPECT_THAT(error_of(with("features", "VkPhysicalDeviceFeatures", R"("shaderInt16": 1)")),
              HasSubstr("/features/VkPhysicalDeviceFeatures/shaderInt16 is 1; it must be true or false"));
  EXPECT_THAT(error_of(with("properties", "VkPhysicalDeviceSubgroupProperties", R"("subgroupSize": 48)")),
              HasSubstr("a power of two"));
  EXPECT_THAT(error_of(with("properties", "VkPhysicalDeviceVulkan13Properties", R"("minSubgroupSize": 2)")),
              HasSubstr("minSubgroupSize is 2; it must be at most subgroupSize, 1"));
  EXPECT_THAT(error_of(with("properties", "VkPhysicalDeviceProperties", R"("deviceType": "toaster")")),
              HasSubstr("deviceType is \"toaster\"; it must be one of Vulkan's types"));
}

TEST(DeviceProfile, SaysWhereAFileIsNotJson) {
  EXPECT_EQ(error_of("# notes"),
            "reading the device profile 'some.json': it is not JSON from line 1, column 1 on");
  EXPECT_THAT(error_of("{\n  \"a\": 1,\n  oops\n}"), HasSubstr("from line 3, column 3 on"));
}

TEST(DeviceProfile, RefusesFilesOfAnotherForm) {
  EXPECT_THAT(error_of(""), HasSubstr("some.json"));
  EXPECT_THAT(error_of("{\n\"capabilities\": x}"), HasSubstr("line 2"));
  EXPECT_THAT(error_of("[]"), HasSubstr("an object"));
  EXPECT_THAT(error_of("{}"), HasSubstr("no file of Vulkan Profiles"));
  EXPECT_THAT(error_of(R"({"capabilities": 3})"), HasSubstr("/capabilities is 3; it must be an object"));
  EXPECT_THAT(error_of(R"({"capabilities": {"a": {"properties": []}}})"),
              HasSubstr("/capabilities/a/properties is []; it must be an object"));
  EXPECT_THAT(error_of(R"({"capabilities": {}, "profiles": {"A": {}, "B": {}}})"),
              HasSubstr("/profiles has 2 profiles; a file must have one"));
  EXPECT_THAT(error_of(R"({"capabilities": {}, "profiles": {"A": {"capabilities": ["b"]}}})"),
              HasSubstr("/profiles/A/capabilities/0 is \"b\"; it must be the name of capabilities"));
  EXPECT_THAT(error_of(R"({"capabilities": {"a": {"x/y": 1, "x/y": 2}}})"),
              HasSubstr("/capabilities/a/x~1y is written twice"));
}

TEST(DeviceProfile, RefusesManyOrRepeatedNamesOfCapabilities) {
  const auto text_with = [](const std::string& names) {
    return R"({"capabilities": {"a": {}}, "profiles": {"p": {"capabilities": [)" + names + "]}}}";
  };
  EXPECT_NO_THROW(parsed(text_with(R"("a")")));
  EXPECT_THAT(error_of(text_with(R"("a", "a")")),
              HasSubstr("/profiles/p/capabilities/1 is \"a\"; it must be a name that is not there already"));
  std::string many = R"("a")";
  for (int i = 0; i < 1000; ++i) many += R"(, "b")";
  EXPECT_THAT(error_of(text_with(many)), HasSubstr("it must be an array of at most 1000"));
}

TEST(DeviceProfile, RefusesWhatIsTooDeepOrTooLarge) {
  EXPECT_THAT(error_of(std::string(100000, '[')), HasSubstr("nested more than 32 deep"));
  EXPECT_THAT(error_of(std::string(most_profile_bytes + 1, ' ')), HasSubstr("larger than"));
  EXPECT_THAT(error_of(R"({"capabilities": {"a": {"n": 1e999}}})"), HasSubstr("some.json"));
  EXPECT_THAT(error_of(with_limit("maxPushConstantsSize", "\"" + std::string(10000, 'x') + "\"")),
              HasSubstr("...; it must be"));
}

TEST(DeviceProfile, RefusesMatrixShapesThatCannotBe) {
  const auto with_shape = [](const std::string& shape) {
    return R"({"capabilities": {}, "assay": {"cooperative_shapes": [)" + shape + "]}}";
  };
  EXPECT_THAT(error_of(with_shape("{}")), HasSubstr("/assay/cooperative_shapes/0 has no \"rows\""));
  EXPECT_THAT(error_of(with_shape(R"({"rows": 0})")), HasSubstr("/0/rows is 0"));
  EXPECT_THAT(
      error_of(with_shape(R"({"rows": 8, "columns": 8, "depth": 8, "factors": "i3", "sums": "i32"})")),
      HasSubstr("/0/factors is \"i3\"; it must be a dtype"));
}

// --- shipped profiles ---

DeviceProfile shipped(const std::string& name) {
  return parse_profile(whole_file("profiles/" + name + ".json").value(), name + ".json", name);
}

DeviceProfile minimum() {
  return shipped("vulkan_1_1_minimum");
}

TEST(ShippedProfiles, OfAndroidHaveWhatTheirYearRaised) {
  for (const std::string year : {"2021", "2022"}) {
    const DeviceInfo device = shipped("android_baseline_" + year).device;
    EXPECT_EQ(device.max_image_3d, 512U);
    EXPECT_EQ(device.max_image_2d, 4096U);
    EXPECT_EQ(device.max_storage_buffers_per_stage, 4U);
    EXPECT_EQ(device.max_workgroup_invocations, 128U);
    EXPECT_EQ(device.features.empty(), year == "2021");
  }
  const DeviceInfo device = shipped("android_baseline_2025").device;
  EXPECT_EQ(device.max_image_3d, 2048U);
  EXPECT_EQ(device.max_storage_buffers_per_stage, 35U);
  EXPECT_EQ(device.max_workgroup_invocations, 256U);
  EXPECT_THAT(device.max_workgroup_size, ElementsAre(256, 256, 64));
  EXPECT_EQ(device.max_shared_bytes, 16384U);
  EXPECT_THAT(device.features, ElementsAre(Feature::Int16));
}

// --- restricted() ---

TEST(RestrictedDevice, HasTheSmallerOfBothLimitsAndTheCommonFeatures) {
  DeviceInfo real = rich_device();
  real.textures = minimum().device.textures;
  const DeviceInfo device = restricted(real, minimum());
  EXPECT_EQ(device.max_workgroup_invocations, 128U);
  EXPECT_THAT(device.max_workgroup_size, ElementsAre(128, 128, 64));
  EXPECT_THAT(device.max_workgroup_count, ElementsAre(65535, 65535, 65535));
  EXPECT_EQ(device.max_shared_bytes, 16384U);
  EXPECT_EQ(device.max_storage_buffer_range, 1U << 27);
  EXPECT_EQ(device.max_storage_buffers_per_stage, 4U);
  EXPECT_EQ(device.max_image_3d, 256U);
  EXPECT_TRUE(device.features.empty());
  EXPECT_TRUE(device.cooperative_shapes.empty());
  EXPECT_FALSE(device.dot_product_accelerated);
  EXPECT_EQ(device.textures.size(), 12U);
}

TEST(RestrictedDevice, HasTheModesOfFloatsThatAnOlderProfileDoesNotName) {
  const auto as = [](const DeviceInfo& other) { return restricted(rich_device(), {"x", other}); };
  DeviceInfo older;
  older.api_version = "1.2.0";
  EXPECT_FALSE(as(older).has(Feature::RoundsToEven16)) << "nor does it name the first of them";
  EXPECT_FALSE(as(older).has(Feature::Maintenance4));
  older.features = {Feature::RoundsToEven32};
  EXPECT_TRUE(as(older).has(Feature::RoundsToEven16));
  EXPECT_TRUE(as(older).has(Feature::KeepsInfinities32));
  older.features.push_back(Feature::KeepsSubnormals16);
  EXPECT_FALSE(as(older).has(Feature::RoundsToEven16)) << "it names others of them";
  older.api_version = "1.3.0";
  EXPECT_TRUE(as(older).has(Feature::Maintenance4));
}

TEST(RestrictedDevice, HasTheOperationsOfSubgroupsThatAnOlderProfileDoesNotName) {
  DeviceInfo older;
  older.api_version = "1.2.0";
  older.features = {Feature::SubgroupArithmetic, Feature::SubgroupShuffle};
  const auto as = [](const DeviceInfo& other) { return restricted(rich_device(), {"x", other}); };
  EXPECT_TRUE(as(older).has(Feature::SubgroupVote));
  EXPECT_TRUE(as(older).has(Feature::SubgroupBallot));
  EXPECT_FALSE(as(older).has(Feature::UniformStorage8)) << "it has no storage of such values either";
  older.features.insert(older.features.end(), {Feature::Storage8, Feature::CooperativeMatrixKhr});
  EXPECT_TRUE(as(older).has(Feature::UniformStorage8));
  EXPECT_FALSE(as(older).has(Feature::UniformStorage16));
  EXPECT_TRUE(as(older).has(Feature::MemoryModel)) << "its matrices need it";
  DeviceInfo newer = older;
  newer.features.push_back(Feature::SubgroupVote);
  EXPECT_TRUE(as(newer).has(Feature::SubgroupVote));
  EXPECT_FALSE(as(newer).has(Feature::SubgroupBallot)) << "it would be named";
  DeviceInfo none;
  none.api_version = "1.2.0";
  EXPECT_TRUE(as(none).features.empty());
}

TEST(RestrictedDevice, HasTheMemoryModelThatItsVulkanRequires) {
  DeviceInfo other;
  other.api_version = "1.2.0";
  EXPECT_FALSE(restricted(rich_device(), {"x", other}).has(Feature::MemoryModel));
  other.api_version = "1.3.204";
  EXPECT_TRUE(restricted(rich_device(), {"x", other}).has(Feature::MemoryModel));
  EXPECT_TRUE(restricted(rich_device(), {"x", other}).has(Feature::MemoryModelDeviceScope));
  DeviceInfo real = rich_device();
  real.features.clear();
  EXPECT_TRUE(restricted(real, {"x", other}).features.empty()) << "the device has none";
}

TEST(RestrictedDevice, KeepsWhatTheDeviceHasLessOf) {
  DeviceInfo real;
  real.name = "Bare";
  real.max_shared_bytes = 20000;
  const DeviceInfo device = restricted(real, {"rich", rich_device()});
  EXPECT_EQ(device.max_shared_bytes, 20000U);
  EXPECT_EQ(device.max_workgroup_invocations, 128U);
  EXPECT_TRUE(device.features.empty());
  EXPECT_TRUE(device.textures.empty());
}

TEST(RestrictedDevice, SaysSoAndChoosesAsTheOtherDevice) {
  DeviceInfo real;
  real.name = "llvmpipe (LLVM 15, 256 bits)";
  real.type = "cpu";
  real.driver_name = "llvmpipe";
  real.device_memory_bytes = rich_device().device_memory_bytes + 1;
  const DeviceInfo device = restricted(real, {"rich", rich_device()});
  EXPECT_EQ(own_name(device), real.name);
  EXPECT_EQ(own_name(real), real.name);
  EXPECT_EQ(device.name, "llvmpipe (LLVM 15, 256 bits) as rich");
  EXPECT_EQ(device.as_if, "rich");
  EXPECT_EQ(device.shader_cores, 40U);
  EXPECT_TRUE(device.is_cpu());
  EXPECT_FALSE(device.is_planned_as_cpu());
  EXPECT_TRUE(real.is_planned_as_cpu());
  EXPECT_EQ(device.driver_name, "llvmpipe");
  EXPECT_EQ(device.device_memory_bytes, real.device_memory_bytes) << "its memory is its own";
}

/// A device that can be asked for subgroups of these sizes.
DeviceInfo with_sizes(std::uint32_t usual, std::uint32_t least, std::uint32_t most) {
  DeviceInfo device;
  device.features = {Feature::SubgroupSizeControl, Feature::FullSubgroups};
  device.subgroup_size = usual;
  device.min_subgroup_size = least;
  device.max_subgroup_size = most;
  device.max_workgroup_subgroups = 32;
  return device;
}

TEST(RestrictedDevice, HasTheSubgroupSizesOfBoth) {
  const DeviceInfo device = restricted(with_sizes(16, 8, 32), {"x", with_sizes(64, 16, 128)});
  EXPECT_EQ(device.min_subgroup_size, 16U);
  EXPECT_EQ(device.max_subgroup_size, 32U);
  EXPECT_EQ(device.subgroup_size, 32U);  // nearest to 64
  EXPECT_TRUE(device.can_demand(32, {64, 1, 1}));
  EXPECT_FALSE(device.can_demand(8, {64, 1, 1}));
}

TEST(RestrictedDevice, StillRequiresTheOneSizeThatIsLeft) {
  const DeviceInfo device = restricted(with_sizes(16, 8, 32), {"x", with_sizes(32, 32, 32)});
  EXPECT_EQ(device.subgroup_size, 32U);
  EXPECT_NE(device.min_subgroup_size, device.max_subgroup_size);  // so that programs require it
}

TEST(RestrictedDevice, HasItsOwnSubgroupSizeIfItCannotHaveTheOther) {
  const DeviceInfo device = restricted(with_sizes(8, 8, 8), {"x", with_sizes(64, 64, 64)});
  EXPECT_EQ(device.subgroup_size, 8U);
  EXPECT_EQ(device.min_subgroup_size, 8U);
  EXPECT_FALSE(device.can_demand(8, {64, 1, 1}));
  EXPECT_FALSE(device.has(Feature::SubgroupSizeControl));
}

TEST(RestrictedDevice, IsAMemberOfARangeOnlyIfBothAre) {
  EXPECT_EQ(restricted(rich_device(), {"x", rich_device()}).cooperative_shapes.size(), 2U);
  DeviceInfo other = rich_device();
  other.cooperative_shapes[0].depth = 16;  // another vendor's matrices
  EXPECT_THAT(restricted(rich_device(), {"x", other}).cooperative_shapes,
              ElementsAre(rich_device().cooperative_shapes[1]));
}

}  // namespace
}  // namespace assay
