#include "ops/linear/coopmat_tiling.h"

#include "harness/cases/describe/reachable_programs.h"
#include "ops/linear/linear_test_support.h"

#include <fmt/format.h>

#include <numeric>

// How products of matrices are cut: checks every tiling for what the kernel relies on.

namespace assay::ops {
namespace {

using namespace test;

constexpr std::int64_t unit = 32;
const LinearKind reals{XKind::Real, WeightKind::Int4HighFirst};
const LinearKind reals_by_int8{XKind::Real, WeightKind::Int8};
const LinearKind integers{XKind::Int8, WeightKind::Int8};
const LinearKind grouped{XKind::QuantizedRows, WeightKind::Int4HighFirst};

struct Wanted {
  std::int64_t group_size, wanted;
  std::int64_t depth, padded, groups, slabs_of_group;
};

void expect_slab(const Wanted& of) {
  SCOPED_TRACE("groups of " + std::to_string(of.group_size) + ", slabs of " + std::to_string(of.wanted));
  const Slab slab = slab_of_groups(of.group_size, unit, of.wanted);
  EXPECT_EQ(slab.depth, of.depth);
  EXPECT_EQ(slab.padded, of.padded);
  EXPECT_EQ(slab.groups, of.groups);
  EXPECT_EQ(slab.slabs_of_group, of.slabs_of_group);
}

TEST(SlabOfGroups, IsWholeGroupsOrAPartOfOne) {
  for (const Wanted& of : {Wanted{8, 64, 8, 32, 1, 1},
                           {16, 64, 16, 32, 1, 1},
                           {24, 64, 24, 32, 1, 1},
                           {40, 64, 40, 64, 1, 1},
                           {88, 64, 8, 32, 1, 11},
                           {88, 128, 88, 96, 1, 1},
                           {96, 64, 48, 64, 1, 2},
                           {96, 32, 32, 32, 1, 3},
                           {96, 128, 96, 96, 1, 1},
                           {256, 64, 64, 64, 1, 4},
                           {32, 32, 32, 32, 1, 1},
                           {32, 64, 64, 64, 2, 1},
                           {32, 256, 256, 256, 8, 1},
                           {64, 256, 256, 256, 4, 1},
                           {40, 32, 8, 32, 1, 5}}) {
    expect_slab(of);
  }
}

// Either groups are whole slabs or slabs are whole groups. A slab is whole fragments, which no two groups
// share, and no slab is larger than wanted.
TEST(SlabOfGroups, FitsGroupsOfAnySize) {
  for (std::int64_t group_size = 8; group_size <= 1024; group_size += 8) {
    for (const std::int64_t of : {32, 64}) {
      for (const std::int64_t wanted : {32, 64, 128, 256}) {
        SCOPED_TRACE(testing::Message() << group_size << ", " << of << ", " << wanted);
        const Slab slab = slab_of_groups(group_size, of, wanted);
        EXPECT_EQ(slab.depth * slab.slabs_of_group, group_size * slab.groups);
        EXPECT_TRUE(slab.groups == 1 || slab.slabs_of_group == 1);
        EXPECT_EQ(slab.padded % (slab.groups * of), 0);
        EXPECT_GE(slab.padded, slab.depth);
        EXPECT_LE(slab.padded, std::max(wanted, of));
        EXPECT_EQ(slab.depth % 8, 0);
      }
    }
  }
}

/// The tiling as if on a GPU with matrices, or on `device`.
CoopmatTiling tiling_of(const Trial& trial, const LinearKind& kind,
                        const DeviceInfo& device = contrasting_devices().at(1)) {
  const std::vector<TensorSpec> tensors = trial.op->tensors(trial.params);
  return coopmat_tiling(BuildContext(trial.params, tensors, trial.forms, device, trial.tune), kind);
}

class CoopmatTilingTest : public LinearTest {
 protected:
  Trial trial(const std::string& op, std::int64_t k, std::int64_t group_size, Tune tune) const {
    Trial made = trial_of(op_of(op), "coopmat", {70, k, 70}, group_size);
    made.tune = std::move(tune);
    return made;
  }
};

TEST_F(CoopmatTilingTest, EverySplitHasSlabsOfWholeGroups) {
  for (const std::int64_t group_size : {8, 32, 96, 256}) {
    for (std::int64_t groups = 1; groups < 20; ++groups) {
      for (std::int64_t splits = 1; splits <= 64; splits += 3) {
        const CoopmatTiling tiling = tiling_of(trial("linear_dq8ca_q4gsw", groups * group_size, group_size,
                                                     {{"tile_k", 64}, {"splits", splits}}),
                                               grouped);
        SCOPED_TRACE(testing::Message() << groups << " groups of " << group_size << ", " << splits);
        EXPECT_EQ(tiling.split_slabs() % tiling.slab.slabs_of_group, 0);
        EXPECT_LE(tiling.splits, splits);
        EXPECT_GE(tiling.splits * tiling.split_slabs(), tiling.all_slabs);
        EXPECT_LT((tiling.splits - 1) * tiling.split_slabs(), tiling.all_slabs) << "one without a slab";
      }
    }
  }
}

// Kinds whose weights are scaled before the product, and kinds whose weights are not scaled: neither has sums
// that end with a group.
TEST_F(CoopmatTilingTest, RealsOfInt4AreCutAsThoseOfInt8) {
  const auto sizes_of = [](const CoopmatTiling& tiling) {
    return std::vector{tiling.m,           tiling.n,          tiling.subgroup_m, tiling.subgroup_n,
                       tiling.subgroups_k, tiling.slab.depth, tiling.splits,     tiling.shared_bytes()};
  };
  for (const Sizes& sizes :
       {Sizes{4096, 4096, 4096}, {1024, 2048, 2048}, {128, 2048, 2048}, {128, 8192, 2048}}) {
    const Trial int4 = trial_of(op_of("linear_q4gsw"), "coopmat", sizes, 128);
    const Trial int8 = trial_of(op_of("linear_q8csw"), "coopmat", sizes);
    EXPECT_EQ(sizes_of(tiling_of(int4, reals)), sizes_of(tiling_of(int8, reals_by_int8))) << sizes.m;
  }
  const Trial one_group = trial_of(op_of("linear_q4gsw"), "coopmat", {128, 2048, 2048}, 2048);
  EXPECT_GT(tiling_of(one_group, reals).splits, 1) << "K is shared inside a group";
}

TEST_F(CoopmatTilingTest, SharedMemoryHoldsSlabsOrSums) {
  Tune tune{{"tile_m", 64}, {"tile_n", 32}, {"tile_k", 64}, {"subgroup_m", 32}, {"subgroup_n", 32}};
  // Rows of 4 or 8 units, and one between; the sums of 16 rows of 32 channels of each of two subgroups.
  EXPECT_EQ(tiling_of(trial("q8ta_linear", 256, 0, tune), integers).shared_bytes(), 96 * 5 * 16);
  EXPECT_EQ(tiling_of(trial("linear_q8csw", 256, 0, tune), reals_by_int8).shared_bytes(), 96 * 9 * 16);
  EXPECT_EQ(tiling_of(trial("linear_q4gsw", 256, 32, tune), reals).shared_bytes(), 96 * 9 * 16);
  // In addition, the scales and sums of w of two groups, of 8 quads, and 64 zero points.
  EXPECT_EQ(tiling_of(trial("linear_dq8ca_q4gsw", 256, 32, tune), grouped).shared_bytes(),
            (96 * 5 + 32 + 16) * 16);
  tune["stages"] = 2;
  EXPECT_EQ(tiling_of(trial("linear_dq8ca_q4gsw", 256, 32, tune), grouped).shared_bytes(),
            (2 * (96 * 5 + 32) + 16) * 16);
  tune = {{"tile_m", 32},     {"tile_n", 16},     {"tile_k", 256},
          {"subgroup_m", 16}, {"subgroup_n", 16}, {"subgroups_k", 8}};
  EXPECT_EQ(tiling_of(trial("q8ta_linear", 256, 0, tune), integers).shared_bytes(), 16 * 16 * 5 * 16)
      << "the sums of 16 subgroups need more than a slab";
}

TEST_F(CoopmatTilingTest, FragmentsAreTheLargestThatTheDeviceHas) {
  DeviceInfo device = contrasting_devices().at(1);
  device.cooperative_shapes = {{8, 8, 16, DType::I8, DType::I32},    {16, 16, 32, DType::I8, DType::I32},
                               {16, 8, 32, DType::I8, DType::I32},   {64, 64, 64, DType::I8, DType::F32},
                               {16, 8, 8, DType::F16, DType::F32},   {16, 8, 16, DType::F16, DType::F32},
                               {64, 64, 64, DType::F16, DType::F16}, {64, 64, 64, DType::F32, DType::F32}};
  const auto shape_of = [&](const LinearKind& kind) -> std::vector<std::int64_t> {
    const std::optional<Fragment> fragment = fragment_of(device, kind);
    if (!fragment) return {};
    return {fragment->m, fragment->n, fragment->k};
  };
  EXPECT_THAT(shape_of(integers), testing::ElementsAre(16, 16, 32));
  EXPECT_THAT(shape_of(grouped), testing::ElementsAre(16, 8, 32)) << "a matrix of floats has this size, too";
  EXPECT_THAT(shape_of(reals), testing::ElementsAre(16, 8, 16));
  // More elements per invocation than the kernel can name, and a number that it does not know.
  device.subgroup_size = 4;
  EXPECT_THAT(shape_of(integers), testing::ElementsAre(16, 8, 32));
  device.subgroup_size = 24;
  EXPECT_THAT(shape_of(integers), testing::IsEmpty());
  device.subgroup_size = 32;
  // Rows that are not multiples of four, depths that are not multiples of 16 bytes, and none.
  device.cooperative_shapes = {{6, 16, 32, DType::I8, DType::I32},
                               {16, 10, 32, DType::I8, DType::I32},
                               {16, 16, 24, DType::I8, DType::I32},
                               {16, 16, 0, DType::I8, DType::I32},
                               {16, 16, 12, DType::F16, DType::F32}};
  EXPECT_THAT(shape_of(integers), testing::IsEmpty());
  EXPECT_THAT(shape_of(reals), testing::IsEmpty());
}

TEST_F(CoopmatTilingTest, OfEqualFragmentsTheOneOfKhrIsTakenUnlessTheOtherIsWanted) {
  using enum MatrixExtension;
  DeviceInfo device = contrasting_devices().at(1);
  device.cooperative_shapes = {{16, 16, 32, DType::I8, DType::I32, Nv},
                               {16, 16, 32, DType::I8, DType::I32, Khr}};
  const auto extension = [&](WantedMatrices wanted) {
    return fragment_of(device, integers, {.matrices = wanted})->extension;
  };
  EXPECT_EQ(extension(WantedMatrices::Any), Khr);
  EXPECT_EQ(extension(WantedMatrices::Nv), Nv);
  EXPECT_EQ(extension(WantedMatrices::Khr), Khr);
  device.cooperative_shapes.back().depth = 16;
  EXPECT_EQ(extension(WantedMatrices::Any), Nv) << "it is larger";
  device.cooperative_shapes.front().saturates = true;
  EXPECT_EQ(extension(WantedMatrices::Any), Khr) << "sums must wrap";
  EXPECT_FALSE(fragment_of(device, integers, {.matrices = WantedMatrices::Nv}));
}

TEST_F(CoopmatTilingTest, ACaseMayWantASmallerFragment) {
  DeviceInfo device = contrasting_devices().at(1);
  device.cooperative_shapes = {{16, 16, 32, DType::I8, DType::I32}, {16, 8, 32, DType::I8, DType::I32}};
  EXPECT_EQ(fragment_of(device, integers, {.n = 8})->n, 8);
  EXPECT_EQ(fragment_of(device, integers, {.m = 16, .k = 32})->n, 16);
  EXPECT_FALSE(fragment_of(device, integers, {.m = 8}));
  EXPECT_FALSE(fragment_of(device, integers, {.k = 16}));
  EXPECT_EQ(tiling_of(trial("q8ta_linear", 256, 0, {{"fragment_n", 8}}), integers, device).fragment.n, 8);
}

TEST_F(CoopmatTilingTest, PlainCodeHasAnyFragmentAndSubgroup) {
  const CoopmatTiling tiling = tiling_of(
      trial("q8ta_linear", 256, 0, {{"plain", 1}, {"fragment_m", 64}, {"fragment_k", 16}, {"lanes", 64}}),
      integers, contrasting_devices().at(3));
  EXPECT_EQ(tiling.fragment.m, 64);
  EXPECT_EQ(tiling.fragment.n, 16);
  EXPECT_EQ(tiling.fragment.k, 16);
  EXPECT_EQ(tiling.lanes, 64);
  EXPECT_EQ(tiling.invocations(), 64 * tiling.subgroups());
}

/// What matters of an H200 to the sizes.
DeviceInfo like_an_h200() {
  DeviceInfo device = contrasting_devices().at(1);
  device.subgroup_size = 32;
  device.max_shared_bytes = 49152;
  device.max_workgroup_invocations = 1024;
  device.max_workgroup_size = {1024, 1024, 64};
  device.cooperative_shapes = {{16, 16, 32, DType::I8, DType::I32, MatrixExtension::Khr},
                               {16, 16, 16, DType::F16, DType::F32, MatrixExtension::Khr}};
  return device;
}

// The sizes that are fast on an H200 and fit it: what other devices need must not change them.
TEST_F(CoopmatTilingTest, SizesOfTheDeviceThatTheyWereMeasuredOnStay) {
  const DeviceInfo device = like_an_h200();
  const auto sizes_of = [&](const std::string& op, const Sizes& sizes, const LinearKind& kind) {
    const CoopmatTiling tiling = tiling_of(trial_of(op_of(op), "coopmat", sizes, 128), kind, device);
    return std::vector{tiling.m, tiling.n, tiling.subgroup_m, tiling.subgroup_n, tiling.subgroups_k};
  };
  using testing::ElementsAre;
  const LinearKind quantized{XKind::Quantized, WeightKind::Int8};
  EXPECT_THAT(sizes_of("q8ta_linear", {4096, 4096, 4096}, integers), ElementsAre(256, 128, 64, 64, 1));
  EXPECT_THAT(sizes_of("q8ta_linear", {1024, 4096, 4096}, integers), ElementsAre(256, 128, 64, 64, 1));
  EXPECT_THAT(sizes_of("q8ta_linear", {384, 4096, 14336}, integers), ElementsAre(128, 128, 64, 64, 2))
      << "a quarter of the rows of tall tiles would be past the end";
  Trial by_rows = trial_of(op_of("q8ta_linear"), "coopmat", {4096, 4096, 4096}, 128);
  by_rows.forms.front() = {Storage::Buffer, Layout::P4W};
  EXPECT_EQ(tiling_of(by_rows, integers, device).m, 128) << "tall tiles are slower where x lies in 4W";
  EXPECT_THAT(sizes_of("q8ta_linear", {512, 4096, 4096}, integers), ElementsAre(128, 128, 64, 32, 1));
  EXPECT_THAT(sizes_of("q8ta_linear", {128, 2048, 2048}, integers), ElementsAre(32, 32, 16, 32, 4));
  EXPECT_THAT(sizes_of("q8ta_linear", {512, 2048, 1024}, integers), ElementsAre(64, 64, 32, 32, 4));
  EXPECT_THAT(sizes_of("linear_q8ta_q8csw", {512, 4096, 4096}, quantized), ElementsAre(128, 128, 64, 64, 2));
  EXPECT_THAT(sizes_of("linear_q4gsw", {1024, 4096, 4096}, reals), ElementsAre(128, 128, 64, 64, 1));
  EXPECT_THAT(sizes_of("linear_q4gsw", {4096, 4096, 4096}, reals), ElementsAre(128, 128, 64, 32, 1));
  EXPECT_THAT(sizes_of("linear_q8csw", {1024, 4096, 4096}, reals_by_int8), ElementsAre(128, 128, 64, 32, 1));
  EXPECT_THAT(sizes_of("linear_q4gsw", {128, 2048, 2048}, reals), ElementsAre(64, 64, 32, 32, 1));
}

// Few rows fill a fragment, and workgroups share K where there are not enough channels for all of them.
TEST_F(CoopmatTilingTest, FewRowsHaveTilesOfAFragmentsHeight) {
  using testing::ElementsAre;
  const DeviceInfo device = like_an_h200();
  const auto sizes_of = [&](const std::string& op, const Sizes& sizes, const LinearKind& kind) {
    const CoopmatTiling tiling = tiling_of(trial_of(op_of(op), "coopmat", sizes, 128), kind, device);
    EXPECT_LE(tiling.shared_bytes(), device.max_shared_bytes);
    return std::vector{tiling.m,          tiling.n,           tiling.slab.padded,
                       tiling.subgroup_n, tiling.subgroups_k, tiling.splits};
  };
  EXPECT_THAT(sizes_of("q8ta_linear", {16, 4096, 14336}, integers), ElementsAre(16, 64, 256, 16, 2, 1));
  EXPECT_THAT(sizes_of("q8ta_linear", {1, 4096, 4096}, integers), ElementsAre(16, 32, 256, 16, 4, 2));
  EXPECT_EQ(sizes_of("q8ta_linear", {17, 4096, 4096}, integers)[0], 32);
  EXPECT_THAT(sizes_of("linear_dq8ca_q4gsw", {8, 4096, 14336}, grouped), ElementsAre(16, 64, 256, 16, 2, 1));
  EXPECT_THAT(sizes_of("linear_dq8ca_q4gsw", {8, 4096, 4096}, grouped), ElementsAre(16, 32, 256, 16, 2, 2));
  EXPECT_THAT(sizes_of("linear_q4gsw", {8, 4096, 14336}, reals), ElementsAre(16, 64, 64, 16, 1, 4));
  EXPECT_THAT(sizes_of("linear_q4gsw", {8, 4096, 4096}, reals), ElementsAre(16, 64, 256, 16, 2, 2));
  EXPECT_THAT(sizes_of("linear_q8csw", {8, 4096, 14336}, reals_by_int8), ElementsAre(16, 64, 128, 32, 4, 1));
  EXPECT_THAT(sizes_of("linear_q8csw", {8, 64, 32}, reals_by_int8), ElementsAre(16, 64, 64, 16, 2, 1));
}

/// Only fragments are looked at here, not speed: none of these devices was run on.
TEST_F(CoopmatTilingTest, TheFragmentsOfOtherVendorsAreTakenOrNotAsTheyFit) {
  const auto text = [](const std::optional<Fragment>& one) {
    return one ? fmt::format("{}x{}x{}", one->m, one->n, one->k) : std::string("none");
  };
  const DeviceInfo amd = device_of_vendor(Vendor::Amd);
  EXPECT_EQ(text(fragment_of(amd, integers)), "16x16x16");
  EXPECT_EQ(text(fragment_of(amd, reals)), "16x16x16");
  EXPECT_EQ(text(fragment_of(amd, grouped)), "16x16x16");
  const DeviceInfo intel_dg2 = device_of_vendor(Vendor::IntelDg2);
  EXPECT_EQ(text(fragment_of(intel_dg2, integers)), "8x8x32");
  EXPECT_EQ(text(fragment_of(intel_dg2, reals)), "8x8x16");
  const DeviceInfo intel_xe2 = device_of_vendor(Vendor::IntelXe2);
  EXPECT_EQ(text(fragment_of(intel_xe2, integers)), "8x16x32");
  EXPECT_EQ(text(fragment_of(intel_xe2, reals)), "8x16x16");
  const DeviceInfo qualcomm = device_of_vendor(Vendor::Qualcomm);
  EXPECT_EQ(text(fragment_of(qualcomm, integers)), "64x16x32");
  EXPECT_EQ(text(fragment_of(qualcomm, reals)), "none");
  EXPECT_EQ(text(fragment_of(qualcomm, grouped)), "none")
      << "it lists no matrix of floats, in which groups are scaled";
  const DeviceInfo lavapipe = device_of_vendor(Vendor::Lavapipe);
  EXPECT_EQ(text(fragment_of(lavapipe, integers)), "none") << "rows of 16 bytes are loaded";
  EXPECT_EQ(text(fragment_of(lavapipe, reals)), "8x8x8");
}

TEST_F(CoopmatTilingTest, FragmentsNeedTheirFeatures) {
  const DeviceInfo by_khr = contrasting_devices().at(1), by_nv = contrasting_devices().at(2);
  const auto has_on = [](DeviceInfo device, Feature lacking, const LinearKind& kind) {
    std::erase(device.features, lacking);
    return fragment_of(device, kind).has_value();
  };
  const auto has = [&](Feature lacking, const LinearKind& kind) { return has_on(by_khr, lacking, kind); };
  for (const LinearKind& kind : {integers, reals}) {
    EXPECT_FALSE(has_on(by_khr, Feature::CooperativeMatrixKhr, kind));
    EXPECT_TRUE(has_on(by_khr, Feature::CooperativeMatrixNv, kind));
    EXPECT_FALSE(has_on(by_nv, Feature::CooperativeMatrixNv, kind));
    EXPECT_TRUE(has_on(by_nv, Feature::CooperativeMatrixKhr, kind));
  }
  EXPECT_FALSE(has(Feature::Int8, grouped));
  EXPECT_TRUE(has(Feature::Int8, reals));
  EXPECT_FALSE(has(Feature::Float16, reals));
  EXPECT_TRUE(has(Feature::Float16, integers));
}

// 16 bytes of int8 weights are two units of halves: a slab has whole ones, whatever the fragments.
TEST_F(CoopmatTilingTest, SlabsAreWholeUnitsOfWeights) {
  DeviceInfo device = contrasting_devices().at(1);
  for (const std::uint32_t depth : {8U, 16U, 24U}) {
    device.cooperative_shapes = {{16, 16, depth, DType::F16, DType::F32}};
    for (const std::int64_t tile_k : {32, 64}) {
      const CoopmatTiling tiling =
          tiling_of(trial("linear_q8csw", 256, 0, {{"tile_k", tile_k}}), reals_by_int8, device);
      EXPECT_EQ(tiling.slab.depth % depth, 0);
      EXPECT_EQ(tiling.chunks() % tiling.chunks_of_unit(), 0) << depth << ", " << tile_k;
    }
  }
}

TEST_F(CoopmatTilingTest, WithoutMatricesASubgroupIsAnInvocation) {
  const CoopmatTiling tiling =
      tiling_of(trial("q8ta_linear", 256, 0, {}), integers, contrasting_devices().at(3));
  EXPECT_TRUE(tiling.plain);
  EXPECT_EQ(tiling.lanes, 1);
  EXPECT_EQ(tiling.invocations(), tiling.subgroups());
  EXPECT_EQ(tiling_of(trial("q8ta_linear", 256, 0, {{"plain", 1}}), integers).lanes, 1);
  EXPECT_EQ(tiling_of(trial("q8ta_linear", 256, 0, {}), integers).lanes, 32);
}

// Two slabs of two fragments along K, counted by hand: a loop of n iterations counts n + 1.
TEST_F(CoopmatTilingTest, TurnsOfPlainCodeAreThoseOfItsLoops) {
  Tune tune{{"tile_m", 32},     {"tile_n", 32},     {"tile_k", 64}, {"subgroup_m", 16},
            {"subgroup_n", 16}, {"subgroups_k", 1}, {"plain", 1}};
  const std::int64_t step = 1 + 17 + 17 + (16L * 6 + 1), rows = 16L * 18 + 1;
  const std::int64_t x = 33 + 32L * 6 + 1, ending = rows + 4 * (1 + 16L * (1 + 2 + 5) + 1) + 1;
  // Loads of x and w, and tables, of which there are none.
  const std::int64_t loading = x + 33 + 33 + (32L * 3 + 1) + 2;
  EXPECT_EQ(tiling_of(trial("q8ta_linear", 128, 0, tune), integers).plain_turns(),
            loading + 257 + 2 * (1 + loading + 2L * 2 + 2 * step) + 1 + ending);
  // Groups of 32, two per slab: tables of 2 numbers, each for 256 elements; as reals, totals, cleared.
  const std::int64_t with_tables = x + 17 + 17 + (16L * 4 + 1) + 2L * 5;
  const std::int64_t group = 2 * rows + rows + 257 + 257, zeros = (2L * 6 + 1) + rows;
  EXPECT_EQ(
      tiling_of(trial("linear_dq8ca_q4gsw", 128, 32, tune), grouped).plain_turns(),
      with_tables + 2L * 257 + zeros + 2L * (1 + with_tables + 2L * 3 + 2L * step) + 1 + 4L * group + ending);
}

TEST_F(CoopmatTilingTest, WhoSharesKGoesThroughFewerTurns) {
  Tune tune{{"tile_m", 32},     {"tile_n", 32},     {"tile_k", 64}, {"subgroup_m", 16},
            {"subgroup_n", 16}, {"subgroups_k", 1}, {"plain", 1}};
  const auto turns = [&](const std::string& by, std::int64_t value) {
    Tune tuned = tune;
    tuned[by] = value;
    return tiling_of(trial("linear_dq8ca_q4gsw", 1024, 32, tuned), grouped).plain_turns();
  };
  EXPECT_LT(turns("splits", 4), turns("splits", 1) / 3);
  EXPECT_LT(turns("subgroups_k", 2), turns("subgroups_k", 1) * 2 / 3);
}

}  // namespace
}  // namespace assay::ops
