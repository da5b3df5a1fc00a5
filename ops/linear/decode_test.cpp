#include "ops/linear/decode.h"

#include "ops/linear/linear_test_support.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>

namespace assay::ops {
namespace {

using namespace test;

class DecodeTest : public PlacedOperandsTest {
 protected:
  DecodeTest() : PlacedOperandsTest(2) {}

  DecodeTiling tiling_on(const DeviceInfo& device, const Trial& made) {
    const bool is_real = made.op->name == "linear_q4gsw" || made.op->name == "linear_q8csw";
    const WeightKind weights = made.op->name == "linear_q8csw" ? WeightKind::Int8 : WeightKind::Int4LowFirst;
    const std::vector<TensorSpec> tensors = made.op->tensors(made.params);
    return decode_tiling({made.params, tensors, made.forms, device, made.tune},
                         {is_real ? XKind::Real : XKind::QuantizedRows, weights});
  }
};

TEST_F(DecodeTest, SumsOfAllRowsAndChannelsAreRight) {
  for (const auto& [op, k] : {std::pair{"linear_q4gsw", 32},
                              {"linear_q4gsw", 288},
                              {"linear_q8csw", 8},
                              {"linear_q8csw", 67},
                              {"linear_q4csw", 160}}) {
    for (const std::int64_t rows : {1, 8, 11}) {
      for (const std::int64_t columns : {1, 20, 70}) {
        expect_right_here(trial(op, {rows, k, columns},
                                {{"tile_n", columns > 20 ? 32 : 16}, {"subgroups_k", 2}},
                                std::string(op) == "linear_q4csw" ? k : 32));
      }
    }
  }
}

TEST_F(DecodeTest, SumsOfGroupsAreScaledAfterEachStep) {
  for (const char* op : {"linear_q4gsw", "linear_q4csw", "linear_dq8ca_q4gsw", "linear_qta8a_qga4w",
                         "linear_qta8a_qga4w_qta8o"}) {
    for (const std::int64_t stages : {1, 2}) {
      const Sizes sizes{9, 640, 20};
      expect_right_here(trial(op, sizes, {{"subgroups_k", 2}, {"stages", stages}},
                              std::string(op) == "linear_q4csw" ? sizes.k : 128));
    }
  }
}

TEST_F(DecodeTest, WeightsAreRoundedOnlyWhereTheyAreScaled) {
  const auto scales_sums_of = [&](std::int64_t group_size) {
    const Trial made = trial("linear_q4gsw", {9, 768, 20}, {}, group_size);
    const std::string define = define_of(product_of(made), "SCALES_SUMS");
    EXPECT_EQ(unit_error_on(nvidia, made) < 0x1p-11, define == "1")
        << "the error of a weight that is rounded to a half";
    return define;
  };
  EXPECT_EQ(scales_sums_of(128), "1");
  EXPECT_EQ(scales_sums_of(384), "1");
  EXPECT_EQ(scales_sums_of(96), "0");
}

TEST_F(DecodeTest, SumsOfGroupsAreRoundedOnceAStep) {
  constexpr LinearKind grouped{XKind::QuantizedRows, WeightKind::Int4LowFirst};
  const Trial made = trial("linear_dq8ca_q4gsw", {3, 768, 20}, {{"subgroups_k", 2}}, 384);
  const std::vector<TensorSpec> tensors = made.op->tensors(made.params);
  const BuildContext context(made.params, tensors, made.forms, nvidia, made.tune);
  EXPECT_EQ(decode_roundings(context, grouped), 3 + 2) << "24 units are three steps of two subgroups";
  EXPECT_EQ(made.op->find_impl("coopmat")->ceiling_here(context), Ceiling::CoopFp16);
  EXPECT_EQ(made.op->find_impl("coopmat")->ceiling_here(
                {made.params, tensors, made.forms, nvidia, {{"operands", 1}}}),
            Ceiling::CoopInt8);
}

TEST_F(DecodeTest, EightRowsTakeOneWorkgroupForAsManyChannelsAsAreTuned) {
  const auto workgroups = [&](std::int64_t rows, std::int64_t columns, std::int64_t tile_n) {
    const Dispatch product =
        product_of(trial("linear_q4gsw", {rows, 256, columns}, {{"tile_n", tile_n}, {"subgroups_k", 4}}));
    EXPECT_EQ(product.shader, "linear_decode.comp");
    EXPECT_EQ(product.local_size[0], 4U * 32U);
    return product.workgroups[0];
  };
  EXPECT_EQ(workgroups(8, 64, 16), 4U);
  EXPECT_EQ(workgroups(9, 64, 16), 8U);
  EXPECT_EQ(workgroups(1, 65, 64), 2U);
}

TEST_F(DecodeTest, SixteenBytesOfWeightsHaveOneScale) {
  EXPECT_EQ(refusal(trial("linear_q4gsw", {1, 96, 16}, {}, 24)),
            "16 bytes hold 32 weights of one scale, and 24 values with one scale are no multiple of that");
  EXPECT_EQ(refusal(trial("linear_q4gsw", {1, 96, 16}, {}, 96)), "");
  EXPECT_EQ(refusal(trial("linear_q4csw", {1, 40, 16}, {}, 40)),
            "16 bytes hold 32 weights of one scale, and 40 values with one scale are no multiple of that");
  EXPECT_EQ(refusal(trial("linear_q8csw", {1, 37, 16})), "") << "each channel has one";
}

TEST_F(DecodeTest, SumsOfIntegersHaveOneScaleInAStep) {
  for (const char* op : {"linear_dq8ca_q4gsw", "linear_qta8a_qga4w", "linear_qta8a_qga4w_qta8o"}) {
    EXPECT_EQ(
        refusal(trial(op, {1, 192, 16}, {}, 64)),
        "the 16 bytes of each of four invocations hold 128 weights of one scale, and 64 values with one "
        "scale are no multiple of that");
    EXPECT_EQ(refusal(trial(op, {1, 768, 16}, {}, 384)), "");
  }
}

TEST_F(DecodeTest, TunablesOfTheOtherKernelAreRefusedByName) {
  for (const char* name : {"tile_m", "tile_k", "subgroup_m", "subgroup_n", "splits", "matrices", "fragment_m",
                           "fragment_n", "fragment_k", "lanes"}) {
    EXPECT_EQ(refusal(trial("linear_q4gsw", {1, 64, 16}, {{name, 16}})),
              std::string(name) +
                  " does not count where weights go from memory to registers (operands: 2): leave it out");
  }
  EXPECT_EQ(refusal(trial("linear_q4gsw", {1, 64, 16}, {{"tile_n", 128}})),
            "tile_n is 128, but at most 64 where operands go from memory to registers");
}

TEST_F(DecodeTest, OnlyItsSubgroupsMayBeSixteen) {
  Trial made = trial("linear_q4gsw", {1, 256, 16}, {{"subgroups_k", 16}});
  EXPECT_EQ(refusal(made), "");
  made.tune.erase("operands");
  EXPECT_EQ(refusal(made), "at most 8 subgroups share K where operands lie in shared memory (operands: 1)");
}

TEST_F(DecodeTest, MatricesWhoseElementsLieElsewhereAreRefusedUnlessPlainCodeIsAskedFor) {
  const DeviceInfo amd = device_of_vendor(Vendor::Amd);
  EXPECT_EQ(refusal_on(amd, trial("linear_q4gsw", {1, 64, 16})),
            "weights go from memory to registers only where subgroups of 32 invocations hold the elements of "
            "VK_KHR_cooperative_matrix's matrices of halves as NVIDIA's do");
  EXPECT_EQ(refusal_on(amd, trial("linear_q4gsw", {1, 64, 16}, {{"plain", 1}})), "");
}

TEST_F(DecodeTest, SubgroupsThatNoCaseTunesFitTheDevice) {
  const auto subgroups = [&](std::uint32_t most_invocations, std::uint32_t shared_bytes, Tune tune = {}) {
    DeviceInfo small = cpu;
    small.max_workgroup_invocations = most_invocations;
    small.max_workgroup_size = {1024, 1024, 64};
    small.max_shared_bytes = shared_bytes;
    return tiling_on(small, trial("linear_q4gsw", {1, 512, 16}, std::move(tune))).subgroups;
  };
  EXPECT_EQ(subgroups(512, 32768), 4) << "16 units are a step of four";
  EXPECT_EQ(subgroups(64, 32768), 2);
  EXPECT_EQ(subgroups(512, 5500), 2) << "four need 5632 bytes";
  EXPECT_EQ(subgroups(64, 32768, {{"subgroups_k", 8}}), 8);
}

// On a GPU of 132 shader cores, as it is fast on an H200 (shaders/NOTES.md).
TEST_F(DecodeTest, WorkgroupsOccupyAllShaderCores) {
  struct Expected {
    const char* op;
    Sizes sizes;
    std::int64_t fragments, subgroups, stages;
  };
  for (const Expected& expected : {Expected{"linear_q4gsw", {8, 4096, 14336}, 4, 8, 1},
                                   {"linear_q8csw", {8, 4096, 14336}, 4, 8, 1},
                                   {"linear_dq8ca_q4gsw", {8, 4096, 14336}, 2, 8, 1},
                                   {"linear_q4gsw", {8, 14336, 4096}, 2, 16, 1},
                                   {"linear_q4gsw", {16, 14336, 4096}, 2, 8, 1},
                                   {"linear_q4gsw", {8, 4096, 4096}, 1, 16, 2},
                                   {"linear_q4gsw", {1, 4096, 14336}, 1, 16, 2},
                                   {"linear_q8csw", {8, 4096, 4096}, 2, 16, 1},
                                   {"linear_q4gsw", {8, 2048, 2048}, 1, 16, 1},
                                   {"linear_q4gsw", {8, 2048, 4096}, 1, 16, 1},
                                   {"linear_q4gsw", {8, 1024, 2048}, 1, 8, 1}}) {
    const DecodeTiling tiling = tiling_on(nvidia, trial(expected.op, expected.sizes, {}, 128));
    EXPECT_EQ(tiling.fragments, expected.fragments) << expected.op << ' ' << expected.sizes.n;
    EXPECT_EQ(tiling.subgroups, expected.subgroups) << expected.op << ' ' << expected.sizes.k;
    EXPECT_EQ(tiling.stages, expected.stages) << expected.op << ' ' << expected.sizes.k;
  }
}

TEST_F(DecodeTest, ItIsNoDefaultWhereItCannotRun) {
  const auto shader = [&](const std::string& op, std::int64_t group_size) {
    return default_shader_on(nvidia, op, {3, 4 * group_size, 64}, {}, group_size);
  };
  EXPECT_EQ(shader("linear_dq8ca_q4gsw", 128), in_registers);
  EXPECT_EQ(shader("linear_dq8ca_q4gsw", 64), in_slabs);
  EXPECT_EQ(shader("linear_q4gsw", 64), in_registers);
  EXPECT_EQ(shader("linear_q4gsw", 24), in_slabs);
  DeviceInfo small = nvidia;
  small.max_workgroup_invocations = 16;
  const Trial made = trial("linear_q4gsw", {3, 256, 64});
  const std::vector<TensorSpec> tensors = made.op->tensors(made.params);
  constexpr LinearKind int4{XKind::Real, WeightKind::Int4LowFirst};
  EXPECT_FALSE(decodes_by_default({made.params, tensors, made.forms, small, {}}, int4));
  EXPECT_TRUE(decodes_by_default({made.params, tensors, made.forms, nvidia, {}}, int4));
  Trial floats = made;
  floats.params.set("dtype", std::string("f32"));
  EXPECT_FALSE(decodes_by_default({floats.params, tensors, made.forms, nvidia, {}}, int4));
}

TEST_F(DecodeTest, FewRowsTakeItByDefaultWhereTheDeviceHasTheMatrices) {
  EXPECT_EQ(default_shader_on(nvidia, "linear_q4gsw", {2, 4096, 4096}), in_registers);
  EXPECT_EQ(default_shader_on(nvidia, "linear_q4gsw", {2, 4096, 4096}, {{"bake", 0}}), in_registers);
  for (const Tune& tune : {Tune{{"operands", 1}}, {{"tile_k", 64}}, {{"plain", 1}}}) {
    EXPECT_EQ(default_shader_on(nvidia, "linear_q4gsw", {2, 4096, 4096}, tune), in_slabs);
  }
  EXPECT_EQ(default_shader_on(device_of_vendor(Vendor::Amd), "linear_q4gsw", {2, 4096, 4096}), in_slabs);
  EXPECT_EQ(default_shader_on(cpu, "linear_q4gsw", {2, 256, 16}), in_slabs);
  EXPECT_EQ(default_shader_on(nvidia, "linear_q4gsw", {1, 4096, 4096}), in_registers)
      << "all is loaded in two steps";
  EXPECT_EQ(default_shader_on(nvidia, "linear_q4gsw", {1, 4096, 1024}), in_slabs)
      << "too few channels for all shader cores";
  EXPECT_EQ(default_shader_on(nvidia, "linear_q4gsw", {1, 14336, 4096}), in_slabs);
  EXPECT_EQ(default_shader_on(nvidia, "linear_q8csw", {1, 4096, 4096}), in_slabs);
  EXPECT_EQ(default_shader_on(nvidia, "linear_q4gsw", {16, 4096, 4096}), in_registers);
  EXPECT_EQ(default_shader_on(nvidia, "linear_q4gsw", {17, 4096, 4096}), in_slabs);
  EXPECT_EQ(default_shader_on(nvidia, "linear_q4gsw", {9, 4096, 14336}), in_slabs)
      << "tiles read the weights once";
  EXPECT_EQ(default_shader_on(nvidia, "linear_dq8ca_q4gsw", {3, 4096, 4096}), in_registers);
  EXPECT_EQ(default_shader_on(nvidia, "linear_dq8ca_q4gsw", {2, 4096, 4096}), in_slabs);
}

TEST_F(DecodeTest, SubgroupsThatACaseTunesMayNotFit) {
  DeviceInfo small = cpu;
  small.max_workgroup_invocations = 128;
  EXPECT_EQ(refusal_on(small, trial("linear_q4gsw", {1, 64, 16}, {{"subgroups_k", 8}})),
            "workgroups of 256 invocations exceed the device's 128");
  small.max_workgroup_invocations = 256;
  small.max_shared_bytes = 11000;
  EXPECT_EQ(refusal_on(small, trial("linear_q4gsw", {1, 64, 16}, {{"subgroups_k", 8}})),
            "8 subgroups need 11264 bytes of shared memory, maxComputeSharedMemorySize is 11000");
}

TEST_F(DecodeTest, PlainCodeOfTooManyTurnsIsRefusedOnACpu) {
  const Tune tune{{"tile_n", 64}, {"subgroups_k", 1}};
  EXPECT_EQ(refusal_on(cpu, trial("linear_q4gsw", {1, 5120, 64}, tune)), "");
  EXPECT_THAT(refusal_on(cpu, trial("linear_q4gsw", {1, 5248, 64}, tune)),
              testing::EndsWith("loop iterations per invocation exceed the 65535 that a CPU device runs"));
  expect_right_here(trial("linear_q4gsw", {1, 5120, 64}, tune));
}

}  // namespace
}  // namespace assay::ops
