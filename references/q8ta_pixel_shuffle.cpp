#include "references/q8ta_pixel_shuffle.h"

#include "harness/core/error.h"
#include "harness/core/parallel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace assay::references {
namespace {

/// The answer for every int8 value, by its bits: requantisation knows only 256 inputs.
using Table = std::array<std::int8_t, 256>;

std::int8_t requantise(std::int32_t q, const QParams& x, const QParams& y) {
  const float inverse = 1.0f / y.scale;
  const float real = static_cast<float>(q - x.zero_point) * x.scale;
  const float moved = std::nearbyint(real * inverse) + static_cast<float>(y.zero_point);
  return static_cast<std::int8_t>(std::clamp(moved, -128.0f, 127.0f));
}

Table requantisation(const QParams& x, const QParams& y) {
  Table table{};
  for (std::int32_t q = -128; q <= 127; ++q) {
    table[static_cast<std::uint8_t>(q)] = x == y ? static_cast<std::int8_t>(q) : requantise(q, x, y);
  }
  return table;
}

/// Where one line of the output (n, c, oh) comes from.
struct LineSource {
  std::int64_t first = 0;         ///< index of the input element that gives ow = 0
  std::int64_t channel_step = 0;  ///< from the channel of ow to that of ow + 1
};

LineSource source_of_line(const Dims& in, std::int64_t r, std::int64_t line) {
  const std::int64_t out_h = in.h * r;
  const std::int64_t oh = line % out_h;
  const std::int64_t plane = line / out_h;  // n * C_out + c; times r*r it is n * C_in + c * r*r
  const std::int64_t in_plane = plane * r * r + oh % r * r;
  return {(in_plane * in.h + oh / r) * in.w, in.h * in.w};
}

}  // namespace

Shape pixel_shuffled(const Shape& shape, std::int64_t upscale_factor) {
  const Dims in = nchw(shape);
  const std::int64_t r = upscale_factor;
  if (in.c % (r * r) != 0) {
    throw ParameterError("shape", "shape " + to_string(shape) + " has " + std::to_string(in.c) +
                                      " channels, which upscale_factor " + std::to_string(r) + " squared (" +
                                      std::to_string(r * r) + ") does not divide");
  }
  return {in.n, in.c / (r * r), in.h * r, in.w * r};
}

std::vector<Expected> q8ta_pixel_shuffle(const Params& params, std::span<const HostTensor> inputs) {
  const std::int64_t r = params.integer("upscale_factor");
  const Dims in = nchw(params.ints("shape"));
  std::vector<Expected> outputs(1);
  outputs[0].values = HostTensor(DType::I8, pixel_shuffled(params.ints("shape"), r));
  const Table table = requantisation(params.qparams("x"), params.qparams("y"));
  const std::int8_t* x = inputs[0].as<std::int8_t>().data();
  std::int8_t* y = outputs[0].values.as<std::int8_t>().data();
  const std::int64_t width = in.w * r;
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / width);
  parallel_for(in.n * in.c / r * in.h, grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t line = first; line < last; ++line) {
      const LineSource source = source_of_line(in, r, line);
      for (std::int64_t j = 0; j < r; ++j) {
        const std::int8_t* from = x + source.first + j * source.channel_step;
        std::int8_t* to = y + line * width + j;
        for (std::int64_t w = 0; w < in.w; ++w) to[w * r] = table[static_cast<std::uint8_t>(from[w])];
      }
    }
  });
  return outputs;
}

}  // namespace assay::references
