#pragma once

// Parameters, awkward sizes and sums by plain loops, for the tests of convolutions.

#include "harness/op/params.h"
#include "harness/tensor/tensor.h"
#include "references/golden/golden_test_support.h"

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace assay::test {

using Pair = std::array<std::int64_t, 2>;  ///< along the height and the width

struct ConvolutionSizes {
  std::int64_t n = 1, c = 1, h = 1, w = 1, oc = 1;
  Pair kernel{1, 1}, stride{1, 1}, padding{0, 0}, dilation{1, 1};
  std::int64_t groups = 1;
  std::optional<Pair> padding_end{};     ///< below x and to its right; the same as `padding` unless given
  std::optional<Pair> output_padding{};  ///< for transposed convolutions
};

/// Parameters of these sizes: f32, no bias, no activation, epilogue float32, x and y of scale 1 and zero
/// point 0.
Params convolution_case(const ConvolutionSizes& sizes);
/// Parameters of a golden vector: bias where it has one, x and y where it has scales for them.
Params convolution_case(const Golden& golden);

/// Sizes with channels that do not fill words of four, several images, differences between height and width,
/// kernels larger than x, lines, and depthwise ones.
std::vector<ConvolutionSizes> awkward_sizes();
std::vector<ConvolutionSizes> awkward_transposed_sizes();

/// The inputs: x of this dtype, w, w_scale and, if the parameter says so, bias.
std::vector<HostTensor> convolution_inputs(const Params& params, DType x, std::mt19937& random);

/// The sums of x * w and of |x||w|, by one loop per dim.
struct PlainSums {
  Shape shape;  ///< shape of y
  std::vector<double> sums, magnitudes;

  /// The output channel of an element.
  std::int64_t channel_of(std::int64_t element) const { return element / (shape[2] * shape[3]) % shape[1]; }
};

/// Computes them. `x`: real values, or integers minus their zero point. Transposed convolutions add each
/// value of x to the pixels of y that it reaches.
PlainSums plain_sums(const Params& params, const std::vector<double>& x, const HostTensor& w);

}  // namespace assay::test
