#include "harness/base/error.h"
#include "harness/tensor/fill/fill_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace assay {
namespace {

using namespace test;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(FillIntegerTest, IntegerDataStayInTheirRangeForEveryFill) {
  for (const DType dtype : integer_dtypes) {
    for (const FillKind kind : all_kinds) {
      for (const FillDomain domain :
           {FillDomain{.lo = 0, .hi = 15}, {.lo = 1, .hi = 1}, {.lo = 5, .hi = 100}}) {
        const std::vector<double> all = values(dtype, kind, domain, 3000);
        ASSERT_GE(std::ranges::min(all), domain.lo) << name_of(dtype) << " " << name_of(kind);
        ASSERT_LE(std::ranges::max(all), domain.hi) << name_of(dtype) << " " << name_of(kind);
      }
    }
  }
}

TEST(FillIntegerTest, NegativeRangesAreKeptToo) {
  for (const DType dtype : {DType::I32, DType::I16, DType::I8}) {
    for (const FillKind kind : all_kinds) {
      const std::vector<double> all = values(dtype, kind, {.lo = -100, .hi = -7}, 3000);
      ASSERT_GE(std::ranges::min(all), -100) << name_of(kind);
      ASSERT_LE(std::ranges::max(all), -7) << name_of(kind);
    }
  }
}

TEST(FillIntegerTest, NoRangeMeansTheWholeDType) {
  for (const DType dtype : {DType::I8, DType::U8}) {
    const std::vector<double> all = values(dtype, FillKind::Uniform);
    EXPECT_EQ(std::ranges::min(all), lowest(dtype));
    EXPECT_EQ(std::ranges::max(all), highest(dtype));
  }
  const std::vector<double> words = values(DType::I32, FillKind::Uniform);
  EXPECT_LT(std::ranges::min(words), -2.1e9);
  EXPECT_GT(std::ranges::max(words), 2.1e9);
}

TEST(FillIntegerTest, NormalIntegersFormABellAroundTheMiddle) {
  const std::vector<double> all = values(DType::I8, FillKind::Normal);
  EXPECT_NEAR(mean(all), -0.5, 1);
  EXPECT_NEAR(deviation(all), 256.0 / 6, 1);
  const std::vector<double> words = values(DType::I32, FillKind::Normal);
  EXPECT_NEAR(deviation(words), 0x1p32 / 6, 0x1p32 / 100);
}

TEST(FillIntegerTest, HalfOfTheSaturatingIntegersLieAtTheEnds) {
  const std::vector<double> all = values(DType::I32, FillKind::Saturate, {.lo = -1000, .hi = 1000});
  EXPECT_NEAR(share(all, [](double x) { return x == -1000; }), 0.25, 0.02);
  EXPECT_NEAR(share(all, [](double x) { return x == 1000; }), 0.25, 0.02);
}

TEST(FillIntegerTest, OutlierIntegersAreSmallButForAFewAtTheEnds) {
  const std::vector<double> all = values(DType::I8, FillKind::Outlier);
  EXPECT_NEAR(share(all, [](double x) { return x == -128 || x == 127; }), 1.0 / 64, 0.004);
  EXPECT_EQ(share(all, [](double x) { return std::abs(x) > 4 && x != -128 && x != 127; }), 0);
  EXPECT_NEAR(share(values(DType::U8, FillKind::Outlier), [](double x) { return x == 255; }), 1.0 / 64,
              0.004);
}

TEST(FillIntegerTest, ConstantIntegersAreTheValueOrNextToTheMiddle) {
  EXPECT_THAT(values(DType::U8, FillKind::Constant, {.lo = 0, .hi = 15}, 2), ElementsAre(8, 8));
  const FillSpec fill{.kind = FillKind::Constant, .value = 3};
  EXPECT_THAT(values(make_filled(DType::I8, {2}, fill, {}, key)), ElementsAre(3, 3));
}

TEST(FillIntegerTest, AConstantThatIsNoIntegerOfTheRangeIsRefused) {
  for (const double value : {16.0, -1.0, 2.5, std::nan("")}) {
    const FillSpec fill{.kind = FillKind::Constant, .value = value};
    EXPECT_THAT([&] { make_filled(DType::U8, {2}, fill, {.lo = 0, .hi = 15}, key); },
                ThrowsMessage<Error>(HasSubstr("must be an integer between 0 and 15")))
        << value;
  }
}

TEST(FillIntegerTest, ARangeThatTheDTypeCannotHoldIsRefused) {
  for (const FillDomain domain :
       {FillDomain{.lo = 0, .hi = 256}, {.lo = -1, .hi = 5}, {.lo = 5, .hi = 4}, {.lo = 0.5, .hi = 4}}) {
    EXPECT_THAT([&] { filled(DType::U8, FillKind::Uniform, domain, 4); },
                ThrowsMessage<Error>(HasSubstr("is not a range of its integers")));
  }
}

TEST(FillIntegerTest, ZeroPointsStayInTheirRangeForEveryFillAndDType) {
  const FillDomain domain{FillRole::ZeroPoint, 0, 15};
  for (const FillKind kind : all_kinds) {
    for (const DType dtype : {DType::F32, DType::F16, DType::I32, DType::I16, DType::I8, DType::U8}) {
      const std::vector<double> all = values(dtype, kind, domain, 3000);
      ASSERT_GE(std::ranges::min(all), 0) << name_of(kind);
      ASSERT_LE(std::ranges::max(all), 15) << name_of(kind);
      if (kind != FillKind::Zero && kind != FillKind::Constant) {
        ASSERT_EQ(std::ranges::min(all), 0);
        ASSERT_EQ(std::ranges::max(all), 15);
      }
    }
  }
}

TEST(FillIntegerTest, ZeroPointsAreNeverAllZeroUnlessAskedFor) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    for (const DType dtype : {DType::I32, DType::F32}) {
      for (const FillDomain& domain : {FillDomain{FillRole::ZeroPoint, 0, 1}, {FillRole::ZeroPoint, -1, 0}}) {
        ASSERT_NE(make_filled(dtype, {1}, {}, domain, {seed, 0, 0}).at(0), 0);
      }
    }
  }
  EXPECT_THAT(values(DType::I32, FillKind::Zero, {FillRole::ZeroPoint, -8, 7}, 2), ElementsAre(0, 0));
  EXPECT_THAT(values(DType::I32, FillKind::Zero, {FillRole::ZeroPoint, 3, 7}, 2), ElementsAre(3, 3));
  EXPECT_THAT(values(DType::I32, FillKind::Normal, {FillRole::ZeroPoint, 0, 0}, 2), ElementsAre(0, 0));
}

TEST(FillIntegerTest, ConstantZeroPointsAreTheValueOrThree) {
  EXPECT_THAT(values(DType::I32, FillKind::Constant, {FillRole::ZeroPoint, -8, 7}, 1), ElementsAre(3));
  EXPECT_THAT(values(DType::I32, FillKind::Constant, {FillRole::ZeroPoint, 0, 2}, 1), ElementsAre(2));
  EXPECT_THAT(values(DType::F32, FillKind::Constant, {FillRole::ZeroPoint, -8, 7}, 1), ElementsAre(3));
  const FillSpec fill{.kind = FillKind::Constant, .value = 9};
  for (const DType dtype : {DType::I32, DType::F32}) {
    EXPECT_THROW(make_filled(dtype, {1}, fill, {FillRole::ZeroPoint, -8, 7}, key), Error);
  }
}

TEST(FillIntegerTest, IndicesCoverTheirRange) {
  for (const FillKind kind : all_kinds) {
    const std::vector<double> all = values(DType::I32, kind, {FillRole::Index, 0, 99}, 5000);
    ASSERT_GE(std::ranges::min(all), 0);
    ASSERT_LE(std::ranges::max(all), 99);
    if (kind != FillKind::Zero && kind != FillKind::Constant) {
      ASSERT_EQ(std::set<double>(all.begin(), all.end()).size(), 100U) << name_of(kind);
    }
  }
  EXPECT_THAT(values(DType::I32, FillKind::Normal, {FillRole::Index, 0, 0}, 2), ElementsAre(0, 0));
}

}  // namespace
}  // namespace assay
