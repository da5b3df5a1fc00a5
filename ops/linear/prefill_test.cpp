#include "ops/linear/prefill.h"

#include "ops/linear/linear_test_support.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>

namespace assay::ops {
namespace {

using namespace test;

class PrefillTest : public PlacedOperandsTest {
 protected:
  PrefillTest() : PlacedOperandsTest(3) {}
};

TEST_F(PrefillTest, SumsOfAllRowsAndChannelsAreRight) {
  for (const auto& [op, k] : {std::pair{"linear_q4gsw", 32},
                              {"linear_q4gsw", 288},
                              {"linear_q8csw", 8},
                              {"linear_q8csw", 67},
                              {"linear_q8csw", 128},
                              {"linear_q4csw", 160}}) {
    for (const Sizes& sizes : {Sizes{1, k, 1}, {31, k, 20}, {70, k, 70}}) {
      const Tune tune{{"tile_m", 32}, {"tile_n", 32}, {"subgroup_m", 16}, {"subgroup_n", 16}};
      expect_right_here(trial(op, sizes, tune, std::string(op) == "linear_q4csw" ? k : 32));
    }
  }
}

TEST_F(PrefillTest, EachTileTakesAWorkgroup) {
  const auto product = [&](const Sizes& sizes, Tune tune = {}) {
    const Dispatch made = product_of(trial("linear_q4gsw", sizes, std::move(tune)));
    EXPECT_EQ(made.shader, weights_in_registers);
    return std::pair{made.workgroups[0], made.local_size[0]};
  };
  EXPECT_EQ(product({64, 64, 128}), std::pair(1U, 128U)) << "four subgroups of 64 x 32";
  EXPECT_EQ(product({65, 64, 129}), std::pair(4U, 128U));
  EXPECT_EQ(product({64, 64, 128}, {{"tile_m", 32}, {"subgroup_m", 16}, {"subgroup_n", 64}}),
            std::pair(2U, 128U));
  EXPECT_EQ(product({64, 64, 128}, {{"tile_m", 16}, {"tile_n", 16}}), std::pair(32U, 32U))
      << "subgroups are at most tiles";
}

TEST_F(PrefillTest, InvocationsShareTheLoadsOfASlabEvenly) {
  for (const Tune& tune : {Tune{}, {{"tile_m", 128}}, {{"tile_m", 16}}}) {
    const Dispatch product = product_of(trial("linear_q4gsw", {300, 64, 128}, tune));
    EXPECT_EQ(std::int64_t{product.local_size[0]} * constant_of(product, "x_loads"),
              std::int64_t{8} * constant_of(product, "tile_m"));
  }
  EXPECT_EQ(refusal(trial("linear_q4gsw", {300, 64, 128}, {{"tile_m", 16}, {"subgroup_n", 16}})),
            "256 invocations cannot share the 128 units of 16 bytes of 64 values of 16 rows evenly");
}

// Whichever kernel is the default, the bound is that of the same kernel.
TEST_F(PrefillTest, WeightsAreRoundedWhereTheyHaveScalesOfTheirOwn) {
  EXPECT_GT(unit_error_on(nvidia, trial("linear_q4gsw", {70, 768, 20}, {}, 128)), 0x1p-10);
  EXPECT_GT(unit_error_on(nvidia, trial("linear_q4csw", {70, 768, 20}, {}, 768)), 0x1p-10);
  EXPECT_LT(unit_error_on(nvidia, trial("linear_q8csw", {70, 768, 20})), 0x1p-13);
  for (const std::int64_t rows : {1, 2, 8, 16, 17, 64, 65, 1024}) {
    for (const std::int64_t columns : {4096, 32768}) {
      Trial made = trial("linear_q4gsw", {rows, 4096, columns}, {}, 128);
      made.tune.clear();
      const double error = unit_error_on(nvidia, made);
      const std::string shader = default_shader_on(nvidia, "linear_q4gsw", {rows, 4096, columns});
      made.tune["operands"] = shader == in_registers ? 2 : shader == weights_in_registers ? 3 : 1;
      EXPECT_EQ(unit_error_on(nvidia, made), error) << rows << " x " << columns << ": " << shader;
    }
  }
}

TEST_F(PrefillTest, SixteenBytesOfWeightsHaveOneScale) {
  EXPECT_EQ(refusal(trial("linear_q4gsw", {70, 96, 16}, {}, 24)),
            "16 bytes hold 32 weights of one scale, and 24 values with one scale are no multiple of that");
  EXPECT_EQ(refusal(trial("linear_q4gsw", {70, 96, 16}, {}, 96)), "");
  EXPECT_EQ(refusal(trial("linear_q8csw", {70, 37, 16})), "") << "each channel has one";
}

TEST_F(PrefillTest, IntegersOfXAreRefused) {
  for (const char* op : {"linear_dq8ca_q4gsw", "linear_qta8a_qga4w", "linear_qta8a_qga4w_qta8o"}) {
    EXPECT_EQ(refusal(trial(op, {70, 256, 16}, {}, 128)),
              "weights alone go from memory to registers only where x is f16 (operands: 3)");
  }
}

TEST_F(PrefillTest, TunablesOfTheOtherKernelsAreRefusedByName) {
  for (const char* name : {"tile_k", "subgroups_k", "stages", "splits", "matrices", "fragment_m",
                           "fragment_n", "fragment_k", "lanes"}) {
    EXPECT_EQ(refusal(trial("linear_q4gsw", {70, 64, 16}, {{name, 16}})),
              std::string(name) +
                  " does not count where weights go from memory to registers (operands: 3): leave it out");
  }
}

TEST_F(PrefillTest, SubgroupsFillTilesAndFitTheirRegisters) {
  EXPECT_EQ(refusal(trial("linear_q4gsw", {70, 64, 16}, {{"tile_m", 16}, {"subgroup_m", 32}})),
            "tile_m 16 is not a multiple of subgroup_m 32");
  EXPECT_EQ(refusal(trial("linear_q4gsw", {70, 64, 16}, {{"subgroup_n", 128}})),
            "64 x 128 sums per subgroup need too many registers: at most 64 x 64");
  EXPECT_EQ(refusal(trial("linear_q4gsw", {70, 64, 16}, {{"tile_m", 128}, {"subgroup_m", 128}})),
            "128 x 32 sums per subgroup need too many registers: at most 64 x 64");
  EXPECT_EQ(refusal(trial("linear_q4gsw", {70, 64, 16}, {{"subgroup_m", 128}})),
            "subgroups of 128 x 32 do not fit evenly in a tile of 64 x 128");
}

TEST_F(PrefillTest, TilesThatADeviceHasNoRoomForAreRefused) {
  EXPECT_EQ(refusal_on(nvidia, trial("linear_q4gsw", {300, 64, 16}, {{"tile_m", 256}})),
            "16 subgroups need 65536 bytes of shared memory, maxComputeSharedMemorySize is 49152");
  DeviceInfo small = nvidia;
  small.max_workgroup_invocations = 64;
  EXPECT_EQ(refusal_on(small, trial("linear_q4gsw", {70, 64, 16})),
            "workgroups of 128 invocations exceed the device's 64");
}

TEST_F(PrefillTest, MatricesWhoseElementsLieElsewhereAreRefusedUnlessPlainCodeIsAskedFor) {
  const DeviceInfo amd = device_of_vendor(Vendor::Amd);
  EXPECT_EQ(refusal_on(amd, trial("linear_q4gsw", {70, 64, 16})),
            "weights go from memory to registers only where subgroups of 32 invocations hold the elements of "
            "VK_KHR_cooperative_matrix's matrices of halves as NVIDIA's do");
  EXPECT_EQ(refusal_on(amd, trial("linear_q4gsw", {70, 64, 16}, {{"plain", 1}})), "");
}

// On a GPU of 132 shader cores, as it is fast on an H200 (shaders/NOTES.md).
TEST_F(PrefillTest, ManyTilesTakeItByDefaultWhereTheDeviceHasTheMatrices) {
  const auto shader = [&](const std::string& op, const Sizes& sizes, Tune tune = {}) {
    return default_shader_on(nvidia, op, sizes, std::move(tune));
  };
  EXPECT_EQ(shader("linear_q4gsw", {1024, 2048, 2048}), weights_in_registers) << "256 tiles";
  EXPECT_EQ(shader("linear_q8csw", {128, 4096, 14336}), weights_in_registers) << "224 tiles";
  EXPECT_EQ(shader("linear_q8csw", {128, 512, 13568}), weights_in_registers) << "212 tiles";
  EXPECT_EQ(shader("linear_q8csw", {192, 512, 8960}), in_slabs) << "210 tiles";
  EXPECT_EQ(shader("linear_q4gsw", {512, 2048, 2048}), in_slabs) << "128 tiles";
  EXPECT_EQ(shader("linear_q4gsw", {1024, 2048, 2048}, {{"bake", 0}}), weights_in_registers);
  for (const Tune& tune : {Tune{{"operands", 1}}, {{"tile_k", 64}}, {{"plain", 1}}}) {
    EXPECT_EQ(shader("linear_q4gsw", {1024, 2048, 2048}, tune), in_slabs);
  }
  EXPECT_EQ(shader("linear_dq8ca_q4gsw", {1024, 2048, 2048}), in_slabs);
  EXPECT_EQ(default_shader_on(nvidia, "linear_q4gsw", {1024, 1024, 2048}, {}, 8), in_slabs) << "small groups";
  EXPECT_EQ(default_shader_on(device_of_vendor(Vendor::Amd), "linear_q4gsw", {1024, 2048, 2048}), in_slabs);
  EXPECT_EQ(default_shader_on(cpu, "linear_q8csw", {1024, 64, 2048}), in_slabs);
}

TEST_F(PrefillTest, AFewRowsDoNotTakeItHoweverManyChannelsThereAre) {
  for (const std::int64_t rows : {2, 8}) {
    EXPECT_EQ(default_shader_on(nvidia, "linear_q4gsw", {rows, 4096, 32768}), in_registers);
  }
  for (const std::int64_t rows : {1, 9, 64}) {
    EXPECT_EQ(default_shader_on(nvidia, "linear_q4gsw", {rows, 2048, 32768}), in_slabs) << rows;
  }
  EXPECT_EQ(default_shader_on(nvidia, "linear_q4gsw", {65, 2048, 32768}), weights_in_registers);
  DeviceInfo small = nvidia;
  small.shader_cores = 20;
  EXPECT_EQ(default_shader_on(small, "linear_q4gsw", {4, 4096, 4096}), in_registers);
}

TEST_F(PrefillTest, PlainCodeOfTooManyTurnsIsRefusedOnACpu) {
  const Tune tune{{"tile_m", 32}, {"tile_n", 64}, {"subgroup_m", 32}, {"subgroup_n", 64}};
  const auto refusal_of = [&](std::int64_t k) {
    return refusal_on(cpu, trial("linear_q8csw", {32, k, 64}, tune));
  };
  std::int64_t most = 64;
  while (refusal_of(most + 64).empty()) most += 64;
  EXPECT_THAT(refusal_of(most + 64),
              testing::EndsWith("loop iterations per invocation exceed the 65535 that a CPU device runs"));
  expect_right_here(trial("linear_q8csw", {32, most, 64}, tune));
}

}  // namespace
}  // namespace assay::ops
