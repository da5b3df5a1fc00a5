#include "tests/support/gpu.h"

namespace assay::gpu {
namespace {

using namespace test;

class CooperativeTest : public GpuTest {};

TEST_F(CooperativeTest, ShapesAreListedWhereTheDeviceHasTheFeatureAndOnlyThere) {
  const std::vector<CooperativeShape> shapes = device().info().cooperative_shapes;
  EXPECT_EQ(!shapes.empty(), device().info().has(Feature::CooperativeMatrixNv));
  for (const CooperativeShape& shape : shapes) {
    EXPECT_GT(shape.rows, 0U);
    EXPECT_GT(shape.columns, 0U);
    EXPECT_GT(shape.depth, 0U);
  }
}

}  // namespace
}  // namespace assay::gpu
