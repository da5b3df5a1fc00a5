#include "references/relayout/clone.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay::references {
namespace {

TEST(Clone, IsItsInputBitByBit) {
  HostTensor x(DType::F32, {1, 2, 2});
  const std::vector<float> values{-0.0F, 1e-45F, 3e38F, 0.1F};
  std::copy(values.begin(), values.end(), x.as<float>().begin());
  const std::vector<Expected> outputs = clone({}, std::vector{x});
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_TRUE(outputs[0].bound.empty());
  const HostTensor& y = outputs[0].values;
  EXPECT_EQ(y.shape(), x.shape());
  EXPECT_TRUE(std::equal(y.bytes().begin(), y.bytes().end(), x.bytes().begin(), x.bytes().end()));
}

}  // namespace
}  // namespace assay::references
