#include "harness/cases/describe/reachable_programs.h"
#include "ops/linear/linear_test_support.h"

#include <fmt/format.h>

namespace assay::ops {

// Tests which impl `auto` takes, and why others are refused.

namespace {

using namespace test;

class LinearChoiceTest : public LinearTest {
 protected:
  /// The impl that `auto` takes on a device.
  std::string choice(const std::string& name, const Sizes& sizes, const DeviceInfo& device,
                     std::int64_t group_size = 32) const {
    const Op& op = op_of(name);
    const Trial trial = trial_of(op, "auto", sizes, group_size);
    const std::vector<TensorSpec> tensors = op.tensors(trial.params);
    const BuildContext context(trial.params, tensors, trial.forms, device, trial.tune);
    return chosen_impl(op, *op.find_impl("auto"), context).name;
  }

  static DeviceInfo without_dot_product(DeviceInfo device) {
    device.dot_product_accelerated = false;
    std::erase(device.features, Feature::DotProduct);
    return device;
  }

  const DeviceInfo with_matrices = [] {
    DeviceInfo info = contrasting_devices().at(1);
    info.dot_product_accelerated = true;
    return info;
  }();
  const DeviceInfo without_places = [](DeviceInfo info) {
    info.vendor_id = 0;
    return info;
  }(with_matrices);
  const DeviceInfo gpu = [](DeviceInfo info) {
    info.cooperative_shapes.clear();
    std::erase(info.features, Feature::CooperativeMatrixNv);
    return info;
  }(with_matrices);
};

const std::vector<std::string> of_one_int8_product{"linear_q8ta_q8csw", "q8ta_linear", "linear_dq8ca_q4gsw"};
const std::vector<std::string> of_real_products{"linear_q8csw", "linear_q4gsw"};
const std::vector<std::string> of_cooperation{"linear_qta8a_qga4w", "linear_qta8a_qga4w_qta8o"};

TEST_F(LinearChoiceTest, OneRowIsAGemvEverywhere) {
  for (const DeviceInfo& device : {gpu, without_dot_product(gpu)}) {
    for (const auto& names : {of_one_int8_product, of_real_products, of_cooperation}) {
      for (const std::string& op : names) EXPECT_EQ(choice(op, {1, 64, 32}, device), "gemv") << op;
    }
  }
}

TEST_F(LinearChoiceTest, ManyRowsAreTilesByTheDotProductWhereItIsFast) {
  DeviceInfo slow = gpu;
  slow.dot_product_accelerated = false;
  for (const std::string& op : of_one_int8_product) {
    EXPECT_EQ(choice(op, {32, 64, 32}, gpu), "dot4x8") << op;
    EXPECT_EQ(choice(op, {32, 64, 32}, slow), "tiled") << op;
    EXPECT_EQ(choice(op, {32, 64, 32}, without_dot_product(gpu)), "tiled") << op;
  }
  for (const std::string& op : of_real_products) EXPECT_EQ(choice(op, {64, 64, 32}, gpu), "tiled") << op;
}

TEST_F(LinearChoiceTest, ManyRowsAreMultipliedByMatricesWhereTheDeviceHasThem) {
  for (const auto& names : {of_one_int8_product, of_cooperation}) {
    for (const std::string& op : names) EXPECT_EQ(choice(op, {32, 64, 32}, with_matrices), "coopmat") << op;
  }
}

// Where there are many output channels, their tiles read the weights as fast as loads for each four rows do.
TEST_F(LinearChoiceTest, MatricesPayForFewRowsBySoManyChannels) {
  const auto of = [&](const std::string& op, std::int64_t rows, bool many) {
    const Sizes sizes{rows, 4096, many ? 14336 : 4096, {}, "f16"};
    return choice(op, sizes, without_places, 128);
  };
  for (const std::string& op : of_one_int8_product) {
    EXPECT_EQ(of(op, 4, true), "gemv") << op;
    EXPECT_EQ(of(op, 5, true), "coopmat") << op;
    EXPECT_EQ(of(op, 8, false), "gemv") << op;
    EXPECT_EQ(of(op, 9, false), "coopmat") << op;
  }
  for (const std::string& op : of_cooperation) {
    EXPECT_EQ(of(op, 2, false), "gemv") << op;
    EXPECT_EQ(of(op, 3, false), "coopmat") << op;
  }
  for (const bool many : {true, false}) {
    EXPECT_EQ(of("linear_q4gsw", 4, many), "gemv");
    EXPECT_EQ(of("linear_q4gsw", 5, many), "coopmat");
    EXPECT_EQ(of("linear_q8csw", 2, many), "gemv");
    EXPECT_EQ(of("linear_q8csw", 3, many), "coopmat");
  }
  EXPECT_EQ(choice("linear_q8csw", {16, 4096, 14336}, with_matrices), "gemv") << "f32";
  EXPECT_EQ(choice("linear_q8csw", {16, 4096, 14336, {}, "f16"}, gpu), "gemv") << "a device without them";
}

// Where weights go from memory to registers: ops/linear/decode_test.cpp.
TEST_F(LinearChoiceTest, MatricesPayForFewerRowsWhereTheirElementsHaveKnownPlaces) {
  const auto first = [&](const std::string& op, std::int64_t columns) {
    for (std::int64_t rows = 1; rows < 16; ++rows) {
      if (choice(op, {rows, 14336, columns, {}, "f16"}, with_matrices, 128) == "coopmat") return rows;
    }
    return std::int64_t{16};
  };
  for (const std::int64_t columns : {4096, 14336}) {
    EXPECT_EQ(first("linear_q4gsw", columns), 2);
    EXPECT_EQ(first("linear_q8csw", columns), 2);
    EXPECT_EQ(first("linear_dq8ca_q4gsw", columns), 3);
    for (const std::string& op : of_cooperation) EXPECT_EQ(first(op, columns), 3) << op;
    EXPECT_EQ(first("q8ta_linear", columns), columns == 4096 ? 9 : 5) << "its sums are of all of K";
  }
  EXPECT_EQ(choice("linear_q4gsw", {1, 4096, 4096, {}, "f16"}, with_matrices, 128), "coopmat");
}

TEST_F(LinearChoiceTest, RealValuesAreMultipliedByMatricesWhereTheyAreHalves) {
  for (const std::string& op : of_real_products) {
    EXPECT_EQ(choice(op, {64, 64, 32}, with_matrices), "tiled") << op;
    EXPECT_EQ(choice(op, {2, 64, 32}, with_matrices), "gemv") << op;
    EXPECT_EQ(choice(op, {64, 64, 32, {}, "f16"}, with_matrices), "coopmat") << op;
    EXPECT_EQ(choice(op, {2, 64, 32, {}, "f16"}, without_places), "gemv") << op;
  }
}

TEST_F(LinearChoiceTest, MatricesOfOtherShapesAreNotTaken) {
  DeviceInfo other = with_matrices;
  other.cooperative_shapes = {{16, 16, 8, DType::I8, DType::I32}, {16, 16, 16, DType::F16, DType::F16}};
  EXPECT_EQ(choice("q8ta_linear", {32, 64, 32}, other), "dot4x8");
  EXPECT_EQ(choice("linear_q4gsw", {64, 64, 32, {}, "f16"}, other), "tiled");
}

TEST_F(LinearChoiceTest, TokensAreTheRowsOfAllBatches) {
  for (const auto& names : {of_one_int8_product, of_real_products, of_cooperation}) {
    for (const std::string& name : names) {
      const Op& op = op_of(name);
      ASSERT_TRUE(op.tokens) << name;
      EXPECT_EQ(op.tokens(params_of(op, {5, 64, 32, {2, 3}})), 30) << name;
    }
  }
}

TEST_F(LinearChoiceTest, BatchesAreRowsToo) {
  EXPECT_EQ(choice("q8ta_linear", {1, 64, 32, {64}}, gpu), "dot4x8");
}

TEST_F(LinearChoiceTest, TilesOfExecuTorchAreChosenByTheDotProduct) {
  for (const std::string& op : of_cooperation) {
    EXPECT_EQ(choice(op, {32, 64, 32}, gpu), "tiled_dot4x8") << op;
    EXPECT_EQ(choice(op, {32, 64, 32}, without_dot_product(gpu)), "tiled") << op;
  }
}

TEST_F(LinearChoiceTest, GroupsThatNoSlabHoldsAreLeftToTheOtherKernel) {
  // 328 = 8 * 41: no multiple of 16 up to 256 holds it or divides it.
  EXPECT_EQ(choice("linear_dq8ca_q4gsw", {32, 656, 32}, gpu, 328), "gemv");
  EXPECT_EQ(choice("linear_qta8a_qga4w", {32, 656, 32}, gpu, 328), "coop_dot4x8");
}

TEST_F(LinearChoiceTest, TilesFitTheSmallestDevice) {
  DeviceInfo least = gpu;
  least.max_workgroup_size = {128, 128, 64};
  least.max_workgroup_invocations = 128;
  least.max_shared_bytes = 16384;
  for (const std::string op : {"linear_q4gsw", "linear_q8csw", "linear_dq8ca_q4gsw", "q8ta_linear"}) {
    EXPECT_NE(choice(op, {4096, 1024, 4096}, least), "gemv") << op;
  }
  least.max_shared_bytes = 4096;
  EXPECT_EQ(choice("linear_q8csw", {64, 64, 32}, least), "gemv");
}

TEST_F(LinearChoiceTest, TilesBeyondTheDeviceAreRefusedWithTheirSize) {
  Trial trial = trial_of(op_of("linear_q8csw"), "tiled", {32, 64, 32});
  trial.tune = {{"tile_m", 128}, {"tile_n", 128}, {"tile_k", 32}, {"rows", 8}, {"columns", 8}};
  trial.as_if = [](DeviceInfo& device) { device.max_shared_bytes = 16384; };
  EXPECT_EQ(refusal(trial),
            "tiles of 128 x 128 x 32 need 33792 bytes of shared memory, maxComputeSharedMemorySize is 16384");
  trial.tune["tile_k"] = 8;
  EXPECT_EQ(refusal(trial), "");
  trial.as_if = [](DeviceInfo& device) { device.max_workgroup_invocations = 128; };
  EXPECT_EQ(
      refusal(trial),
      "tiles of 128 x 128, 8 x 8 per invocation, need workgroups of 256 invocations, the device allows 128");
}

TEST_F(LinearChoiceTest, SlabsThatACpuLeavesEarlyAreRefused) {
  Trial trial = trial_of(op_of("linear_q8csw"), "tiled", {1, 262144, 4});
  trial.as_if = [](DeviceInfo& device) { device.type = "cpu"; };
  EXPECT_EQ(refusal(trial), "81921 loop iterations per invocation exceed the 65535 that a CPU device runs");
  trial.as_if = [](DeviceInfo& device) { device.type = "discrete"; };
  EXPECT_EQ(refusal(trial), "");
}

/// An invocation that has all of K takes a round for each four values, and then five iterations: one to find
/// the end of the rounds, two for a unit that is left, and two for its sum.
TEST_F(LinearChoiceTest, RoundsThatACpuLeavesEarlyAreRefused) {
  constexpr std::int64_t most_rounds = 65535 - 5;
  const auto reason = [&](const std::string& type, std::int64_t depth, std::int64_t workers) {
    Trial trial = trial_of(op_of("linear_q8csw"), "gemv", {1, depth, 4});
    trial.tune = {{"workers", workers}, {"local_size", 8}, {"columns", 4}, {"units", 1}, {"rows", 1}};
    trial.as_if = [type](DeviceInfo& device) { device.type = type; };
    return refusal(trial);
  };
  EXPECT_EQ(reason("cpu", 4 * most_rounds, 1), "");
  EXPECT_EQ(reason("cpu", 4 * most_rounds + 1, 1),
            "65536 loop iterations per invocation exceed the 65535 that a CPU device runs");
  EXPECT_EQ(reason("cpu", 4 * most_rounds + 1, 2), "") << "half of the rounds each";
  EXPECT_EQ(reason("discrete", 4 * most_rounds + 1, 1), "");
}

TEST_F(LinearChoiceTest, SumsAreCountedBesidesTheRounds) {
  Trial trial = trial_of(op_of("linear_q8csw"), "gemv", {8, 4 * 65530, 8});
  trial.tune = {{"workers", 1}, {"local_size", 8}, {"columns", 8}, {"units", 1}, {"rows", 8}};
  trial.as_if = [](DeviceInfo& device) { device.type = "cpu"; };
  EXPECT_EQ(refusal(trial), "65565 loop iterations per invocation exceed the 65535 that a CPU device runs")
      << "65530 rounds and two for each of 16 sums";
}

/// Four rows of one plane share a block of int8, which a plane of one row does not fill.
TEST_F(LinearChoiceTest, IntegersOfXAreCountedToo) {
  const Sizes sizes{.m = 1, .k = 1024, .n = 4, .batch = {1 << 19}};
  EXPECT_EQ(refusal(trial_of(op_of("linear_q8ta_q8csw"), "tiled", sizes)),
            "quantized x: 2147483648 elements as buffer/4H4W exceed the 2^31 - 1 that this kernel can count");
  EXPECT_EQ(refusal(trial_of(op_of("linear_q8ta_q8csw"), "gemv", sizes)), "");
}

TEST_F(LinearChoiceTest, TheCeilingIsTheDotProductsWhereItIsUsed) {
  const auto ceiling = [&](const std::string& op, const DeviceInfo& device) {
    const Trial trial = trial_of(op_of(op), "gemv", {1, 64, 32});
    const std::vector<TensorSpec> tensors = trial.op->tensors(trial.params);
    return ceiling_of(*trial.op->find_impl("gemv"), {trial.params, tensors, trial.forms, device, trial.tune});
  };
  for (const std::string& op : of_one_int8_product) {
    EXPECT_EQ(ceiling(op, gpu), Ceiling::Dot4x8) << op;
    EXPECT_EQ(ceiling(op, without_dot_product(gpu)), Ceiling::Fp32) << op;
  }
  for (const std::string op : {"linear_q8csw", "linear_q4csw"}) EXPECT_EQ(ceiling(op, gpu), Ceiling::Fp32);
}

TEST_F(LinearChoiceTest, SlabsThatDoNotFitTheGroupsAreRefused) {
  Trial trial = trial_of(op_of("linear_dq8ca_q4gsw"), "tiled", {32, 192, 32}, 96);
  trial.tune = {{"tile_k", 64}};
  EXPECT_EQ(refusal(trial), "slabs of 64 values neither hold whole groups of 96 nor divide one");
  trial.tune = {{"tile_k", 48}};
  EXPECT_EQ(refusal(trial), "");
  EXPECT_EQ(refusal(trial_of(op_of("linear_dq8ca_q4gsw"), "tiled", {32, 656, 32}, 328)),
            "no slab of at most 256 values holds whole groups of 328 or divides one");
}

TEST_F(LinearChoiceTest, MoreWorkersThanInvocationsAreRefused) {
  Trial trial = trial_of(op_of("linear_q8csw"), "gemv", {1, 64, 32});
  trial.tune = {{"workers", 64}, {"local_size", 16}};
  EXPECT_EQ(refusal(trial), "64 workers exceed the 16 invocations of a workgroup");
  trial.tune = {{"workers", 256}};
  EXPECT_EQ(refusal(trial), "");
  trial.as_if = [](DeviceInfo& device) { device.max_workgroup_size[0] = 128; };
  EXPECT_EQ(refusal(trial), "workgroups of 256 invocations exceed the device's 128");
}

TEST_F(LinearChoiceTest, WorkIsEachTensorOnceAndTwoOperationsAProduct) {
  const Op& op = op_of("linear_q4gsw");
  const Params params = params_of(op, {5, 96, 12, {3}}, 32);
  const Work work = op.work(params, op.tensors(params));
  EXPECT_EQ(work.operations, 2 * 3 * 5 * 96 * 12);
  EXPECT_EQ(work.bytes_read, 4 * 3 * 5 * 96 + 12 * 96 / 2 + 4 * 12 * 96 / 32);
  EXPECT_EQ(work.bytes_written, 4 * 3 * 5 * 12);
}

// Tests how programs of linear ops are divided into workgroups, also as if on other devices.

class LinearSharingTest : public LinearTest {
 protected:
  static std::int64_t workgroups_of(const Dispatch& dispatch) {
    return std::int64_t{dispatch.workgroups[0]} * dispatch.workgroups[1];
  }
  static bool quantizes_before(const Program& program) {
    return std::ranges::any_of(program.dispatches, [](const Dispatch& dispatch) {
      return dispatch.role == DispatchRole::Op && dispatch.label != "product";
    });
  }
};

TEST_F(LinearSharingTest, TunedTilesChangeTheGridAndNotTheAnswer) {
  Trial trial = trial_of(op_of("q8ta_linear"), "tiled", {70, 72, 45});
  for (const auto& [m, n, rows, columns] :
       {std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>{16, 64, 4, 4},
        {64, 16, 16, 8},
        {32, 32, 8, 8}}) {
    trial.tune = {{"tile_m", m}, {"tile_n", n}, {"rows", rows}, {"columns", columns}};
    const Dispatch product = product_of(trial);
    EXPECT_EQ(workgroups_of(product), div_up(std::int64_t{70}, m) * div_up(std::int64_t{45}, n));
    EXPECT_EQ(product.local_size[0], m / rows * (n / columns));
    expect_right_here(trial);
  }
}

TEST_F(LinearSharingTest, TunedWorkersChangeTheGridAndNotTheAnswer) {
  Trial trial = trial_of(op_of("linear_q4gsw"), "gemv", {3, 320, 45});
  for (const auto& [workers, local_size, columns] :
       {std::tuple<std::int64_t, std::int64_t, std::int64_t>{1, 8, 8},
        {4, 64, 4},
        {64, 64, 8},
        {16, 128, 4}}) {
    trial.tune = {{"workers", workers}, {"local_size", local_size}, {"columns", columns}, {"rows", 1}};
    const Dispatch product = product_of(trial);
    EXPECT_EQ(workgroups_of(product), 3 * div_up(std::int64_t{45}, local_size / workers * columns));
    EXPECT_EQ(product.local_size[0], local_size);
    expect_right_here(trial);
  }
}

TEST_F(LinearSharingTest, RowsOfAWorkgroupShareWeights) {
  for (const char* op : {"linear_q4gsw", "linear_dq8ca_q4gsw", "q8ta_linear"}) {
    Trial trial = trial_of(op_of(op), "gemv", {5, 320, 45});
    for (const std::int64_t rows : {1, 2, 4, 8}) {
      trial.tune = {{"rows", rows}, {"workers", 4}, {"local_size", 16}};
      const Dispatch product = product_of(trial);
      EXPECT_EQ(workgroups_of(product), div_up(std::int64_t{5}, rows) * div_up(std::int64_t{45}, 16)) << op;
      expect_right_here(trial);
    }
  }
}

TEST_F(LinearSharingTest, AWorkgroupOfSeveralRowsFindsThemQuantized) {
  Trial trial = trial_of(op_of("linear_dq8ca_q4gsw"), "gemv", {2, 64, 32});
  EXPECT_FALSE(quantizes_before(program_of(trial)));
  trial.tune = {{"rows", 2}};
  EXPECT_TRUE(quantizes_before(program_of(trial)));
}

class DefaultSharingTest : public LinearSharingTest {
 protected:
  /// The program as on a GPU with subgroups of 32 invocations and workgroups of up to 1024.
  Trial on_gpu(const std::string& op, const Sizes& sizes) {
    Trial trial = trial_of(op_of(op), "gemv", sizes, /*group_size=*/128);
    trial.as_if = [](DeviceInfo& device) {
      device.subgroup_size = device.min_subgroup_size = device.max_subgroup_size = 32;
      device.max_workgroup_invocations = 1024;
      device.max_shared_bytes = 49152;
    };
    return trial;
  }
  /// The sharing as "workers x units at once", of several rows as "rows: workers x units at once".
  std::string shared_by(const std::string& op, const Sizes& sizes) {
    const Dispatch product = product_of(on_gpu(op, sizes));
    const std::string rows = define_of(product, "ROWS");
    return fmt::format("{}{} x {}", rows == "1" ? "" : rows + ": ", constant_of(product, "workers"),
                       define_of(product, "UNITS"));
  }
};

// The values that were measured to be the fastest (shaders/NOTES.md), for the shapes of the sweeps there.
TEST_F(DefaultSharingTest, OneRowIsSharedByAsManyAsWereSeenToDo) {
  EXPECT_EQ(shared_by("q8ta_linear", {1, 2048, 8192}), "128 x 4");
  EXPECT_EQ(shared_by("q8ta_linear", {1, 14336, 4096}), "128 x 4");
  EXPECT_EQ(shared_by("q8ta_linear", {1, 4096, 14336}), "64 x 4") << "what 262144 invocations leave";
  EXPECT_EQ(shared_by("q8ta_linear", {1, 1024, 3072}), "64 x 4") << "256 units, four at once";
  EXPECT_EQ(shared_by("linear_q8ta_q8csw", {1, 2048, 2048}), "128 x 4");
  EXPECT_EQ(shared_by("linear_q8ta_q8csw", {1, 2048, 8192}), "64 x 4");
  EXPECT_EQ(shared_by("linear_q8ta_q8csw", {1, 4096, 14336}), "32 x 4");
  EXPECT_EQ(shared_by("linear_q8csw", {1, 8192, 2048}), "128 x 4");
  EXPECT_EQ(shared_by("linear_q8csw", {1, 4096, 4096}), "128 x 2");
  EXPECT_EQ(shared_by("linear_q8csw", {1, 4096, 14336}), "32 x 2");
  EXPECT_EQ(shared_by("linear_dq8ca_q4gsw", {1, 4096, 14336}), "32 x 2");
  EXPECT_EQ(shared_by("linear_dq8ca_q4gsw", {1, 2048, 8192}), "32 x 4") << "all in one round";
  EXPECT_EQ(shared_by("linear_dq8ca_q4gsw", {1, 14336, 4096}), "64 x 2");
}

// 3584 quads of channels: 448 workgroups of 8 divide evenly among 56 shader cores, and 256 workgroups of 14
// almost evenly among 132.
TEST_F(DefaultSharingTest, WorkgroupsThatQuantizeFitTheNumberOfShaderCores) {
  const auto local_size_with = [this](std::uint32_t cores) {
    Trial trial = on_gpu("linear_dq8ca_q4gsw", {1, 4096, 14336});
    trial.as_if = [as_if = trial.as_if, cores](DeviceInfo& device) {
      as_if(device);
      device.shader_cores = cores;
    };
    return product_of(trial).local_size[0];
  };
  EXPECT_EQ(local_size_with(56), 256u);
  EXPECT_EQ(local_size_with(132), 448u);
  EXPECT_EQ(local_size_with(0), 448u) << "the device does not report them";
}

// The fastest of a sweep over 2, 4 and 8 rows, or next to it (shaders/NOTES.md).
TEST_F(DefaultSharingTest, SeveralRowsShareTheWeightsThatAreLoaded) {
  EXPECT_EQ(shared_by("q8ta_linear", {2, 2048, 2048}), "2: 128 x 4");
  EXPECT_EQ(shared_by("q8ta_linear", {3, 4096, 4096}), "4: 64 x 4") << "the fourth row is not stored";
  EXPECT_EQ(shared_by("linear_q8ta_q8csw", {4, 4096, 14336}), "4: 32 x 4");
  EXPECT_EQ(shared_by("linear_q8ta_q8csw", {8, 4096, 4096}), "4: 32 x 4");
  EXPECT_EQ(shared_by("linear_q8ta_q8csw", {4, 14336, 4096}), "4: 128 x 4") << "more workers where K is long";
  EXPECT_EQ(shared_by("linear_q8csw", {2, 4096, 14336}), "2: 32 x 4");
  EXPECT_EQ(shared_by("linear_q4gsw", {4, 4096, 14336}), "4: 32 x 1");
  EXPECT_EQ(shared_by("linear_q4gsw", {4, 4096, 4096}), "4: 64 x 1");
  EXPECT_EQ(shared_by("linear_dq8ca_q4gsw", {4, 4096, 14336}), "4: 32 x 1");
  EXPECT_EQ(shared_by("linear_dq8ca_q4gsw", {4, 4096, 4096}), "4: 64 x 2");
  EXPECT_EQ(shared_by("linear_qta8a_qga4w", {4, 4096, 14336}), "2: 32 x 1");
}

// A dispatch that quantizes two rows costs more than reading few weights twice.
TEST_F(DefaultSharingTest, TwoRowsThatAreQuantizedShareManyWeightsOnly) {
  for (const std::string op : {"linear_dq8ca_q4gsw", "linear_q8ta_q8csw"}) {
    EXPECT_FALSE(quantizes_before(program_of(on_gpu(op, {2, 4096, 4096})))) << op;
    EXPECT_EQ(define_of(product_of(on_gpu(op, {2, 4096, 4096})), "ROWS"), "1") << op;
    EXPECT_TRUE(quantizes_before(program_of(on_gpu(op, {2, 4096, 14336})))) << op;
    Trial three = on_gpu(op, {3, 4096, 4096});
    EXPECT_TRUE(quantizes_before(program_of(three))) << op;
    three.as_if = [as_if = three.as_if](DeviceInfo& device) {
      as_if(device);
      device.max_storage_buffers_per_stage = 4;
    };
    EXPECT_FALSE(quantizes_before(program_of(three))) << op << " would bind too many buffers";
  }
}

// Otherwise a workgroup would have workers of two quads of channels, and some of a third that no others work
// on.
TEST_F(DefaultSharingTest, WhatIsTunedAloneLeavesWholeSetsOfWorkers) {
  for (const std::string op : {"linear_dq8ca_q4gsw", "linear_q8ta_q8csw", "q8ta_linear", "linear_q8csw"}) {
    for (const Sizes& sizes : {Sizes{1, 4096, 14336}, {1, 2048, 2048}, {1, 256, 1028}}) {
      Trial trial = on_gpu(op, sizes);
      for (const Tunable& tunable : op_of(op).find_impl("gemv")->tunables) {
        if (tunable.name != "workers" && tunable.name != "local_size") continue;
        for (const std::int64_t value : tunable.allowed) {
          trial.tune = {{tunable.name, value}};
          const Dispatch product = product_of(trial);
          EXPECT_EQ(product.local_size[0] % constant_of(product, "workers"), 0u)
              << op << " " << sizes.k << " -> " << sizes.n << ", " << tunable.name << " " << value;
        }
      }
    }
  }
}

TEST_F(LinearSharingTest, WorkersOrInvocationsAloneMayBeTuned) {
  for (const std::int64_t local_size : {8, 512}) {
    Trial trial = trial_of(op_of("linear_q8csw"), "gemv", {2, 2048, 21});
    trial.tune = {{"local_size", local_size}};
    EXPECT_LE(constant_of(product_of(trial), "workers"), local_size);
    expect_right_here(trial);
    trial.tune = {{"workers", local_size / 2}};
    EXPECT_GE(product_of(trial).local_size[0], local_size / 2);
    expect_right_here(trial);
  }
}

// Shared memory for about 64 KiB, and for less: then a dispatch before the product quantizes.
TEST_F(LinearSharingTest, ARowThatFitsNoSharedMemoryIsQuantizedBefore) {
  for (const std::string op : {"linear_dq8ca_q4gsw", "linear_q8ta_q8csw"}) {
    for (const std::int64_t m : {1, 2}) {
      Trial trial = trial_of(op_of(op), "gemv", {m, 4096, 9});
      trial.as_if = [](DeviceInfo& device) { device.max_shared_bytes = 32768; };
      EXPECT_FALSE(quantizes_before(program_of(trial))) << op;
      expect_right_here(trial);
      trial.as_if = [](DeviceInfo& device) { device.max_shared_bytes = 8192; };
      EXPECT_TRUE(quantizes_before(program_of(trial))) << op;
      EXPECT_EQ(define_of(product_of(trial), "QUANTIZES"), "0");
      EXPECT_LE(product_of(trial).shared_bytes, 8192u);
      expect_right_here(trial);
    }
  }
}

TEST_F(LinearSharingTest, RowsLongerThanWhatIsKeptAreRight) {
  for (const std::string activations : {"dynamic", "given"}) {
    for (const FillKind fill : {FillKind::Mixed, FillKind::Outlier}) {
      Trial trial = trial_of(op_of("linear_dq8ca_q4gsw"), "gemv", {2, 2400, 5}, 96);
      trial.params.set("activations", activations);
      trial.forms = first_forms(*trial.op, trial.params);
      trial.fill = fill;
      trial.tune = {{"workers", 8}, {"local_size", 8}};  // which keep 8 quads each, of 600 in all
      expect_right_here(trial);
    }
  }
}

TEST_F(LinearSharingTest, TheMostRoundsOfACpuAreRunToTheirEnd) {
  Trial trial = trial_of(op_of("linear_q8csw"), "gemv", {1, 4 * 65530, 4});
  trial.tune = {{"workers", 1}, {"local_size", 8}, {"columns", 4}, {"units", 1}, {"rows", 1}};
  ASSERT_EQ(refusal(trial), "");
  expect_right_here(trial);
}

TEST_F(LinearSharingTest, DevicesOfOtherSubgroupsAreServed) {
  const auto none = [](DeviceInfo& device) {
    std::erase(device.features, Feature::SubgroupShuffle);
    std::erase(device.features, Feature::SubgroupArithmetic);
  };
  const auto several_sizes = [](DeviceInfo& device) {
    device.min_subgroup_size = std::max(device.subgroup_size / 2, 1U);
    std::erase(device.features, Feature::SubgroupSizeControl);
    std::erase(device.features, Feature::FullSubgroups);
  };
  for (const std::function<void(DeviceInfo&)>& change :
       {std::function<void(DeviceInfo&)>(none), {several_sizes}}) {
    for (const std::string op : {"linear_q8csw", "q8ta_linear", "linear_dq8ca_q4gsw"}) {
      Trial trial = trial_of(op_of(op), "gemv", {3, 1088, 13});
      trial.as_if = change;
      EXPECT_EQ(define_of(product_of(trial), "SUBGROUPS"), "0") << op;
      expect_right_here(trial);
    }
  }
}

TEST_F(LinearSharingTest, WorkgroupsStayWithin128InvocationsAnd16KiB) {
  for (const Op& op : ops.ops()) {
    if (op.name.find("linear") == std::string::npos) continue;
    for (const Impl& impl : op.impls) {
      if (!impl.build) continue;
      for (const Sizes& sizes : {Sizes{1, 14336, 4096}, {300, 4096, 4096}}) {
        Trial trial = trial_of(op, impl.name, sizes, 128);
        if (impl.name == "coopmat" && trial.params.has("dtype")) {
          trial.params.set("dtype", std::string("f16"));
          trial.forms = first_forms(op, trial.params);
        }
        trial.as_if = [](DeviceInfo& device) {
          device.type = "discrete";
          device.max_workgroup_size = {128, 128, 64};
          device.max_workgroup_invocations = 128;
          device.max_shared_bytes = 16384;
        };
        ASSERT_EQ(refusal(trial), "") << trial.describe();
        for (const Dispatch& dispatch : program_of(trial).dispatches) {
          EXPECT_LE(dispatch.local_size[0], 128u) << trial.describe() << dispatch.label;
          EXPECT_LE(dispatch.shared_bytes, 16384u) << trial.describe() << dispatch.label;
        }
      }
    }
  }
}

// Small workgroups, which tiles do not have, are folded in ops/other_devices_test.cpp.
TEST_F(LinearSharingTest, GridsOfTilesAreFolded) {
  for (const std::string op : {"linear_q8csw", "q8ta_linear", "linear_qta8a_qga4w"}) {
    Trial trial = trial_of(op_of(op), "tiled", {70, 64, 69});
    trial.tune = {{"tile_m", 16}, {"tile_n", 16}, {"rows", 4}, {"columns", 4}};
    trial.as_if = [](DeviceInfo& device) { device.max_workgroup_count[0] = 7; };
    const auto grid = product_of(trial).workgroups;
    EXPECT_GT(grid[1], 1u);
    EXPECT_GT(grid[0] * grid[1], 5u * 5) << "folded unevenly";
    expect_right_here(trial);
  }
}

TEST_F(LinearSharingTest, PlanesHaveGapsInBlocksOfFourRowsAlone) {
  Trial trial = trial_of(op_of("q8ta_linear"), "tiled", {5, 24, 8, {3}});
  EXPECT_EQ(product_of(trial).push.words()[1], 3u * 8) << "4H4W: the rows of a plane are padded";
  expect_right_here(trial);
  trial.forms.front() = trial.forms.back() = {Storage::Buffer, Layout::P4W};
  EXPECT_EQ(product_of(trial).push.words()[1], 3u * 5);
  expect_right_here(trial);
}

}  // namespace

}  // namespace assay::ops
