#include "harness/gpu/device/instance.h"
#include "tests/support/gpu.h"

namespace assay::gpu {
namespace {

using namespace test;

class CooperativeTest : public GpuTest {};

TEST_F(CooperativeTest, ShapesAreListedWhereTheDeviceHasTheFeatureAndOnlyThere) {
  const std::vector<CooperativeShape> shapes = device().info().cooperative_shapes;
  const DeviceInfo& info = device().info();
  EXPECT_LE(!shapes.empty(),
            info.has(Feature::CooperativeMatrixNv) || info.has(Feature::CooperativeMatrixKhr));
  for (const CooperativeShape& shape : shapes) {
    EXPECT_TRUE(info.has(feature_of(shape.extension)));
    EXPECT_GT(shape.rows, 0U);
    EXPECT_GT(shape.columns, 0U);
    EXPECT_GT(shape.depth, 0U);
  }
}

TEST(UnreportedSubgroupSizes, AreManyWhereTheVendorsCompilerChoosesOneForEachShader) {
  const auto knows_it = [](std::uint32_t vendor) {
    const SubgroupSizes sizes = unreported_subgroup_sizes(vendor, 32);
    DeviceInfo info;
    info.subgroup_size = 32;
    info.min_subgroup_size = sizes.least;
    info.max_subgroup_size = sizes.most;
    EXPECT_LE(sizes.least, 32U);
    EXPECT_GE(sizes.most, 32U);
    return info.knows_subgroup_size({64, 1, 1});
  };
  constexpr std::uint32_t intel = 0x8086, qualcomm = 0x5143, amd = 0x1002, nvidia = 0x10de, arm = 0x13b5;
  for (const std::uint32_t vendor : {intel, qualcomm, amd}) EXPECT_FALSE(knows_it(vendor)) << vendor;
  for (const std::uint32_t vendor : {nvidia, arm}) EXPECT_TRUE(knows_it(vendor)) << vendor;
}

}  // namespace
}  // namespace assay::gpu
