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

TEST(FillScaleTest, ScalesStayInTheirRangeForEveryFill) {
  const FillDomain domains[] = {{FillRole::Scale, 0.001, 0.5},
                                {FillRole::Scale, 0.03, 0.04},
                                {FillRole::Scale, 0.125, 0.125},
                                {FillRole::Scale, 3, 900}};
  for (const FillKind kind : all_kinds) {
    for (const FillDomain& domain : domains) {
      for (const double scale : values(DType::F32, kind, domain, 3000)) {
        ASSERT_GE(scale, static_cast<float>(domain.lo)) << name_of(kind);
        ASSERT_LE(scale, static_cast<float>(domain.hi)) << name_of(kind);
      }
    }
  }
}

TEST(FillScaleTest, ScalesAreFiniteAndAboveZeroForEveryFillAndDType) {
  const FillDomain domains[] = {
      {FillRole::Scale, 0, 0}, {FillRole::Scale, 1e-9, 0}, {FillRole::Scale, 1, 1e6}};
  for (const FillKind kind : all_kinds) {
    for (const DType dtype : float_dtypes) {
      for (const FillDomain& domain : domains) {
        for (const double scale : values(dtype, kind, domain, 3000)) {
          ASSERT_TRUE(std::isfinite(scale) && scale > 0) << name_of(kind) << " " << name_of(dtype);
        }
      }
    }
  }
}

TEST(FillScaleTest, ScalesSpreadOverTheOctavesOfTheirRange) {
  const std::vector<double> all = values(DType::F32, FillKind::Normal, {.role = FillRole::Scale});
  for (int exponent = -8; exponent < -2; ++exponent) {
    EXPECT_NEAR(share(all, [&](double s) { return std::ilogb(s) == exponent; }), 1.0 / 6, 0.02) << exponent;
  }
}

TEST(FillScaleTest, TieScalesArePowersOfTwo) {
  const std::vector<double> all = values(DType::F32, FillKind::Ties, {.role = FillRole::Scale});
  EXPECT_EQ(std::set<double>(all.begin(), all.end()), (std::set<double>{0x1p-4, 0x1p-3, 0x1p-2}));
  const std::vector<double> small = values(DType::F32, FillKind::Ties, {FillRole::Scale, 0.001, 0.01});
  EXPECT_EQ(std::set<double>(small.begin(), small.end()), (std::set<double>{0x1p-7}));
}

TEST(FillScaleTest, WideScalesGoPastTheDefaultRangeAndSaturatingOnesAreSmall) {
  const std::vector<double> wide = values(DType::F32, FillKind::Wide, {.role = FillRole::Scale});
  EXPECT_LT(std::ranges::min(wide), 0x1p-11);
  EXPECT_GT(std::ranges::max(wide), 8);
  const std::vector<double> small = values(DType::F32, FillKind::Saturate, {.role = FillRole::Scale});
  EXPECT_LE(std::ranges::max(small), 0x1p-6);
}

TEST(FillScaleTest, ConstantScalesAreTheValueOrASixteenth) {
  const FillDomain domain{.role = FillRole::Scale};
  EXPECT_THAT(values(DType::F32, FillKind::Constant, domain, 2), ElementsAre(0.0625, 0.0625));
  EXPECT_THAT(values(DType::F32, FillKind::Zero, domain, 2), ElementsAre(0.0625, 0.0625));
  const FillSpec fill{.kind = FillKind::Constant, .value = 0.5};
  EXPECT_THAT(values(make_filled(DType::F32, {1}, fill, domain, key)), ElementsAre(0.5));
}

TEST(FillScaleTest, AConstantScaleThatIsNotFiniteAndAboveZeroIsRefused) {
  for (const double value : {0.0, -1.0, 1e-60, 1e60, std::nan("")}) {
    const FillSpec fill{.kind = FillKind::Constant, .value = value};
    EXPECT_THAT([&] { make_filled(DType::F32, {2}, fill, {.role = FillRole::Scale}, key); },
                ThrowsMessage<Error>(HasSubstr("a scale must be finite and greater than 0")))
        << value;
  }
}

TEST(FillScaleTest, ARangeOfScalesWithoutAnyIsRefused) {
  for (const FillDomain& domain : {FillDomain{FillRole::Scale, -1, 1},
                                   {FillRole::Scale, 2, 1},
                                   {FillRole::Scale, 1e60, 1e70},
                                   {FillRole::Scale, std::nan(""), 1}}) {
    EXPECT_THROW(filled(DType::F32, FillKind::Normal, domain, 4), Error);
  }
}

TEST(FillScaleTest, FloatZeroPointsLieOnSixteenths) {
  const std::vector<double> all = values(DType::F32, FillKind::Normal, {FillRole::ZeroPoint, -1, 1});
  EXPECT_EQ(std::set<double>(all.begin(), all.end()).size(), 33U);
  for (const double zero_point : all) ASSERT_EQ(zero_point * 16, std::floor(zero_point * 16));
  const std::vector<double> narrow =
      values(DType::F32, FillKind::Normal, {FillRole::ZeroPoint, 0.01, 0.02}, 3);
  EXPECT_THAT(narrow, testing::Each(static_cast<double>(0.01F)));
}

TEST(FillScaleTest, ARangeOfFloatZeroPointsWithoutAnyIsRefused) {
  EXPECT_THROW(filled(DType::F32, FillKind::Normal, {FillRole::ZeroPoint, 1, 0}, 4), Error);
  EXPECT_THROW(filled(DType::F32, FillKind::Normal, {FillRole::ZeroPoint, 0, 1e30}, 4), Error);
}

}  // namespace
}  // namespace assay
