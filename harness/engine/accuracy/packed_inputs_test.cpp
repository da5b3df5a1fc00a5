#include "harness/engine/accuracy/packed_inputs.h"

#include "harness/base/error.h"
#include "tests/support/small_op.h"

namespace assay {
namespace {

using test::tensor;

constexpr Form plain{Storage::Buffer, Layout::WP};
constexpr Form quads{Storage::Buffer, Layout::P4W};

std::vector<HostTensor> two_inputs() {
  std::vector<HostTensor> inputs;
  inputs.push_back(tensor<std::int8_t>({1, 5}, {1, 2, 3, 4, 5}));
  inputs.push_back(tensor<std::int8_t>({1, 5}, {6, 7, 8, 9, 10}));
  return inputs;
}

TEST(PackedInputs, ArePoisonedWhereNoElementIs) {
  const std::vector<HostTensor> inputs = two_inputs();
  PackedInputs packed(inputs);
  const PackedInput input = packed.get(1, {quads, DType::I8, {1, 5}}, Poison::B);
  ASSERT_EQ(input.bytes.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(input.bytes[i], i < 5 ? static_cast<std::byte>(i + 6) : poison_byte(Poison::B, i)) << i;
  }
}

TEST(PackedInputs, ArePackedOnceForAllWhoHoldThem) {
  const std::vector<HostTensor> inputs = two_inputs();
  PackedInputs packed(inputs);
  const Physical physical(plain, DType::I8, {1, 5});
  const PackedInput first = packed.get(0, physical, Poison::A);
  const auto again = [&](std::size_t index, Form form, Poison poison) {
    return packed.get(index, {form, DType::I8, {1, 5}}, poison).owner == first.owner;
  };
  EXPECT_TRUE(again(0, plain, Poison::A));
  EXPECT_FALSE(again(1, plain, Poison::A));
  EXPECT_FALSE(again(0, quads, Poison::A));
  EXPECT_FALSE(again(0, plain, Poison::B));
}

TEST(PackedInputs, WithoutPaddingHaveNoPoison) {
  std::vector<HostTensor> inputs;
  inputs.push_back(tensor<std::int8_t>({1, 4, 1, 4}, std::vector<std::int8_t>(16, 7)));
  PackedInputs packed(inputs);
  const Physical by_channel({Storage::Buffer, Layout::P4C}, DType::I8, {1, 4, 1, 4});
  const PackedInput first = packed.get(0, by_channel, Poison::A);
  EXPECT_NE(first.owner, nullptr);
  EXPECT_EQ(packed.get(0, by_channel, Poison::B).owner, first.owner);
}

TEST(PackedInputs, ThatLieAsTheyAreAreTheTensorsOwnBytes) {
  std::vector<HostTensor> inputs;
  inputs.push_back(tensor<float>({3}, {1, 2, 3}));
  PackedInputs packed(inputs);
  EXPECT_EQ(packed.get(0, {plain, DType::F32, {3}}, Poison::A).bytes.data(), inputs[0].bytes().data());
  EXPECT_THROW(packed.get(0, {plain, DType::F32, {4}}, Poison::A), Error);
  EXPECT_THROW(packed.get(0, {plain, DType::I32, {3}}, Poison::A), Error);
}

TEST(PackedInputs, AreForgottenWithTheLastHolder) {
  const std::vector<HostTensor> inputs = two_inputs();
  PackedInputs packed(inputs);
  const Physical physical(plain, DType::I8, {1, 5});
  std::weak_ptr<const ByteBuffer> watched;
  {
    const PackedInput held = packed.get(0, physical, Poison::A);
    watched = held.owner;
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(packed.get(0, physical, Poison::A).bytes.size(), 8u);
}

}  // namespace
}  // namespace assay
