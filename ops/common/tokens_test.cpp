#include "ops/common/tokens.h"

#include <gtest/gtest.h>

namespace assay::ops {
namespace {

Params of_shape(std::vector<std::int64_t> shape) {
  Params params;
  params.set("shape", std::move(shape));
  return params;
}

TEST(TokensOfShape, AreItsLinesAlongTheLastDim) {
  EXPECT_EQ(tokens_of_shape(of_shape({2, 3, 4096})), 6);
  EXPECT_EQ(tokens_of_shape(of_shape({1, 4096})), 1);
  EXPECT_EQ(tokens_of_shape(of_shape({4096})), 1) << "one line";
}

}  // namespace
}  // namespace assay::ops
