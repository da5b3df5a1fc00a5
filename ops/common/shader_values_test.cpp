#include "ops/common/shader_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace assay::ops {
namespace {

using testing::ElementsAre;

// The quotient as `divide` in shaders/common/indexing.glslh computes it.
std::uint32_t divide(std::uint32_t n, Divider divider) {
  if (divider.multiplier == 0) return n;
  const std::uint64_t product = std::uint64_t{n} * divider.multiplier;
  return static_cast<std::uint32_t>(product >> 32) >> divider.shift;
}

constexpr std::uint32_t largest = 0x7fffffff;

void expect_exact(std::uint32_t d) {
  const Divider by = divider(d);
  for (const std::uint32_t multiple : {0u, d, largest / d * d}) {
    for (const std::uint32_t n : {multiple - 1, multiple, multiple + 1}) {
      if (n <= largest) {
        ASSERT_EQ(divide(n, by), n / d) << n << " / " << d;
      }
    }
  }
  ASSERT_EQ(divide(largest, by), largest / d) << d;
}

TEST(Divider, IsExactNextToMultiplesOfEverySmallDivisorAndEveryPowerOfTwo) {
  for (std::uint32_t d = 1; d < 20000; ++d) expect_exact(d);
  for (int bit = 1; bit < 31; ++bit) {
    const std::uint32_t power = 1u << bit;
    for (const std::uint32_t d : {power - 1, power, power + 1}) expect_exact(d);
  }
  expect_exact(largest);
}

TEST(Divider, IsExactOnRandomNumbers) {
  std::mt19937 random(1);
  for (int round = 0; round < 1000000; ++round) {
    const auto n = static_cast<std::uint32_t>(random() & largest);
    const auto d = static_cast<std::uint32_t>((random() & largest) >> (random() % 31) | 1);
    ASSERT_EQ(divide(n, divider(d)), n / d) << n << " / " << d;
  }
}

TEST(Divider, RefusesWhatItCannotDivideBy) {
  EXPECT_THROW(divider(0), std::logic_error);
  EXPECT_THROW(divider(std::int64_t{1} << 31), std::logic_error);
}

TEST(BindAt, DefinesTheNumberOfTheBinding) {
  Dispatch dispatch;
  bind_at(dispatch, "X_AT", Resource::tensor(4));
  bind_at(dispatch, "Y_AT", Resource::scratch(0));
  ASSERT_EQ(dispatch.bindings.size(), 2U);
  EXPECT_EQ(dispatch.bindings[0].resource, Resource::tensor(4));
  EXPECT_EQ(dispatch.bindings[1].resource, Resource::scratch(0));
  ASSERT_EQ(dispatch.defines.size(), 2U);
  EXPECT_EQ(dispatch.defines[0].name + dispatch.defines[0].value, "X_AT0");
  EXPECT_EQ(dispatch.defines[1].name + dispatch.defines[1].value, "Y_AT1");
}

/// A device with subgroups of `least` to 32 invocations, whose own are 32, at most eight in a workgroup.
DeviceInfo device_of_subgroups(std::uint32_t least, bool demands_full_ones) {
  DeviceInfo device;
  device.features = {Feature::SubgroupShuffle};
  if (demands_full_ones) device.features.push_back(Feature::FullSubgroups);
  device.min_subgroup_size = least;
  device.subgroup_size = device.max_subgroup_size = 32;
  device.max_workgroup_subgroups = 8;
  return device;
}

/// SUBGROUPS of a dispatch with workgroups of this size, and the subgroup size that it demands: "1, 32".
std::string subgroups_in(std::uint32_t local_size, const DeviceInfo& device) {
  Dispatch dispatch;
  dispatch.local_size = {local_size, 1, 1};
  use_subgroups(dispatch, device);
  return dispatch.defines.at(0).value + ", " + std::to_string(dispatch.subgroup_size);
}

TEST(UseSubgroups, DemandsFullOnesWhereTheDeviceCan) {
  const DeviceInfo one_size = device_of_subgroups(32, true), several = device_of_subgroups(8, true);
  EXPECT_EQ(subgroups_in(64, one_size), "1, 32");
  EXPECT_EQ(subgroups_in(256, one_size), "1, 32");
  EXPECT_EQ(subgroups_in(64, several), "1, 32");
}

TEST(UseSubgroups, DemandsNothingThatTheDeviceCannotGive) {
  EXPECT_EQ(subgroups_in(64, device_of_subgroups(32, false)), "1, 0");
  const DeviceInfo one_size = device_of_subgroups(32, true), several = device_of_subgroups(8, true);
  EXPECT_EQ(subgroups_in(288, one_size), "1, 0") << "nine subgroups";
  EXPECT_EQ(subgroups_in(16, one_size), "1, 0") << "a part of one";
  EXPECT_EQ(subgroups_in(64, device_of_subgroups(8, false)), "0, 0");
  EXPECT_EQ(subgroups_in(288, several), "0, 0");
  EXPECT_EQ(subgroups_in(16, several), "0, 0");
}

TEST(UseSubgroups, ExchangesNoRegistersWithInvocationsThatDoNotExist) {
  for (const bool demands_full_ones : {false, true}) {
    EXPECT_EQ(subgroups_in(48, device_of_subgroups(32, demands_full_ones)), "0, 0");
  }
}

constexpr std::array<std::string_view, 3> names{"width", "", "scale"};

Dispatch dispatch() {
  Dispatch result;
  result.constants = {{"factor", 2}};
  result.push.add(std::int64_t{48}).add(std::int64_t{7}).add(0.5F);
  return result;
}

TEST(Bake, GivesEachNamedWordAsAConstant) {
  Dispatch baked = dispatch();
  bake(baked, names, true);
  EXPECT_THAT(baked.constants, ElementsAre(SpecConstant{"factor", 2}, SpecConstant{"baked", 1},
                                           SpecConstant{"baked_width", 48},
                                           SpecConstant{"baked_scale", std::bit_cast<std::uint32_t>(0.5F)}));
  EXPECT_EQ(baked.push.words(), dispatch().push.words());
}

TEST(Bake, LeavesProgramsThatAllShapesShareWhereItIsNotWanted) {
  Dispatch pushed = dispatch();
  bake(pushed, names, false);
  EXPECT_THAT(pushed.constants, ElementsAre(SpecConstant{"factor", 2}, SpecConstant{"baked", 0},
                                            SpecConstant{"baked_width", 1}, SpecConstant{"baked_scale", 1}));
}

TEST(Bake, RefusesNamesThatAreNotOneAWord) {
  Dispatch short_of_one = dispatch();
  EXPECT_THROW(bake(short_of_one, std::span(names).first(2), true), std::logic_error);
}

TEST(Bake, IsWantedUnlessTheDeviceIsACpuOrTheCaseSaysSo) {
  const Params params;
  DeviceInfo device;
  device.type = "discrete";
  EXPECT_TRUE(wants_bake({params, {}, {}, device, {}}));
  const std::map<std::string, std::int64_t> pushed{{"bake", 0}}, built_in{{"bake", 1}};
  EXPECT_FALSE(wants_bake({params, {}, {}, device, pushed}));
  device.type = "cpu";
  EXPECT_FALSE(wants_bake({params, {}, {}, device, {}}));
  EXPECT_TRUE(wants_bake({params, {}, {}, device, built_in}));
}

}  // namespace

}  // namespace assay::ops
