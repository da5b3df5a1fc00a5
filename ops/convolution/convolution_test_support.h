#pragma once

// Parameters and trials that the tests of the convolutions share.

#include "ops/linear/linear_test_support.h"

#include <string>
#include <vector>

namespace assay::test {

using Pair = std::vector<std::int64_t>;

/// The sizes of a convolution. An op that fixes a parameter accepts only its own value of it.
struct ConvolutionSizes {
  std::int64_t n = 1, c = 8, h = 6, w = 7, oc = 8;
  Pair kernel{3, 3}, stride{1, 1}, padding{1, 1}, dilation{1, 1};
  Pair output_padding{0, 0};  ///< where the op has it
  std::int64_t groups = 1;
  std::string dtype = {};  ///< dtype of real x and y, where the op has that parameter; empty: its default
};

class ConvolutionTest : public LinearTest {
 protected:
  /// Parameters of these sizes. Where x has qparams, they are typical ones with a zero point other than 0.
  static Params params_of(const Op& op, const ConvolutionSizes& sizes);
  /// A trial with every tensor in its first form.
  Trial trial_of(const std::string& op, const std::string& impl, const ConvolutionSizes& sizes) const;
};

}  // namespace assay::test
