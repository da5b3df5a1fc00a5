#include "ops/linear/coopmat.h"

#include "harness/cases/describe/reachable_programs.h"
#include "harness/tensor/pack.h"
#include "ops/cases_of_op_test_support.h"
#include "ops/linear/linear_test_support.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

// Products of cooperative matrices: when they are refused, and that integer sums do not depend on their
// order.

namespace assay::ops {
namespace {

using namespace test;

using Tiles = std::map<std::string, std::int64_t>;

/// The values of tile_m, tile_n, tile_k, subgroup_m and subgroup_n.
Tiles tiles(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t subgroup_m,
            std::int64_t subgroup_n) {
  return {
      {"tile_m", m}, {"tile_n", n}, {"tile_k", k}, {"subgroup_m", subgroup_m}, {"subgroup_n", subgroup_n}};
}

Tiles with(Tiles tiles, const std::string& name, std::int64_t value) {
  tiles[name] = value;
  return tiles;
}

class CoopmatTest : public LinearTest {
 protected:
  Trial trial(const std::string& op, const Sizes& sizes, Tiles tune = {}, std::int64_t group_size = 32) {
    Trial made = trial_of(op_of(op), "coopmat", sizes, group_size);
    made.tune = std::move(tune);
    if (made.params.has("dtype")) made.params.set("dtype", std::string("f16"));
    made.forms = first_forms(*made.op, made.params);
    return made;
  }

  /// The reason why a trial is refused on this device; "" where it can run.
  std::string refusal_on(const DeviceInfo& device, Trial made) {
    made.as_if = [device](DeviceInfo& info) { info = device; };
    return refusal(made);
  }

  /// Data for all tensors: outputs are 0.
  static std::vector<HostTensor> data_of(const Trial& trial) {
    std::vector<HostTensor> data;
    for (const TensorSpec& tensor : trial.op->tensors(trial.params)) {
      const auto number = static_cast<std::uint32_t>(data.size());
      data.push_back(tensor.is_input() ? make_filled(tensor.dtype, tensor.shape, {.kind = trial.fill},
                                                     tensor.domain, {trial.seed, 1, number})
                                       : HostTensor(tensor.dtype, tensor.shape));
    }
    return data;
  }

  std::vector<std::byte> y_of(const Trial& trial) { return y_of(trial, data_of(trial)); }

  /// The bytes of the last tensor, y.
  std::vector<std::byte> y_of(const Trial& trial, const std::vector<HostTensor>& data) {
    const std::vector<TensorSpec> tensors = trial.op->tensors(trial.params);
    std::vector<Physical> physical;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      physical.emplace_back(trial.forms[i], tensors[i].dtype, tensors[i].shape);
    }
    const Program program = program_of(trial);
    gpu::Executable executable(device(), shaders(), program, physical, 0);
    gpu::Workspace workspace(device(), program, physical, 0);
    for (std::uint32_t i = 0; i < tensors.size(); ++i) {
      workspace.write(Resource::tensor(i), pack(data[i], physical[i], Poison::A, 0));
    }
    executable.run(workspace, trial.op->name, timeout_s);
    return workspace.read(Resource::tensor(static_cast<std::uint32_t>(tensors.size() - 1)));
  }

  const DeviceInfo gpu = contrasting_devices().at(1);
};

TEST_F(CoopmatTest, RealsOfF32AreNotRounded) {
  for (const std::string op : {"linear_q8csw", "linear_q4gsw"}) {
    Trial made = trial(op, {5, 64, 20});
    EXPECT_EQ(refusal_on(gpu, made), "") << op;
    made.params.set("dtype", std::string("f32"));
    EXPECT_EQ(refusal_on(gpu, made), "x is f32, which half floats would round: use f16 or another impl")
        << op;
  }
  Trial quantized = trial("linear_dq8ca_q4gsw", {5, 64, 20});
  quantized.params.set("dtype", std::string("f32"));
  EXPECT_EQ(refusal_on(gpu, quantized), "") << "x is int8 by then";
}

TEST_F(CoopmatTest, TilesAreWholePartsOfSubgroups) {
  EXPECT_EQ(refusal_on(gpu, trial("q8ta_linear", {5, 64, 20}, tiles(16, 64, 64, 32, 32))),
            "tile_m 16 is not a multiple of subgroup_m 32");
  EXPECT_EQ(refusal_on(gpu, trial("q8ta_linear", {5, 64, 20}, tiles(64, 16, 64, 32, 32))),
            "tile_n 16 is not a multiple of subgroup_n 32");
  DeviceInfo of_large_fragments = gpu;
  of_large_fragments.cooperative_shapes = {{32, 16, 32, DType::I8, DType::I32}};
  EXPECT_EQ(refusal_on(of_large_fragments, trial("q8ta_linear", {5, 64, 20}, tiles(64, 64, 64, 16, 32))),
            "fragments of 32 x 16 do not fit evenly in 16 x 32 per subgroup of a tile of 64 x 64");
}

TEST_F(CoopmatTest, SubgroupsThatShareKNeedPartsOfIt) {
  const Tiles two_steps = tiles(32, 32, 64, 16, 16);
  EXPECT_EQ(refusal_on(gpu, trial("q8ta_linear", {5, 64, 20}, with(two_steps, "subgroups_k", 2))), "");
  EXPECT_EQ(refusal_on(gpu, trial("q8ta_linear", {5, 64, 20}, with(two_steps, "subgroups_k", 4))),
            "slabs of 2 fragments along K cannot be shared evenly by 4 subgroups");
  EXPECT_EQ(refusal_on(gpu, trial("linear_dq8ca_q4gsw", {5, 64, 20}, with(two_steps, "subgroups_k", 2))), "");
  EXPECT_EQ(refusal_on(gpu, trial("linear_dq8ca_q4gsw", {5, 64, 20}, with(two_steps, "subgroups_k", 2), 64)),
            "slabs of 1 groups cannot be shared evenly by 2 subgroups");
  EXPECT_EQ(refusal_on(gpu, trial("linear_q4gsw", {5, 64, 20}, with(two_steps, "subgroups_k", 4), 64)), "")
      << "sums do not end with a group";
}

TEST_F(CoopmatTest, SubgroupsThatHoldTooMuchAreRefused) {
  EXPECT_EQ(refusal_on(gpu, trial("q8ta_linear", {5, 64, 20}, tiles(128, 64, 32, 128, 64))), "");
  EXPECT_EQ(refusal_on(gpu, trial("q8ta_linear", {5, 64, 20}, tiles(128, 128, 32, 128, 128))),
            "8 x 8 fragments per subgroup need too many registers: at most 32, and 8 side by side");
  DeviceInfo of_small_fragments = gpu;
  of_small_fragments.cooperative_shapes = {{16, 8, 32, DType::I8, DType::I32}};
  EXPECT_EQ(refusal_on(of_small_fragments, trial("q8ta_linear", {5, 64, 20}, tiles(16, 128, 32, 16, 128))),
            "1 x 16 fragments per subgroup need too many registers: at most 32, and 8 side by side");
}

TEST_F(CoopmatTest, WorkgroupsAndSharedMemoryFitTheDevice) {
  DeviceInfo small = gpu;
  small.max_workgroup_invocations = 64;
  const Tiles tune = tiles(64, 64, 64, 32, 32);
  EXPECT_EQ(refusal_on(small, trial("q8ta_linear", {5, 64, 20}, tune)),
            "workgroups of 128 invocations exceed the device's 64");
  small = gpu;
  small.max_shared_bytes = 10000;
  EXPECT_EQ(refusal_on(small, trial("q8ta_linear", {5, 64, 20}, tune)),
            "tiles of 64 x 64 x 64 need 10240 bytes of shared memory, maxComputeSharedMemorySize is 10000");
  small.max_shared_bytes = 10240;
  EXPECT_EQ(refusal_on(small, trial("q8ta_linear", {5, 64, 20}, tune)), "");
}

TEST_F(CoopmatTest, MatricesAreDemandedByName) {
  const DeviceInfo without = contrasting_devices().at(3);
  EXPECT_EQ(refusal_on(without, trial("q8ta_linear", {5, 64, 20})), "");
  EXPECT_EQ(refusal_on(without, trial("q8ta_linear", {5, 64, 20}, {{"plain", 0}})),
            "VK_KHR_ or VK_NV_cooperative_matrix with products of i8 to i32 is missing");
  EXPECT_EQ(refusal_on(without, trial("linear_q4gsw", {5, 64, 20}, {{"plain", 0}})),
            "VK_KHR_ or VK_NV_cooperative_matrix with products of f16 to f32 is missing");
  DeviceInfo of_halves = gpu;
  of_halves.cooperative_shapes = {{16, 16, 16, DType::F16, DType::F32}};
  EXPECT_TRUE(has_matrices(of_halves, {XKind::Real, WeightKind::Int8}));
  EXPECT_FALSE(has_matrices(of_halves, {XKind::Int8, WeightKind::Int8}));
}

TEST_F(CoopmatTest, MatricesThatMultiplyWronglyAreNamedWhereNoneIsLeft) {
  DeviceInfo device = gpu;
  device.cooperative_shapes.clear();
  device.wrong_matrices = {"16x16x32 i8 to i32 by VK_KHR_cooperative_matrix: 12 of 256 wrong"};
  EXPECT_EQ(refusal_on(device, trial("q8ta_linear", {5, 64, 20}, {{"plain", 0}})),
            "VK_KHR_ or VK_NV_cooperative_matrix with products of i8 to i32 is missing; the device "
            "multiplies wrongly "
            "by 16x16x32 i8 to i32 by VK_KHR_cooperative_matrix: 12 of 256 wrong");
}

TEST_F(CoopmatTest, AFragmentThatIsMissingIsNamed) {
  EXPECT_EQ(refusal_on(gpu, trial("q8ta_linear", {5, 64, 20}, {{"plain", 0}, {"fragment_m", 64}})),
            "VK_KHR_ or VK_NV_cooperative_matrix with products of 64x?x? i8 to i32 is missing");
}

// Default sizes fit the fragments, subgroups and shared memory of every vendor whose matrices a kernel takes.
TEST_F(CoopmatTest, DefaultSizesFitTheDevicesOfOtherVendors) {
  for (const Vendor vendor :
       {Vendor::Amd, Vendor::IntelDg2, Vendor::IntelXe2, Vendor::Qualcomm, Vendor::Lavapipe}) {
    const DeviceInfo device = device_of_vendor(vendor);
    for (const Sizes& sizes : {Sizes{1, 64, 32},
                               {5, 72, 20},
                               {128, 2048, 2048},
                               {512, 2048, 1024},
                               {1024, 4096, 4096},
                               {4096, 4096, 4096}}) {
      for (const std::string op : {"q8ta_linear", "linear_q8csw", "linear_q4gsw", "linear_dq8ca_q4gsw"}) {
        SCOPED_TRACE(testing::Message() << static_cast<int>(vendor) << ' ' << op << ' ' << sizes.m);
        EXPECT_EQ(refusal_on(device, trial(op, sizes, {}, 8)), "");
      }
    }
  }
}

// A CPU's driver silently leaves loops with more iterations, and the result is wrong.
TEST_F(CoopmatTest, PlainCodeOfTooManyTurnsIsRefusedOnACpu) {
  const DeviceInfo cpu = contrasting_devices().at(3);
  const Trial made = trial("linear_dq8ca_q4gsw", {5, 8192, 20});
  EXPECT_THAT(
      refusal_on(cpu, made),
      testing::MatchesRegex("[0-9]+ loop iterations per invocation exceed the 65535 that a CPU device runs"));
  DeviceInfo no_cpu = cpu;
  no_cpu.type = "discrete";
  EXPECT_EQ(refusal_on(no_cpu, made), "");
  EXPECT_EQ(refusal_on(cpu, trial("linear_dq8ca_q4gsw", {5, 8192, 20}, {{"splits", 16}})), "");
  EXPECT_EQ(refusal_on(contrasting_devices().at(4), made), "") << "the CPU has matrices";
}

TEST_F(CoopmatTest, GroupsWhoseSumsAreNoExactFloatsAreExcluded) {
  EXPECT_EQ(refusal_on(gpu, trial("linear_qta8a_qga4w", {5, 8736, 20}, {}, 8736)), "");
  EXPECT_EQ(refusal_on(gpu, trial("linear_qta8a_qga4w", {5, 8744, 20}, {}, 8744)),
            "sums of groups of 8744 values may not be exact floats: at most 8736 values are");
  EXPECT_EQ(refusal_on(gpu, trial("linear_q4gsw", {5, 8744, 20}, {}, 8744)), "") << "x is real";
}

// Plain code is right up to the counted limit of loop iterations, where there is one.
TEST_F(CoopmatTest, ProductsNearTheLimitOfACpuAreRight) {
  constexpr std::int64_t step = 32, most = 20000;
  for (const std::string op : {"q8ta_linear", "linear_q8csw", "linear_q4gsw", "linear_qta8a_qga4w"}) {
    std::int64_t k = step;
    while (k < most && can_run(trial(op, {3, k + step, 5}))) k += step;
    expect_right_here(trial(op, {3, k, 5}));
    if (op == "linear_q8csw") expect_right_here(trial(op, {3, k - 1, 5}));  // rows of no whole words
  }
}

TEST_F(CoopmatTest, IntegersAreThoseOfTheOtherKernel) {
  Draw draw(7);
  const std::vector<Tiles> tunes{{},
                                 with(tiles(16, 32, 64, 16, 16), "splits", 3),
                                 with(tiles(32, 16, 128, 16, 16), "subgroups_k", 4),
                                 with(with(tiles(32, 32, 64, 32, 32), "subgroups_k", 2), "splits", 5)};
  for (int round = 0; round < 6; ++round) {
    for (const Tiles& tune : tunes) {
      Trial made = trial("q8ta_linear", {draw.pick(1, 70), draw.pick(1, 700), draw.pick(1, 70)}, tune);
      made.fill = FillKind::Uniform;
      made.seed = static_cast<std::uint64_t>(round);
      Trial other = made;
      other.impl = "tiled";
      other.tune.clear();
      EXPECT_EQ(y_of(made), y_of(other)) << made.describe();
    }
  }
}

/// The op with scales of weights in this range.
Op with_scales_between(const Op& of, double least, double largest) {
  Op op = of;
  op.tensors = [tensors = of.tensors, least, largest](const Params& params) {
    std::vector<TensorSpec> specs = tensors(params);
    std::ranges::find(specs, "w_scale", &TensorSpec::name)->domain = {FillRole::Scale, least, largest};
    return specs;
  };
  return op;
}

// The scales of a channel are halves times one factor: those that are 2^37 times smaller than the largest
// become 0, which does not matter.
TEST_F(CoopmatTest, ScalesOfAChannelMayLieFarApart) {
  for (const auto& [least, largest] : {std::pair{0x1p-45, 0x1p-3}, {0x1p-70, 0x1p-60}, {0x1p-12, 0x1p12}}) {
    const Op op = with_scales_between(op_of("linear_q4gsw"), least, largest);
    for (const std::int64_t group_size : {8, 32}) {
      for (const std::int64_t splits : {1, 3}) {
        Trial made = trial("linear_q4gsw", {19, 320, 37}, with(tiles(32, 32, 64, 16, 16), "splits", splits),
                           group_size);
        made.op = &op;
        expect_right_here(made);
      }
    }
  }
}

/// A weight times its scale, divided by the channel's factor, as the kernel computes it.
float rounded_weight(int weight, float scale, float factor) {
  return to_float(to_half(to_float(to_half(scale / factor)) * static_cast<float>(weight)));
}

// A row of x with a single 1 gives one weight: its scale is rounded to a half, so is its product with the
// weight, and nothing else is rounded.
TEST_F(CoopmatTest, WeightsAreRoundedOnceWithTheirScaleAndOnceBefore) {
  constexpr std::int64_t k = 64, n = 20, group_size = 32;
  const Trial made = trial("linear_q4gsw", {k, k, n}, {}, group_size);
  SCOPED_TRACE("as if on this device: " + made.describe());
  std::vector<HostTensor> data = data_of(made);
  const auto x = data[0].as<Half>();
  std::ranges::fill(x, to_half(0.0F));
  for (std::size_t i = 0; i < k; ++i) x[i * k + i] = to_half(1.0F);
  const auto nibbles = data[1].as<std::uint8_t>();
  const auto scales = data[2].as<float>();
  const std::vector<std::byte> y = y_of(made, data);
  for (std::size_t channel = 0; channel < n; ++channel) {
    const float largest = std::max(scales[channel], scales[n + channel]);
    const float factor = std::ldexp(1.0F, std::ilogb(largest) - 11);
    for (std::size_t i = 0; i < k; ++i) {
      const int weight = (nibbles[(channel * k + i) / 2] >> (i % 2 * 4) & 15) - 8;
      const float want = rounded_weight(weight, scales[i / group_size * n + channel], factor) * factor;
      Half got{};
      std::memcpy(&got, &y[(i * n + channel) * sizeof(Half)], sizeof(Half));
      ASSERT_EQ(to_float(got), want) << "weight " << i << " of channel " << channel;
    }
  }
}

TEST_F(CoopmatTest, TheUnitErrorSaysThatWeightsAreRounded) {
  const auto unit_error = [this](const std::string& op) {
    const Trial made = trial(op, {5, 64, 20});
    const std::vector<TensorSpec> tensors = made.op->tensors(made.params);
    const BuildContext context(made.params, tensors, made.forms, gpu, made.tune);
    return made.op->find_impl("coopmat")->unit_error(context).of_magnitude;
  };
  const double of_sums = unit_error("linear_q8csw");
  EXPECT_LT(of_sums, 0x1p-16);
  EXPECT_NEAR(unit_error("linear_q4gsw"), (1 + 0x1p-10) * (1 + of_sums) - 1, 1e-15);
}

TEST_F(CoopmatTest, AScaleThatIsNotFiniteStaysInItsChannel) {
  constexpr std::size_t n = 20, of_infinity = 3, of_nan = 9;
  const Trial made = trial("linear_q4gsw", {16, 64, n});
  std::vector<HostTensor> data = data_of(made);
  const std::vector<std::byte> finite = y_of(made, data);
  data[2].as<float>()[of_infinity] = std::numeric_limits<float>::infinity();
  data[2].as<float>()[n + of_nan] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<std::byte> y = y_of(made, data);
  for (std::size_t i = 0; i < y.size() / sizeof(Half); ++i) {
    Half now{}, before{};
    std::memcpy(&now, &y[i * sizeof(Half)], sizeof(Half));
    std::memcpy(&before, &finite[i * sizeof(Half)], sizeof(Half));
    if (i % n == of_infinity || i % n == of_nan) {
      EXPECT_FALSE(std::isfinite(to_float(now))) << i;
    } else {
      EXPECT_EQ(to_float(now), to_float(before)) << i;
    }
  }
}

TEST_F(CoopmatTest, PartsOfKAreAddedByASecondDispatch) {
  Trial made = trial("q8ta_linear", {37, 300, 45, {2}}, with(tiles(16, 16, 32, 16, 16), "splits", 4));
  const Program program = program_of(made);
  ASSERT_GE(program.dispatches.size(), 2U);
  const Dispatch& join = program.dispatches.back();
  EXPECT_EQ(join.label, "join");
  EXPECT_EQ(join.shader, "linear_join.comp");
  EXPECT_EQ(constant_of(join, "splits"), 4U);
  EXPECT_EQ(constant_of(product_of(made), "splits"), 4U);
  EXPECT_EQ(constant_of(product_of(made), "split_slabs"), 3U) << "of 10 slabs";
  expect_right_here(made);
  made.tune["splits"] = 1;
  EXPECT_EQ(program_of(made).dispatches.back().label, "product");
  EXPECT_EQ(define_of(product_of(made), "SPLITS"), "0");
}

TEST_F(CoopmatTest, WhatWaitsForPartsIsRightInEveryEpilogue) {
  for (const std::string op : {"linear_q8csw", "linear_q4gsw", "linear_q8ta_q8csw", "linear_dq8ca_q4gsw",
                               "linear_qta8a_qga4w_qta8o"}) {
    Trial made = trial(op, {19, 288, 13}, with(tiles(32, 32, 64, 16, 16), "splits", 2), 96);
    made.params.set("bias", true);
    made.params.set("activation", std::string("relu"));
    made.forms = first_forms(*made.op, made.params);
    expect_right_here(made);
  }
}

/// Whether a case asks for matrices that only the device can have.
bool names_matrices(const Tune& tune) {
  if (tune.contains("plain")) return tune.at("plain") == 0;
  return std::ranges::any_of(std::array{"matrices", "fragment_m", "fragment_n", "fragment_k"},
                             [&](const char* name) { return tune.contains(name); });
}

// A row that runs on only one kind of device says nothing about the other kernel.
TEST_F(CoopmatTest, EveryAccuracyRowRunsOnAGpuAndOnACpu) {
  DeviceInfo cpu = contrasting_devices().at(3);
  cpu.max_shared_bytes = 32768;
  cpu.max_workgroup_size = {1024, 1024, 64};
  cpu.max_workgroup_invocations = 1024;
  DeviceInfo of_48_kib = gpu;
  cpu.textures = of_48_kib.textures = device().info().textures;
  int rows = 0;
  for (const Op& op : ops.ops()) {
    if (op.name.find("linear") == std::string::npos) continue;
    for (const Case& row : accuracy_cases_of(ops, op)) {
      if (row.impl->name != "coopmat") continue;
      if (row.impl->invalid_reason({row.params, row.tensors, row.forms, row.tune})) continue;
      for (const DeviceInfo& device : {cpu, of_48_kib}) {
        if (names_matrices(row.tune) && device.cooperative_shapes.empty()) continue;
        const BuildContext context(row.params, row.tensors, row.forms, device, row.tune);
        EXPECT_EQ(missing_for(*row.impl, context), std::nullopt) << row.id << " on a " << device.type;
        ++rows;
      }
    }
  }
  EXPECT_GT(rows, 500);
}

TEST_F(CoopmatTest, GridsAreFolded) {
  for (const std::int64_t splits : {1, 3}) {
    Trial made = trial("linear_q8csw", {70, 100, 69}, with(tiles(16, 16, 32, 16, 16), "splits", splits));
    made.as_if = [](DeviceInfo& device) { device.max_workgroup_count[0] = 7; };
    for (const Dispatch& dispatch : program_of(made).dispatches) {
      if (dispatch.role == DispatchRole::Setup) continue;
      EXPECT_GT(dispatch.workgroups[1], 1U) << dispatch.label;
    }
    expect_right_here(made);
  }
}

}  // namespace
}  // namespace assay::ops
