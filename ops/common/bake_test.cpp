#include "ops/common/bake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <stdexcept>

namespace assay::ops {
namespace {

using testing::ElementsAre;

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
