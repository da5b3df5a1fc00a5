#include "ops/common/grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace assay::ops {
namespace {

using testing::ElementsAre;

using Sides = std::array<std::uint32_t, 3>;

DeviceInfo device_with(std::uint32_t subgroup, std::uint32_t most) {
  DeviceInfo device;
  device.subgroup_size = subgroup;
  device.max_workgroup_invocations = most;
  device.max_workgroup_size = {most, most, 64};
  return device;
}

TEST(LocalSize, GrowsWithTheTensorFrom64To256) {
  const DeviceInfo device = device_with(32, 1024);
  EXPECT_EQ(default_local_size(1, device), 64u);
  EXPECT_EQ(default_local_size(1 << 16, device), 64u);
  EXPECT_EQ(default_local_size((1 << 17) + 5000, device), 128u);
  EXPECT_EQ(default_local_size(1 << 24, device), 256u);
}

TEST(LocalSize, IsLargerWhereFewWorkgroupsHoldAllInvocations) {
  const DeviceInfo device = device_with(32, 1024);
  EXPECT_EQ(default_local_size(960, device), 128u);
  EXPECT_EQ(default_local_size(100, device), 64u) << "no more than there are";
  EXPECT_EQ(default_local_size(1025, device), 64u);
}

TEST(LocalSize, NeverExceedsTheDevice) {
  EXPECT_EQ(default_local_size(1 << 24, device_with(64, 128)), 128u);
  EXPECT_EQ(default_local_size(1, device_with(64, 128)), 64u);
  EXPECT_EQ(default_local_size(1, device_with(128, 64)), 64u);
}

TEST(LocalSize, KeepsToTheLimitAlongX) {
  DeviceInfo device = device_with(32, 1024);
  device.max_workgroup_size[0] = 128;
  EXPECT_EQ(default_local_size(1 << 24, device), 128u);
}

TEST(MostInvocations, IsAPowerOfTwoWithinBothLimits) {
  DeviceInfo device = device_with(32, 896);
  EXPECT_EQ(most_invocations(device), 512);
  device.max_workgroup_size[0] = 256;
  EXPECT_EQ(most_invocations(device), 256);
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

Dispatch vector_dispatch(std::int64_t vectors, const std::map<std::string, std::int64_t>& tune = {}) {
  const Params params;
  const DeviceInfo device = device_with(32, 1024);
  Dispatch dispatch;
  set_vector_grid(dispatch, {params, {}, {}, device, tune}, vectors);
  return dispatch;
}

TEST(VectorGrid, GivesAnInvocationSeveralVectorsWhereThereAreMany) {
  const auto each = [](std::int64_t vectors) { return vector_dispatch(vectors).constants.front().value; };
  EXPECT_EQ(each(100), 1U);
  EXPECT_EQ(each((1 << 20) - 1), 1U);
  EXPECT_EQ(each(1 << 20), 4U);
}

TEST(VectorGrid, CoversAllVectors) {
  EXPECT_EQ(vector_dispatch(1000, {{"vectors_per_invocation", 3}, {"local_size", 10}}).workgroups[0], 34U);
  const Dispatch large = vector_dispatch((1 << 22) + 1);
  EXPECT_GT(std::int64_t{large.workgroups[0]} * large.workgroups[1] * large.local_size[0] * 4, 1 << 22);
}

TEST(LocalExtent, FillsXUpToTheSubgroupThenYThenZThenXAgain) {
  const DeviceInfo device = device_with(32, 1024);
  EXPECT_THAT(local_extent({1000, 1000, 1000}, 256, device), ElementsAre(32, 8, 1));
  EXPECT_THAT(local_extent({32, 2, 1000}, 256, device), ElementsAre(32, 2, 4));
  EXPECT_THAT(local_extent({1000, 2, 1}, 256, device), ElementsAre(128, 2, 1));
  EXPECT_THAT(local_extent({1000, 1, 1}, 64, device), ElementsAre(64, 1, 1));
  EXPECT_THAT(local_extent({1000, 1000, 1}, 64, device_with(8, 1024)), ElementsAre(8, 8, 1));
}

TEST(LocalExtent, TakesNoMoreInvocationsThanThereAreTexels) {
  const DeviceInfo device = device_with(32, 1024);
  EXPECT_THAT(local_extent({1, 1, 1}, 256, device), ElementsAre(1, 1, 1));
  EXPECT_THAT(local_extent({5, 3, 2}, 256, device), ElementsAre(5, 3, 2));
  EXPECT_THAT(local_extent({1, 7, 1}, 256, device), ElementsAre(1, 7, 1));
}

TEST(LocalExtent, DividesTheExtentEvenly) {
  const DeviceInfo device = device_with(32, 1024);
  EXPECT_THAT(local_extent({33, 9, 1}, 256, device), ElementsAre(17, 9, 1));
  EXPECT_THAT(local_extent({32, 9, 1}, 256, device), ElementsAre(32, 5, 1));
}

TEST(LocalExtent, KeepsTheNumbersOfWorkgroupsThatADeviceCanCount) {
  DeviceInfo device = device_with(32, 1024);
  device.max_workgroup_count = {65535, 65535, 16};
  EXPECT_THAT(local_extent({1, 1, 100}, 4, device), ElementsAre(1, 1, 7));
  EXPECT_THAT(local_extent({4, 100, 100}, 32, device), ElementsAre(4, 1, 8));
}

TEST(LocalExtent, StaysWithinTheDeviceAndTheWantedNumberWhateverTheExtent) {
  std::mt19937 random(4);
  const auto pick = [&](std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(1, most)(random);
  };
  const DeviceInfo device = device_with(32, 256);
  for (int round = 0; round < 1000; ++round) {
    const Sides extent{pick(90), pick(90), pick(90)};
    const std::uint32_t wanted = pick(256);
    const Sides local = local_extent(extent, wanted, device);
    ASSERT_LE(local[0] * local[1] * local[2], wanted);
    for (std::size_t i = 0; i < 3; ++i) {
      ASSERT_GE(local[i], 1u);
      ASSERT_LE(local[i], std::min(extent[i], device.max_workgroup_size[i]));
    }
  }
}

TEST(LocalSizeOfRows, IsAPowerOfTwoWithRoomForOneGroup) {
  const Params params;
  const DeviceInfo device = device_with(32, 256);
  const auto of = [&](const std::map<std::string, std::int64_t>& tune, std::int64_t columns) {
    return local_size_of_rows({params, {}, {}, device, tune}, columns);
  };
  EXPECT_EQ(of({}, 8), 128);
  EXPECT_EQ(of({}, 256), 256);
  EXPECT_EQ(of({{"local_size", 48}}, 8), 32);
  EXPECT_EQ(of({{"local_size", 1000}}, 8), 256) << "the device allows no more";
  EXPECT_EQ(of({{"local_size", 16}}, 64), 64);
}

Dispatch texture_dispatch(const std::map<std::string, std::int64_t>& tune, Sides extent) {
  const Params params;
  const DeviceInfo device = device_with(32, 1024);
  Dispatch dispatch;
  set_texture_grid(dispatch, {params, {}, {}, device, tune}, extent);
  return dispatch;
}

TEST(TextureGrid, CoversTheExtentWithWorkgroupsOfTheChosenSides) {
  const Dispatch dispatch = texture_dispatch({}, {100, 50, 3});
  EXPECT_THAT(dispatch.local_size, ElementsAre(25, 2, 1));
  EXPECT_THAT(dispatch.workgroups, ElementsAre(4, 25, 3));
}

TEST(TextureGrid, TakesTheTunedSidesAndTheTunedNumberOfInvocations) {
  const Dispatch sides = texture_dispatch({{"local_x", 3}, {"local_y", 4}, {"local_z", 2}}, {100, 50, 3});
  EXPECT_THAT(sides.local_size, ElementsAre(3, 4, 2));
  EXPECT_THAT(sides.workgroups, ElementsAre(34, 13, 2));
  EXPECT_THAT(texture_dispatch({{"local_size", 128}}, {100, 50, 3}).local_size, ElementsAre(25, 5, 1));
}

}  // namespace
}  // namespace assay::ops
