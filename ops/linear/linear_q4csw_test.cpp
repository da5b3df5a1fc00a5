#include "harness/base/error.h"
#include "ops/linear/linear_test_support.h"

#include <gmock/gmock.h>

// linear_q4csw is linear_q4gsw whose groups are all of K.

namespace assay::ops {
namespace {

using namespace test;

class LinearQ4cswTest : public LinearTest {
 protected:
  Params by_channel(const Sizes& sizes) const { return params_of(op_of("linear_q4csw"), sizes); }
};

TEST_F(LinearQ4cswTest, ItsProgramsAreThoseOfOneGroup) {
  for (const std::string impl : {"tiled", "gemv", "coopmat"}) {
    const Sizes sizes{5, 72, 13, {}, "f16"};
    const Trial one = trial_of(op_of("linear_q4csw"), impl, sizes);
    EXPECT_FALSE(one.params.has("group_size"));
    EXPECT_EQ(program_of(one).dispatches.back().push,
              program_of(trial_of(op_of("linear_q4gsw"), impl, sizes, 72)).dispatches.back().push)
        << impl;
    expect_right(one);
  }
}

TEST_F(LinearQ4cswTest, AChannelHasOneScale) {
  const std::vector<TensorSpec> tensors = op_of("linear_q4csw").tensors(by_channel({3, 24, 10}));
  EXPECT_EQ(tensors[1].shape, (Shape{10, 12}));
  EXPECT_EQ(tensors[2].name, "w_scale");
  EXPECT_EQ(tensors[2].shape, (Shape{10}));
}

TEST_F(LinearQ4cswTest, RowsOfWeightsAreWholeWords) {
  const Params params = by_channel({3, 20, 10});
  EXPECT_THAT(
      [&] { op_of("linear_q4csw").tensors(params); },
      testing::ThrowsMessage<ParameterError>(testing::HasSubstr("K is 20, but must be a multiple of 8")));
}

}  // namespace
}  // namespace assay::ops
