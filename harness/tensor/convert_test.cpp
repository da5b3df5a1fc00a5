#include "harness/tensor/convert.h"

#include "harness/base/error.h"
#include "tests/support/tensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace assay {
namespace {

using test::row;
using test::tensor;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

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

}  // namespace
}  // namespace assay
