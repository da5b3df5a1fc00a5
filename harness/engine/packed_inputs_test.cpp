#include "harness/engine/packed_inputs.h"

#include "harness/engine/test_support.h"

namespace assay {
namespace {

using testing::tensor;

constexpr Form plain{Storage::Buffer, Layout::WP};
constexpr Form quads{Storage::Buffer, Layout::P4W};

std::vector<HostTensor> two_inputs() {
  std::vector<HostTensor> inputs;
  inputs.push_back(tensor<std::int8_t>({1, 5}, {1, 2, 3, 4, 5}));
  inputs.push_back(tensor<std::int8_t>({1, 5}, {6, 7, 8, 9, 10}));
  return inputs;
}

TEST(PackedInputs, AreGuardDataGuardWithPoisonAroundTheElements) {
  const std::vector<HostTensor> inputs = two_inputs();
  PackedInputs packed(inputs);
  const auto bytes = packed.get(1, {quads, DType::I8, {1, 5}}, 8, Poison::B);
  ASSERT_EQ(bytes->size(), 8u + 8 + 8);
  for (std::size_t i = 0; i < bytes->size(); ++i) {
    const bool is_element = i >= 8 && i < 13;
    const auto expected = is_element ? static_cast<std::byte>(i - 2) : poison_byte(Poison::B, i);
    EXPECT_EQ((*bytes)[i], expected) << i;
  }
}

TEST(PackedInputs, ArePackedOnceForAllWhoHoldThem) {
  const std::vector<HostTensor> inputs = two_inputs();
  PackedInputs packed(inputs);
  const Physical physical(plain, DType::I8, {1, 5});
  const auto first = packed.get(0, physical, 0, Poison::A);
  EXPECT_EQ(packed.get(0, physical, 0, Poison::A), first);
  EXPECT_NE(packed.get(1, physical, 0, Poison::A), first);
  EXPECT_NE(packed.get(0, {quads, DType::I8, {1, 5}}, 0, Poison::A), first);
  EXPECT_NE(packed.get(0, physical, 16, Poison::A), first);
  EXPECT_NE(packed.get(0, physical, 0, Poison::B), first);
}

TEST(PackedInputs, AreForgottenWithTheLastHolder) {
  const std::vector<HostTensor> inputs = two_inputs();
  PackedInputs packed(inputs);
  const Physical physical(plain, DType::I8, {1, 5});
  std::weak_ptr<const AllocationBytes> watched;
  {
    const auto held = packed.get(0, physical, 0, Poison::A);
    watched = held;
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(packed.get(0, physical, 0, Poison::A)->size(), 8u);
}

}  // namespace
}  // namespace assay
