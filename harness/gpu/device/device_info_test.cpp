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

}  // namespace
}  // namespace assay::gpu
