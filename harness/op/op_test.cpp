#include "harness/op/op.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace assay {
namespace {

Op named(std::string name) {
  Op op;
  op.name = std::move(name);
  return op;
}

TEST(OpTest, StreamingWorkIsEachInputReadAndEachOutputWrittenOnce) {
  std::vector<TensorSpec> tensors(3);
  tensors[0].dtype = DType::F32;
  tensors[0].shape = {2, 5};
  tensors[1].dtype = DType::F16;
  tensors[1].shape = {3};
  tensors[2].dtype = DType::I8;
  tensors[2].shape = {2, 5};
  tensors[2].role = TensorSpec::Role::Output;
  const Work work = streaming_work(tensors);
  EXPECT_EQ(work.bytes_read, 46);
  EXPECT_EQ(work.bytes_written, 10);
  EXPECT_EQ(work.operations, 0);
  EXPECT_EQ(work.ceiling, Work::Ceiling::Bandwidth);
}

TEST(OpTest, ImplsAndParametersAreFoundByName) {
  Op op = named("clone");
  op.params = {shape("shape"), integer("r")};
  op.impls.resize(2);
  op.impls[0].name = "plain";
  op.impls[1].name = "fused";
  EXPECT_EQ(op.find_impl("fused"), &op.impls[1]);
  EXPECT_EQ(op.find_impl("fuse"), nullptr);
  EXPECT_EQ(op.find_param("shape"), &op.params[0]);
  EXPECT_EQ(op.find_param(""), nullptr);
}

TEST(RegistryTest, OpsAreFoundByNameInTheOrderGiven) {
  const Registry registry({named("b"), named("a")});
  ASSERT_EQ(registry.ops().size(), 2U);
  EXPECT_EQ(registry.ops()[0].name, "b");
  EXPECT_EQ(registry.find("a"), &registry.ops()[1]);
  EXPECT_EQ(registry.find("c"), nullptr);
}

TEST(RegistryTest, TwoOpsOfOneNameAreAMistake) {
  EXPECT_THROW(Registry({named("a"), named("b"), named("a")}), std::logic_error);
}

TEST(BuildContextTest, ATunedValueGoesBeforeTheFallback) {
  const Params params;
  const DeviceInfo device;
  const std::map<std::string, std::int64_t> tune{{"local_size", 128}};
  const BuildContext context{params, {}, {}, device, tune};
  EXPECT_EQ(context.tuned("local_size", 64), 128);
  EXPECT_EQ(context.tuned("tile", 4), 4);
}

TEST(BuildContextTest, APhysicalTensorHasTheFormOfItsCase) {
  const Params params;
  const DeviceInfo device;
  const std::map<std::string, std::int64_t> tune;
  std::vector<TensorSpec> tensors(1);
  tensors[0].dtype = DType::I8;
  tensors[0].shape = {1, 5, 2, 3};
  const std::vector<Form> forms{{Storage::Buffer, Layout::P4C}};
  const BuildContext context{params, tensors, forms, device, tune};
  EXPECT_EQ(context.physical(0).elements(), 2 * 3 * 8);
}

}  // namespace
}  // namespace assay
