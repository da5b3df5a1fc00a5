#include "harness/tensor/tensor.h"

#include "harness/base/error.h"
#include "harness/base/hash.h"
#include "tests/support/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <vector>

namespace assay {
namespace {

using test::row;
using test::tensor;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t most = std::int64_t{1} << 40;

TEST(ShapeTest, NumelIsTheProductOfTheDims) {
  EXPECT_EQ(numel({7}), 7);
  EXPECT_EQ(numel({1, 96, 16, 9}), 13824);
  EXPECT_EQ(numel({most}), most);
  EXPECT_EQ(numel({1 << 20, 1 << 20}), most);
}

TEST(ShapeTest, NumelRefusesDimsBelowOne) {
  EXPECT_THAT([] { numel({2, 0, 3}); }, ThrowsMessage<Error>(HasSubstr("2x0x3 has a dim of 0")));
  EXPECT_THAT([] { numel({-4}); }, ThrowsMessage<Error>(HasSubstr("has a dim of -4")));
}

TEST(ShapeTest, NumelRefusesProductsBeyondTheLimitWithoutOverflow) {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT([] { numel({most, 2}); }, ThrowsMessage<Error>(HasSubstr("more than 2^40 elements")));
  EXPECT_THROW(numel({huge}), Error);
  EXPECT_THROW(numel({huge, huge}), Error);
  // The product is 2^64, which wraps to 0.
  EXPECT_THROW(numel({1LL << 32, 1LL << 32}), Error);
}

TEST(ShapeTest, LowerRanksAreUnsqueezedOnTheLeft) {
  EXPECT_EQ(nchw({5}), (Dims{1, 1, 1, 5}));
  EXPECT_EQ(nchw({4, 5}), (Dims{1, 1, 4, 5}));
  EXPECT_EQ(nchw({3, 4, 5}), (Dims{1, 3, 4, 5}));
  EXPECT_EQ(nchw({2, 3, 4, 5}), (Dims{2, 3, 4, 5}));
}

TEST(ShapeTest, FiveDimsAreRefusedWithTheirNumber) {
  EXPECT_THAT([] { nchw({1, 2, 3, 4, 5}); }, ThrowsMessage<Error>(HasSubstr("has 5 dims; at most 4")));
}

TEST(ShapeTest, ShapesArePrintedWithCrosses) {
  EXPECT_EQ(to_string(Shape{1, 96, 16, 9}), "1x96x16x9");
  EXPECT_EQ(to_string(Shape{12}), "12");
  EXPECT_EQ(to_string(Shape{}), "");
}

TEST(ShapeTest, CoordinatesAreThoseOfRowMajorOrder) {
  const Shape shape{2, 3, 4};
  std::int64_t index = 0;
  for (std::int64_t i = 0; i < 2; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) {
      for (std::int64_t k = 0; k < 4; ++k) EXPECT_THAT(coordinates(shape, index++), ElementsAre(i, j, k));
    }
  }
}

TEST(ShapeTest, DivisionsRoundUp) {
  EXPECT_EQ(div_up(8, 4), 2);
  EXPECT_EQ(div_up(9, 4), 3);
  EXPECT_EQ(round_up(9, 4), 12);
  EXPECT_EQ(round_up(0, 4), 0);
}

template <class T>
double round_trip(T value) {
  HostTensor tensor(DTypeOf<T>::value, {3});
  tensor.as<T>()[1] = value;
  EXPECT_EQ(tensor.at(0), 0);
  EXPECT_EQ(tensor.at(2), 0);
  std::array<double, 2> widened{};
  tensor.widen(1, widened);
  EXPECT_EQ(widened[0], tensor.at(1));
  EXPECT_EQ(widened[1], 0);
  return tensor.at(1);
}

TEST(HostTensorTest, ElementsAreWidenedFromEveryDType) {
  EXPECT_EQ(round_trip<float>(-1.5F), -1.5);
  EXPECT_EQ(round_trip<Half>(to_half(0.25F)), 0.25);
  EXPECT_EQ(round_trip<std::int32_t>(-2147483647), -2147483647.0);
  EXPECT_EQ(round_trip<std::int16_t>(-32768), -32768.0);
  EXPECT_EQ(round_trip<std::int8_t>(-128), -128.0);
  EXPECT_EQ(round_trip<std::uint8_t>(255), 255.0);
  EXPECT_EQ(round_trip<double>(1e300), 1e300);
  EXPECT_EQ(round_trip<std::int64_t>(1LL << 40), 0x1p40);
}

TEST(HostTensorTest, ANewTensorHasTheBytesOfItsElements) {
  const HostTensor tensor(DType::F16, {2, 3});
  EXPECT_EQ(tensor.numel(), 6);
  EXPECT_EQ(tensor.bytes().size(), 12U);
  EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
}

TEST(HostTensorTest, AnUninitializedTensorHasThemToo) {
  HostTensor tensor = HostTensor::uninitialized(DType::I16, {2, 3});
  EXPECT_EQ(tensor.dtype(), DType::I16);
  EXPECT_EQ(tensor.bytes().size(), 12U);
  for (std::int16_t& value : tensor.as<std::int16_t>()) value = 3;
  const HostTensor copy = tensor;
  EXPECT_EQ(copy.at(5), 3);
  EXPECT_THROW(HostTensor::uninitialized(DType::F32, {-1}), Error);
}

TEST(HostTensorTest, ADefaultTensorIsEmpty) {
  const HostTensor tensor;
  EXPECT_EQ(tensor.numel(), 0);
  EXPECT_TRUE(tensor.bytes().empty());
  EXPECT_TRUE(tensor.as<float>().empty());
}

TEST(HostTensorTest, ReadingAsAnotherTypeIsAMistake) {
  HostTensor tensor(DType::I8, {4});
  EXPECT_NO_THROW(tensor.as<std::int8_t>());
  EXPECT_THROW(tensor.as<std::uint8_t>(), std::logic_error);
  EXPECT_THROW(std::as_const(tensor).as<float>(), std::logic_error);
}

TEST(HostTensorTest, WideningPastTheEndIsAMistake) {
  const HostTensor tensor(DType::F32, {3});
  std::array<double, 2> to{};
  EXPECT_THROW(tensor.widen(2, to), std::logic_error);
  EXPECT_THROW(tensor.widen(-1, to), std::logic_error);
  EXPECT_THROW(tensor.widen(4, std::span(to).first(0)), std::logic_error);
  EXPECT_NO_THROW(tensor.widen(3, std::span(to).first(0)));
}

TEST(HostTensorTest, AnElementPastTheEndIsAMistake) {
  const HostTensor tensor(DType::I8, {4});
  EXPECT_THROW(tensor.at(4), std::logic_error);
  EXPECT_THROW(tensor.at(-1), std::logic_error);
}

TEST(HostTensorTest, AnImpossibleShapeIsRefused) {
  EXPECT_THROW(HostTensor(DType::I8, {4, 0}), Error);
  EXPECT_THROW(HostTensor(DType::I8, {1LL << 41}), Error);
}

TEST(SameBytes, ComparesDtypesShapesAndEveryByte) {
  std::vector<HostTensor> a;
  a.emplace_back(DType::I16, Shape{2, 3});
  a.emplace_back(DType::F32, Shape{1});
  std::vector<HostTensor> b = a;
  EXPECT_TRUE(same_bytes(a, b));
  b[1].as<float>()[0] = -0.0F;
  EXPECT_FALSE(same_bytes(a, b));
  b[1] = HostTensor(DType::I32, {1});
  EXPECT_FALSE(same_bytes(a, b));
  b[1] = a[1];
  b[0] = HostTensor(DType::I16, {3, 2});
  EXPECT_FALSE(same_bytes(a, b));
  b.pop_back();
  EXPECT_FALSE(same_bytes(a, b));
}

TEST(SameBytes, OfARangeLooksAtNothingElse) {
  HostTensor a(DType::I16, {5});
  HostTensor b = a;
  b.as<std::int16_t>()[1] = 256;
  b.as<std::int16_t>()[4] = 1;
  EXPECT_TRUE(same_bytes(a, b, 2, 4));
  EXPECT_TRUE(same_bytes(a, b, 0, 1));
  EXPECT_FALSE(same_bytes(a, b, 1, 2));
  EXPECT_FALSE(same_bytes(a, b, 3, 5));
}

TEST(SameButForOnes, DimsOfOneDoNotCount) {
  EXPECT_TRUE(same_but_for_ones({64}, {64, 1, 1, 1}));
  EXPECT_TRUE(same_but_for_ones({1, 3, 1, 2}, {3, 2}));
  EXPECT_TRUE(same_but_for_ones({1}, {1, 1}));
  EXPECT_FALSE(same_but_for_ones({2, 3}, {3, 2}));
  EXPECT_FALSE(same_but_for_ones({6}, {2, 3}));
}

TEST(MayConvert, FloatsAsFloatsAndIntegersAsIntegers) {
  const std::vector<DType> floats = {DType::F16, DType::F32, DType::F64};
  const std::vector<DType> integers = {DType::I8, DType::U8, DType::I16, DType::I32, DType::I64};
  for (const DType from : floats) {
    for (const DType to : floats) EXPECT_TRUE(may_convert(from, to));
    for (const DType to : integers) EXPECT_FALSE(may_convert(from, to));
  }
  for (const DType from : integers) {
    for (const DType to : integers) EXPECT_TRUE(may_convert(from, to));
    for (const DType to : floats) EXPECT_FALSE(may_convert(from, to));
  }
}

TEST(Converted, DoublesThatAreFloatsAreTaken) {
  const HostTensor got = converted(row<double>({0.5, -3, 0x1p-149}), DType::F32, {3, 1});
  EXPECT_EQ(got.shape(), (Shape{3, 1}));
  EXPECT_THAT(got.as<float>(), ElementsAre(0.5F, -3.0F, 0x1p-149F));
  EXPECT_EQ(converted(row<double>({65504}), DType::F16, {1}).at(0), 65504);
}

TEST(Converted, InfinitiesNanAndSignedZeroAreKept) {
  const double inf = std::numeric_limits<double>::infinity();
  const HostTensor got = converted(row<double>({inf, -inf, std::nan(""), -0.0}), DType::F16, {4});
  EXPECT_EQ(got.at(0), inf);
  EXPECT_EQ(got.at(1), -inf);
  EXPECT_TRUE(std::isnan(got.at(2)));
  EXPECT_TRUE(std::signbit(got.at(3)));
}

TEST(Converted, TheFirstDoubleThatIsNoFloatIsNamed) {
  EXPECT_THAT(
      [] {
        converted(tensor<double>({2, 2}, {1, 2, 0.1, 0.2}), DType::F32, {2, 2});
      },
      ThrowsMessage<Error>(HasSubstr("holds 0.1 at [1, 0], which f32 cannot represent")));
  EXPECT_THROW(converted(row<double>({1e300}), DType::F32, {1}), Error);
  EXPECT_THROW(converted(row<double>({1 + 0x1p-11}), DType::F16, {1}), Error);
}

TEST(Converted, LongIntegersThatAreSmallAreTaken) {
  EXPECT_THAT(converted(row<std::int64_t>({-128, 127}), DType::I8, {2}).as<std::int8_t>(),
              ElementsAre(-128, 127));
  EXPECT_THAT(converted(row<std::int64_t>({-2147483648, 5}), DType::I32, {2}).as<std::int32_t>(),
              ElementsAre(-2147483648, 5));
}

TEST(Converted, TheFirstIntegerBeyondIsNamedInFull) {
  EXPECT_THAT(
      [] {
        converted(row<std::int64_t>({1, 128}), DType::I8, {2});
      },
      ThrowsMessage<Error>(HasSubstr("holds 128 at [1], which i8 cannot represent")));
  EXPECT_THAT([] { converted(row<std::int64_t>({9007199254740993}), DType::I32, {1}); },
              ThrowsMessage<Error>(HasSubstr("holds 9007199254740993 at")));
  EXPECT_THROW(converted(row<std::int64_t>({-1}), DType::U8, {1}), Error);
}

TEST(Converted, NarrowIntegersBecomeWiderOnes) {
  EXPECT_THAT(converted(row<std::int8_t>({-128, 127}), DType::I32, {2}).as<std::int32_t>(),
              ElementsAre(-128, 127));
  EXPECT_THAT(converted(row<std::uint8_t>({0, 255}), DType::I16, {2}).as<std::int16_t>(),
              ElementsAre(0, 255));
  EXPECT_THAT(converted(row<std::int16_t>({-32768, 7}), DType::I64, {2}).as<std::int64_t>(),
              ElementsAre(-32768, 7));
}

TEST(Converted, IntegersOfAnotherSignAreTakenWhereTheyFit) {
  EXPECT_THAT(converted(row<std::int8_t>({0, 127}), DType::U8, {2}).as<std::uint8_t>(), ElementsAre(0, 127));
  EXPECT_THAT(
      [] {
        converted(row<std::int8_t>({5, -1}), DType::U8, {2});
      },
      ThrowsMessage<Error>(HasSubstr("holds -1 at [1], which u8 cannot represent")));
  EXPECT_THAT([] { converted(row<std::uint8_t>({200}), DType::I8, {1}); },
              ThrowsMessage<Error>(HasSubstr("holds 200 at [0], which i8 cannot represent")));
  EXPECT_THAT([] { converted(row<std::int32_t>({128}), DType::I8, {1}); },
              ThrowsMessage<Error>(HasSubstr("holds 128 at [0], which i8 cannot represent")));
}

TEST(Converted, FloatsAreTakenAsHalvesWhereTheyAreTheSame) {
  EXPECT_EQ(converted(row<float>({0.5F, 65504, 0x1p-24F}), DType::F16, {3}).at(2), 0x1p-24);
  EXPECT_THAT(
      [] {
        converted(row<float>({1, 0.1F}), DType::F16, {2});
      },
      ThrowsMessage<Error>(HasSubstr("at [1], which f16 cannot represent")));
  EXPECT_THROW(converted(row<float>({65520}), DType::F16, {1}), Error) << "it rounds to infinity";
}

TEST(Converted, EveryHalfIsAFloat) {
  std::vector<Half> halves(65536);
  for (std::size_t i = 0; i < halves.size(); ++i) halves[i].bits = static_cast<std::uint16_t>(i);
  const HostTensor tensor = row<Half>(halves);
  const HostTensor got = converted(tensor, DType::F32, {65536});
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    if (std::isnan(tensor.at(i))) {
      ASSERT_TRUE(std::isnan(got.at(i))) << i;
    } else {
      ASSERT_EQ(got.at(i), tensor.at(i)) << i;
    }
  }
}

TEST(Converted, RefusesWhatCannotBe) {
  EXPECT_THROW(converted(row<float>({1}), DType::I8, {1}), std::logic_error);
  EXPECT_THROW(converted(row<double>({1, 2}), DType::F32, {3}), std::logic_error);
}

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
