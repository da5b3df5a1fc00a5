#pragma once

#include "harness/base/parallel.h"
#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace assay::references {

/// One row of the input of a pixel shuffle, which becomes every r-th pixel of an output line.
struct InputRow {
  std::int64_t from = 0;  ///< row-major index of its first element in the input
  std::int64_t to = 0;    ///< row-major index in the output of the pixel it becomes
};

/// The input row that gives pixels place, place + r, place + 2r, ... of the output's line (n, c, oh); lines
/// are counted in row-major order. `in`: dims of the input.
inline InputRow input_row_of(const Dims& in, std::int64_t r, std::int64_t line, std::int64_t place) {
  const std::int64_t out_h = in.h * r;
  const std::int64_t oh = line % out_h;
  const std::int64_t plane = line / out_h;  // n * C_out + c; times r*r it is n * C_in + c * r*r
  const std::int64_t in_plane = plane * r * r + oh % r * r + place;
  return {(in_plane * in.h + oh / r) * in.w, line * in.w * r + place};
}

/// y[n, c, oh, ow] = value(x[n, c*r*r + (oh%r)*r + ow%r, oh/r, ow/r]), x and y row-major.
template <class T, class Value>
void shuffle_pixels(const Dims& in, std::int64_t r, const T* x, T* y, Value value) {
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / (in.w * r));
  parallel_for(in.n * in.c / r * in.h, grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t line = first; line < last; ++line) {
      for (std::int64_t place = 0; place < r; ++place) {
        const InputRow row = input_row_of(in, r, line, place);
        for (std::int64_t w = 0; w < in.w; ++w) y[row.to + w * r] = value(x[row.from + w]);
      }
    }
  });
}

/// The output shape {n, c/(r*r), h*r, w*r}. Throws ParameterError on "shape" where r*r does not divide c.
Shape pixel_shuffled(const Shape& shape, std::int64_t upscale_factor);

/// y[n, c, oh, ow] = x[n, c*r*r + (oh%r)*r + ow%r, oh/r, ow/r], int8, each value requantized from the
/// parameter x to y: clamp(roundEven(((q - x.zero_point) * x.scale) * fl32(1 / y.scale)) + y.zero_point),
/// each step in float32; unchanged where x and y are equal. Exact. `inputs`: x.
std::vector<Expected> q8ta_pixel_shuffle(const Params& params, std::span<const HostTensor> inputs);

/// y[n, c, oh, ow] = x[n, c*r*r + (oh%r)*r + ow%r, oh/r, ow/r], f32 or f16; r is the parameter
/// upscale_factor. The shape of y is pixel_shuffled() of references/pixel_shuffle/pixel_shuffle.h.
/// Exact. `inputs`: x.
std::vector<Expected> pixel_shuffle(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
