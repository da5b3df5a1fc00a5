#include "harness/op/device_info.h"

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

}  // namespace
}  // namespace assay
