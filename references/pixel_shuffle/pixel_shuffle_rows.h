#pragma once

#include "harness/base/parallel.h"
#include "harness/tensor/shape.h"

#include <algorithm>
#include <cstdint>

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

}  // namespace assay::references
