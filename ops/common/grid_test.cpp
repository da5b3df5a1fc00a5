#include "ops/common/grid.h"

#include <gtest/gtest.h>

namespace assay::ops {
namespace {

DeviceInfo device_with(std::uint32_t subgroup, std::uint32_t most) {
  DeviceInfo device;
  device.subgroup_size = subgroup;
  device.max_workgroup_invocations = most;
  return device;
}

TEST(LocalSize, GrowsWithTheTensorFromOneSubgroupTo256) {
  const DeviceInfo device = device_with(32, 1024);
  EXPECT_EQ(default_local_size(1, device), 32u);
  EXPECT_EQ(default_local_size(1 << 16, device), 64u);
  EXPECT_EQ(default_local_size((1 << 17) + 5000, device), 128u);
  EXPECT_EQ(default_local_size(1 << 24, device), 256u);
}

TEST(LocalSize, NeverExceedsTheDevice) {
  EXPECT_EQ(default_local_size(1 << 24, device_with(64, 128)), 128u);
  EXPECT_EQ(default_local_size(1, device_with(64, 128)), 64u);
  EXPECT_EQ(default_local_size(1, device_with(128, 64)), 64u);
}

TEST(Grid, TakesTheTunedLocalSizeAndCoversAllInvocations) {
  const Params params;
  const DeviceInfo device = device_with(32, 1024);
  const std::map<std::string, std::int64_t> tune{{"local_size", 16}};
  Dispatch dispatch;
  set_grid(dispatch, {params, {}, {}, device, tune}, 100);
  EXPECT_EQ(dispatch.local_size[0], 16u);
  EXPECT_EQ(dispatch.workgroups[0], 7u);
}

}  // namespace
}  // namespace assay::ops
