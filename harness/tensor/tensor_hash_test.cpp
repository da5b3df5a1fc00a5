#include "harness/tensor/tensor_hash.h"

#include "harness/base/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <vector>

namespace assay {
namespace {

HostTensor tensor_of(DType dtype, const Shape& shape, int first = 1) {
  HostTensor tensor(dtype, shape);
  int value = first;
  for (std::byte& byte : tensor.bytes()) byte = static_cast<std::byte>(value++);
  return tensor;
}

TEST(HashTest, ATensorsHashDependsOnDTypeShapeAndValues) {
  const std::set<std::string> hashes{
      hash_of(tensor_of(DType::I8, {4})),    hash_of(tensor_of(DType::U8, {4})),
      hash_of(tensor_of(DType::I8, {2, 2})), hash_of(tensor_of(DType::I8, {1, 4})),
      hash_of(tensor_of(DType::I8, {4}, 2)), hash_of(tensor_of(DType::I16, {2})),
      hash_of(tensor_of(DType::F16, {2}, 1))};
  EXPECT_EQ(hashes.size(), 7U);
  EXPECT_EQ(hash_of(tensor_of(DType::I8, {4})), hash_of(tensor_of(DType::I8, {4})));
}

TEST(HashTest, TheHashOfSeveralTensorsDependsOnTheirOrderAndNumber) {
  const HostTensor a = tensor_of(DType::I8, {4});
  const HostTensor b = tensor_of(DType::I8, {4}, 5);
  const auto hash = [](std::vector<HostTensor> tensors) {
    return hash_of(std::span<const HostTensor>(tensors));
  };
  EXPECT_EQ(hash({a, b}), hash({a, b}));
  EXPECT_NE(hash({a, b}), hash({b, a}));
  EXPECT_NE(hash({a}), hash({a, a}));
  EXPECT_EQ(hash({a}), hash_of(a));
  EXPECT_NE(hash({}), hash({a}));
}

TEST(HashTest, LongDataHashesLikeTheBytesFedAtOnce) {
  const HostTensor tensor = tensor_of(DType::U8, {5000});
  std::string text = "u8[5000]";
  for (const std::uint8_t value : tensor.as<std::uint8_t>()) text += static_cast<char>(value);
  EXPECT_EQ(hash_of(tensor), hash_hex(text));
}

std::string answer_hash(const std::vector<float>& values, DType dtype) {
  HostTensor tensor(dtype, {static_cast<std::int64_t>(values.size())});
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (dtype == DType::F32) {
      tensor.as<float>()[i] = values[i];
    } else {
      tensor.as<Half>()[i] = to_half(values[i]);
    }
  }
  return answer_hash_of(std::span(&tensor, 1));
}

float with_bits(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}

TEST(AnswerHash, TakesAllNaNsAsOneAndFlushedNumbersAsZeros) {
  const float nan = with_bits(0x7fc00000), other_nan = with_bits(0xffc12345);
  for (const DType dtype : {DType::F32, DType::F16}) {
    EXPECT_EQ(answer_hash({1, nan}, dtype), answer_hash({1, other_nan}, dtype));
    EXPECT_NE(answer_hash({1, nan}, dtype), answer_hash({1, with_bits(0x7f800000)}, dtype)) << "infinity";
    EXPECT_NE(answer_hash({0.0f}, dtype), answer_hash({-0.0f}, dtype));
    EXPECT_NE(answer_hash({1, 2}, dtype), answer_hash({1, 3}, dtype));
  }
  EXPECT_EQ(answer_hash({with_bits(0x007fffff)}, DType::F32), answer_hash({0.0f}, DType::F32));
  EXPECT_EQ(answer_hash({with_bits(0x80000001)}, DType::F32), answer_hash({-0.0f}, DType::F32));
  EXPECT_NE(answer_hash({0x1p-126f}, DType::F32), answer_hash({0.0f}, DType::F32));
  EXPECT_NE(answer_hash({0x1p-24f}, DType::F16), answer_hash({0.0f}, DType::F16)) << "no device flushes it";
}

TEST(AnswerHash, LooksAtEveryElementOfALargeTensor) {
  std::vector<float> values(20'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 16;
  for (const DType dtype : {DType::F32, DType::F16}) {
    HostTensor tensor(dtype, {20'000});
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (dtype == DType::F32) tensor.as<float>()[i] = values[i];
      if (dtype == DType::F16) tensor.as<Half>()[i] = to_half(values[i]);
    }
    EXPECT_EQ(answer_hash(values, dtype), hash_of(tensor)) << "there is nothing to replace";
    std::vector<float> nans = values;
    nans.back() = with_bits(0x7fc00000);
    std::vector<float> others = values;
    others.back() = with_bits(0xffc12345);
    EXPECT_EQ(answer_hash(nans, dtype), answer_hash(others, dtype));
    EXPECT_NE(answer_hash(nans, dtype), answer_hash(values, dtype));
  }
}

TEST(AnswerHash, EqualsTheHashOfOrdinaryValues) {
  HostTensor tensor(DType::I8, {3});
  tensor.as<std::int8_t>()[1] = 5;
  EXPECT_EQ(answer_hash_of(std::span(&tensor, 1)), hash_of(tensor));
}

}  // namespace
}  // namespace assay
