#include "references/pixel_shuffle/pixel_shuffle.h"

#include "harness/base/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace assay::references {
namespace {

/// The answer for every int8 value, by its bits: requantization has only 256 possible inputs.
using Table = std::array<std::int8_t, 256>;

std::int8_t requantize(std::int32_t q, const QParams& x, const QParams& y) {
  const float inverse = 1.0f / y.scale;
  const float real = static_cast<float>(q - x.zero_point) * x.scale;
  const float moved = std::nearbyint(real * inverse) + static_cast<float>(y.zero_point);
  return static_cast<std::int8_t>(std::clamp(moved, -128.0f, 127.0f));
}

Table requantization(const QParams& x, const QParams& y) {
  Table table{};
  for (std::int32_t q = -128; q <= 127; ++q) {
    table[static_cast<std::uint8_t>(q)] = x == y ? static_cast<std::int8_t>(q) : requantize(q, x, y);
  }
  return table;
}

template <class T>
void shuffle(const HostTensor& x, std::int64_t r, HostTensor& y) {
  shuffle_pixels(nchw(x.shape()), r, x.as<T>().data(), y.as<T>().data(), [](T value) { return value; });
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
  const Table table = requantization(params.qparams("x"), params.qparams("y"));
  shuffle_pixels(in, r, inputs[0].as<std::int8_t>().data(), outputs[0].values.as<std::int8_t>().data(),
                 [&](std::int8_t q) { return table[static_cast<std::uint8_t>(q)]; });
  return outputs;
}

std::vector<Expected> pixel_shuffle(const Params& params, std::span<const HostTensor> inputs) {
  const std::int64_t r = params.integer("upscale_factor");
  const HostTensor& x = inputs[0];
  std::vector<Expected> outputs(1);
  HostTensor& y = outputs[0].values;
  y = HostTensor(x.dtype(), pixel_shuffled(x.shape(), r));
  if (x.dtype() == DType::F16) {
    shuffle<Half>(x, r, y);
  } else {
    shuffle<float>(x, r, y);
  }
  return outputs;
}

}  // namespace assay::references
