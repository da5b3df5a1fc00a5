#include "references/convolution/conv2d_q8csw.h"

#include "references/convolution/convolution_rows.h"
#include "references/linear/linear_real.h"

#include <algorithm>

namespace assay::references {
namespace {

RealRows rows_of_x(const Convolution& conv, const Patches& patches, const std::vector<float>& x,
                   std::int64_t group) {
  return {conv.pixels_of_y(), conv.depth(),
          [&, group](std::int64_t pixel, std::int64_t first, std::int64_t last, double* to) {
            patches.read(x, group, pixel, first, last, to);
          }};
}

/// The products of one group; `w` has the rows of all groups.
RealRows rows_of_w(const Convolution& conv, const IntegerRows& w, std::int64_t group) {
  return {conv.outputs_of_group(), w.depth,
          [&w, first_row = group * conv.outputs_of_group()](std::int64_t n, std::int64_t first,
                                                            std::int64_t last, double* to) {
            const std::int16_t* row = w.row(first_row + n);
            std::copy(row + first, row + last, to);
          }};
}

}  // namespace

std::vector<Expected> conv2d_q8csw(const Params& params, std::span<const HostTensor> inputs) {
  const Convolution conv = convolution_params(params, any_depth);
  const Linear linear = conv.linear_of_group();
  const std::vector<float> x = channels_last(conv, inputs[0]);
  const IntegerRows w = weight_rows(conv, inputs[1]);
  const Patches patches(conv);
  const std::span<const float> w_scale = inputs[2].as<float>();
  const std::vector<double> scale(w_scale.begin(), w_scale.end());
  const RealEpilogue epilogue{linear, scale, bias_of(linear, inputs)};
  BoundedOutput y(conv.real, conv.y_shape());
  for (std::int64_t group = 0; group < conv.groups; ++group) {
    real_products(rows_of_x(conv, patches, x, group), rows_of_w(conv, w, group),
                  [&](std::int64_t m, std::int64_t n, double sum, double magnitude) {
                    const std::int64_t channel = group * linear.n + n;
                    epilogue.set(y, patches.index_in_y(m, channel), channel, sum, magnitude);
                  });
  }
  return {y.take()};
}

}  // namespace assay::references
