#include "references/elementwise/add.h"

#include "references/transformer/golden_reals_test_support.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace assay::references {
namespace {

using namespace test;

Expected sums(DType dtype, const std::vector<double>& a, const std::vector<double>& b) {
  const Shape shape{static_cast<std::int64_t>(a.size())};
  Params params;
  params.set("shape", shape);
  params.set("dtype", std::string(name_of(dtype)));
  return add(params, std::vector<HostTensor>{real_tensor(dtype, shape, a), real_tensor(dtype, shape, b)})[0];
}

TEST(Add, RoundsOnceToTheTypeOfY) {
  const Expected single = sums(DType::F32, {1, 1, 3}, {0x1p-24, 0x1.8p-24, -5});
  EXPECT_EQ(single.values.at(0), 1) << "a tie";
  EXPECT_EQ(single.values.at(1), 1 + 0x1p-23);
  EXPECT_EQ(single.values.at(2), -2);
  EXPECT_LE(single.bound[2], 0x1p-123F);
  const Expected half = sums(DType::F16, {1, 65504}, {0x1.8p-11, 65504});
  EXPECT_EQ(half.values.at(0), 1 + 0x1p-10);
  EXPECT_FLOAT_EQ(half.bound[0], 0x1p-10F) << "stores may be rounded either way";
  EXPECT_TRUE(std::isinf(half.values.at(1)));
}

}  // namespace
}  // namespace assay::references
