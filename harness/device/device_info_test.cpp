#include "harness/device/device_info.h"

#include "harness/op/expected.h"

#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

TEST(DeviceInfoTest, EveryFeatureHasANameOfItsOwn) {
  constexpr int count = static_cast<int>(Feature::CooperativeMatrixNv) + 1;
  std::set<std::string_view> names;
  for (int i = 0; i < count; ++i) names.insert(name_of(static_cast<Feature>(i)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(count));
}

TEST(DeviceInfoTest, FeaturesAreCalledWhatVulkanCallsThem) {
  EXPECT_EQ(name_of(Feature::Storage8), "storageBuffer8BitAccess");
  EXPECT_EQ(name_of(Feature::Storage16), "storageBuffer16BitAccess");
  EXPECT_EQ(name_of(Feature::Float16), "shaderFloat16");
  EXPECT_EQ(name_of(Feature::DotProduct), "shaderIntegerDotProduct");
  EXPECT_EQ(name_of(Feature::CooperativeMatrixNv), "VK_NV_cooperative_matrix");
}

TEST(DeviceInfoTest, ADeviceHasTheFeaturesThatAreListed) {
  DeviceInfo device;
  EXPECT_FALSE(device.has(Feature::Int8));
  device.features = {Feature::Storage8, Feature::Int8};
  EXPECT_TRUE(device.has(Feature::Int8));
  EXPECT_FALSE(device.has(Feature::Int16));
}

TEST(DeviceInfoTest, ADeviceOfTypeCpuIsOne) {
  DeviceInfo device;
  device.type = "integrated";
  EXPECT_FALSE(device.is_cpu());
  device.type = "cpu";
  EXPECT_TRUE(device.is_cpu());
}

TEST(DeviceInfoTest, ATextureIsFoundByItsStorageAndDtype) {
  DeviceInfo device;
  EXPECT_EQ(device.texture(Storage::Texture3D, DType::I8), nullptr);
  device.textures = {{Storage::Texture2D, DType::I8}, {Storage::Texture3D, DType::F16}};
  EXPECT_EQ(device.texture(Storage::Texture3D, DType::I8), nullptr);
  EXPECT_EQ(device.texture(Storage::Texture2D, DType::I8), &device.textures[0]);
  EXPECT_EQ(device.texture(Storage::Texture3D, DType::F16), &device.textures[1]);
}

TEST(ExpectedTest, OutputClassesHaveTheirNames) {
  EXPECT_EQ(name_of(OutputClass::Exact), "exact");
  EXPECT_EQ(name_of(OutputClass::Banded), "banded");
  EXPECT_EQ(name_of(OutputClass::Bounded), "bounded");
}

TEST(DeviceInfoTest, DemandsSubgroupsOfItsRangeThatAreFullAndNotTooMany) {
  DeviceInfo device;
  device.min_subgroup_size = 16;
  device.max_subgroup_size = 64;
  device.max_workgroup_subgroups = 8;
  EXPECT_FALSE(device.can_demand(32, {64, 1, 1})) << "without the feature";
  device.features = {Feature::FullSubgroups};
  EXPECT_TRUE(device.can_demand(32, {64, 1, 1}));
  EXPECT_TRUE(device.can_demand(16, {128, 1, 1}));
  EXPECT_FALSE(device.can_demand(16, {144, 1, 1})) << "nine subgroups";
  EXPECT_FALSE(device.can_demand(16, {64, 3, 1})) << "twelve";
  EXPECT_FALSE(device.can_demand(8, {64, 1, 1})) << "below the range";
  EXPECT_FALSE(device.can_demand(128, {128, 1, 1})) << "above it";
  EXPECT_FALSE(device.can_demand(48, {96, 1, 1})) << "no power of two";
  EXPECT_FALSE(device.can_demand(64, {32, 2, 1})) << "it does not divide the size along x";
}

TEST(DeviceInfoTest, ACooperativeShapeIsNamedByItsSidesAndTypes) {
  EXPECT_EQ(to_string(CooperativeShape{16, 8, 32, DType::I8, DType::I32}), "16x8x32 i8 to i32");
  EXPECT_EQ(to_string(CooperativeShape{16, 8, 32, DType::I8, DType::I32, MatrixExtension::Khr, true}),
            "16x8x32 i8 to i32, saturating");
}

}  // namespace
}  // namespace assay
