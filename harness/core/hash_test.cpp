#include "harness/core/hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(HashTest, MeetsTheKnownAnswersOfXxh3) {
  EXPECT_EQ(hash_hex(std::string_view()), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2U);
}

TEST(HashTest, AHashIs32LowerCaseHexDigits) {
  for (const char* text : {"", "a", "assay"}) {
    EXPECT_THAT(hash_hex(text), testing::MatchesRegex("[0-9a-f]+"));
    EXPECT_EQ(hash_hex(text).size(), 32U);
  }
}

TEST(HashTest, BytesAndTextOfEqualContentHashEqual) {
  const std::string_view text = "the same";
  EXPECT_EQ(hash_hex(text), hash_hex(std::as_bytes(std::span(text))));
  EXPECT_NE(hash_hex(text), hash_hex("the sane"));
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

}  // namespace
}  // namespace assay
