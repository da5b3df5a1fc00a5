#include "harness/cases/describe/reachable_programs.h"
#include "ops/linear/linear_test_support.h"

// Tests which impl `auto` takes, and why others are refused.

namespace assay::ops {
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
    for (const std::string& op : of_one_int8_product)
      EXPECT_EQ(choice(op, {1, 64, 32}, device), "gemv") << op;
    for (const std::string& op : of_real_products) EXPECT_EQ(choice(op, {1, 64, 32}, device), "gemv") << op;
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
  EXPECT_EQ(choice("q8ta_linear", {16, 64, 32}, with_matrices), "gemv");
  EXPECT_EQ(choice("linear_qta8a_qga4w", {16, 64, 32}, with_matrices), "coop_dot4x8");
}

TEST_F(LinearChoiceTest, RealValuesAreMultipliedByMatricesWhereTheyAreHalves) {
  for (const std::string& op : of_real_products) {
    EXPECT_EQ(choice(op, {64, 64, 32}, with_matrices), "tiled") << op;
    EXPECT_EQ(choice(op, {64, 64, 32, {}, "f16"}, with_matrices), "coopmat") << op;
    EXPECT_EQ(choice(op, {32, 64, 32, {}, "f16"}, with_matrices), "gemv") << op;
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

TEST_F(LinearChoiceTest, KernelsOfExecuTorchAreChosenByRowsAndDotProduct) {
  for (const std::string& op : of_cooperation) {
    EXPECT_EQ(choice(op, {1, 64, 32}, gpu), "coop_dot4x8") << op;
    EXPECT_EQ(choice(op, {32, 64, 32}, gpu), "tiled_dot4x8") << op;
    EXPECT_EQ(choice(op, {1, 64, 32}, without_dot_product(gpu)), "coop") << op;
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

}  // namespace
}  // namespace assay::ops
