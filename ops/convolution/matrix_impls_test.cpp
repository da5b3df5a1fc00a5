#include "ops/convolution/matrix_impls.h"

#include "ops/linear/coopmat.h"
#include "ops/linear/linear_test_support.h"
#include "tests/support/on_device.h"

#include <algorithm>

namespace assay::ops {
namespace {

using test::Draw;

/// A device without matrices, for which nothing is fitted.
Tune sizes_of(const ProductShape& shape, const Tune& tuned = {}, const DeviceInfo& device = {}) {
  const Params none;
  return with_fast_sizes({none, {}, {}, tuned}, shape, device);
}

ProductShape random_shape(Draw& draw) {
  const auto up_to = [&](std::int64_t most) { return draw.pick(1, std::int64_t{1} << draw.pick(0, most)); };
  return {.rows = up_to(20), .outputs = up_to(12), .groups = draw.pick(1, 9), .depth = up_to(15)};
}

TEST(FastSizes, LeaveAloneWhatACaseTunes) {
  const ProductShape large{.rows = 1 << 16, .outputs = 128, .depth = 1152};
  for (const char* name :
       {"tile_m", "tile_n", "tile_k", "subgroup_m", "subgroup_n", "subgroups_k", "splits", "stages"}) {
    const Tune tuned{{name, 2}};
    EXPECT_EQ(sizes_of(large, tuned), tuned);
  }
}

TEST(FastSizes, KeepWhatIsTunedAndIsNoSize) {
  const Tune tune = sizes_of({.rows = 1 << 16, .outputs = 128, .depth = 1152}, {{"bake", 0}, {"weights", 1}});
  EXPECT_EQ(tune.at("bake"), 0);
  EXPECT_EQ(tune.at("weights"), 1);
  EXPECT_EQ(tune.at("tile_m"), 128);
}

TEST(FastSizes, AreFittedToTheDevicesOfOtherVendorsAndStayOnTheOneThatTheyWereMeasuredOn) {
  Draw draw(31);
  DeviceInfo h200 = test::device_of_vendor(test::Vendor::Amd);
  h200.subgroup_size = 32;
  h200.max_shared_bytes = 49152;
  h200.cooperative_shapes = {{16, 16, 32, DType::I8, DType::I32, MatrixExtension::Khr}};
  for (int round = 0; round < 2000; ++round) {
    const ProductShape shape = random_shape(draw);
    EXPECT_EQ(sizes_of(shape, {}, h200), sizes_of(shape));
    Tune tune = sizes_of(shape, {}, test::device_of_vendor(test::Vendor::Qualcomm));
    EXPECT_EQ(tune.at("subgroup_m") % 64, 0) << "fragments are 64 x 16";
    EXPECT_EQ(tune.at("tile_m") % tune.at("subgroup_m"), 0);
    for (const test::Vendor vendor :
         {test::Vendor::IntelDg2, test::Vendor::IntelXe2, test::Vendor::Qualcomm}) {
      tune = sizes_of(shape, {}, test::device_of_vendor(vendor));
      EXPECT_LE((tune.at("tile_m") + tune.at("tile_n")) * (tune.at("tile_k") + 16), 32768) << "shared memory";
      EXPECT_EQ(tune.at("tile_k") / 32 % tune.at("subgroups_k"), 0);
    }
  }
}

TEST(FastSizes, AreWhatTheTunablesAllow) {
  Draw draw(23);
  const std::vector<Tunable> tunables = coopmat_tunables({XKind::Int8, WeightKind::Int8});
  for (int round = 0; round < 5000; ++round) {
    const ProductShape shape = random_shape(draw);
    SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.depth << " x " << shape.outputs << " in "
                                    << shape.groups);
    for (const auto& [name, value] : sizes_of(shape)) {
      const auto tunable = std::ranges::find(tunables, name, &Tunable::name);
      ASSERT_NE(tunable, tunables.end()) << name;
      EXPECT_TRUE(tunable->allows(value))
          << name << " is " << value << ", allowed is " << tunable->range_text();
    }
  }
}

TEST(FastSizes, SubgroupsAreWholeInTilesAndFragmentsInSlabs) {
  Draw draw(29);
  for (int round = 0; round < 5000; ++round) {
    const ProductShape shape = random_shape(draw);
    const Tune tune = sizes_of(shape);
    SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.depth << " x " << shape.outputs << " in "
                                    << shape.groups);
    EXPECT_EQ(tune.at("tile_m") % tune.at("subgroup_m"), 0);
    EXPECT_EQ(tune.at("tile_n") % tune.at("subgroup_n"), 0);
    EXPECT_EQ(tune.at("tile_k") / 32 % tune.at("subgroups_k"), 0) << "fragments of 32 values along K";
    const std::int64_t subgroups = tune.at("tile_m") / tune.at("subgroup_m") *
                                   (tune.at("tile_n") / tune.at("subgroup_n")) * tune.at("subgroups_k");
    EXPECT_LE(subgroups, 32);
  }
}

TEST(FastSizes, SlabsAreNoLongerThanTheyNeedBe) {
  const auto slab_of = [](std::int64_t depth, std::int64_t outputs) {
    return sizes_of({.rows = 1 << 16, .outputs = outputs, .depth = depth}).at("tile_k");
  };
  EXPECT_EQ(slab_of(27, 128), 32);
  EXPECT_EQ(slab_of(33, 128), 64);
  EXPECT_EQ(slab_of(65, 128), 128);
  EXPECT_EQ(slab_of(1152, 128), 128);
  EXPECT_EQ(slab_of(576, 64), 192) << "three whole slabs, where 128 leave a rest";
  EXPECT_EQ(slab_of(768, 64), 128);
}

TEST(FastSizes, WorkgroupsShareADeepProductThatHasFewTiles) {
  const auto splits = [](const ProductShape& shape) {
    const Tune tune = sizes_of(shape);
    return tune.contains("splits") ? tune.at("splits") : 1;
  };
  EXPECT_GT(splits({.rows = 49, .outputs = 512, .depth = 4608}), 1);
  EXPECT_EQ(splits({.rows = 1 << 16, .outputs = 512, .depth = 4608}), 1);
  EXPECT_EQ(splits({.rows = 49, .outputs = 512, .depth = 1024}), 1);
}

}  // namespace

}  // namespace assay::ops
