#include "references/elementwise/elementwise.h"

#include "harness/base/error.h"
#include "harness/base/parallel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace assay::references {
namespace {

std::int8_t rectify(std::int32_t q, const QParams& x, const QParams& y) {
  const float inverse = 1.0F / y.scale;
  const float real = static_cast<float>(q - x.zero_point) * x.scale;
  const float rectified = std::max(real, 0.0F);
  const float moved = std::nearbyint(rectified * inverse) + static_cast<float>(y.zero_point);
  return static_cast<std::int8_t>(std::clamp(moved, -128.0F, 127.0F));
}

/// The term that an operand adds to the sum, for every q by its bits.
using Terms = std::array<float, 256>;

Terms terms_of(const QParams& from, float factor) {
  Terms terms{};
  for (std::int32_t q = -128; q <= 127; ++q) {
    const float real = static_cast<float>(q - from.zero_point) * from.scale;
    terms[static_cast<std::uint8_t>(q)] = factor * real;
  }
  return terms;
}

std::int8_t quantize(float sum, float inverse, float zero_point) {
  const float moved = std::nearbyint(sum * inverse) + zero_point;
  return static_cast<std::int8_t>(std::clamp(moved, -128.0F, 127.0F));
}

/// One operand as seen from y: the distances between its values along N, C, H, W of y; 0 where it is
/// broadcast.
struct Operand {
  const std::int8_t* values;
  Terms terms;
  std::array<std::int64_t, 4> steps{};

  Operand(const HostTensor& tensor, const Dims& y, Terms all_terms)
      : values(tensor.as<std::int8_t>().data()), terms(all_terms) {
    const Dims own = nchw(tensor.shape());
    steps = {own.n == y.n ? own.c * own.h * own.w : 0, own.c == y.c ? own.h * own.w : 0,
             own.h == y.h ? own.w : 0, own.w == y.w ? 1 : 0};
  }

  /// The first value for a row of y.
  const std::int8_t* row(std::int64_t n, std::int64_t c, std::int64_t h) const {
    return values + n * steps[0] + c * steps[1] + h * steps[2];
  }
  float term(const std::int8_t* row, std::int64_t w) const {
    return terms[static_cast<std::uint8_t>(row[w * steps[3]])];
  }
};

}  // namespace

std::array<std::int8_t, 256> rectified_bytes(const QParams& x, const QParams& y) {
  std::array<std::int8_t, 256> answers{};
  for (std::int32_t q = -128; q <= 127; ++q) answers[static_cast<std::uint8_t>(q)] = rectify(q, x, y);
  return answers;
}

std::vector<Expected> q8ta_relu(const Params& params, std::span<const HostTensor> inputs) {
  const auto answers = rectified_bytes(params.qparams("x"), params.qparams("y"));
  std::vector<Expected> outputs(1);
  outputs[0].values = HostTensor(DType::I8, inputs[0].shape());
  const std::span<const std::int8_t> x = inputs[0].as<std::int8_t>();
  const std::span<std::int8_t> y = outputs[0].values.as<std::int8_t>();
  parallel_for(static_cast<std::int64_t>(x.size()), cheap_grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) y[i] = answers[static_cast<std::uint8_t>(x[i])];
  });
  return outputs;
}

Shape broadcast(const Shape& shape, const Shape& b_shape) {
  Shape result(std::max(shape.size(), b_shape.size()), 1);
  const auto dim = [&](const Shape& of, std::size_t i) {
    const std::size_t missing = result.size() - of.size();
    return i < missing ? 1 : of[i - missing];
  };
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t a = dim(shape, i);
    const std::int64_t b = dim(b_shape, i);
    if (a != b && a != 1 && b != 1) {
      throw ParameterError("b_shape", "b_shape " + to_string(b_shape) + " does not broadcast with shape " +
                                          to_string(shape) + ": dims must be equal or 1, and are " +
                                          std::to_string(b) + " and " + std::to_string(a));
    }
    result[i] = std::max(a, b);
  }
  return result;
}

std::vector<Expected> q8ta_add(const Params& params, std::span<const HostTensor> inputs) {
  std::vector<Expected> outputs(1);
  outputs[0].values = HostTensor(DType::I8, broadcast(inputs[0].shape(), inputs[1].shape()));
  const Dims dims = nchw(outputs[0].values.shape());
  const Operand a(inputs[0], dims, terms_of(params.qparams("a"), 1));
  const Operand b(inputs[1], dims, terms_of(params.qparams("b"), static_cast<float>(params.number("alpha"))));
  const float inverse = 1.0F / params.qparams("y").scale;
  const auto zero_point = static_cast<float>(params.qparams("y").zero_point);
  const Activation activation = activation_of(params);
  std::int8_t* y = outputs[0].values.as<std::int8_t>().data();
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / dims.w);
  parallel_for(dims.n * dims.c * dims.h, grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t line = first; line < last; ++line) {
      const std::int64_t h = line % dims.h;
      const std::int64_t c = line / dims.h % dims.c;
      const std::int64_t n = line / dims.h / dims.c;
      const std::int8_t* a_row = a.row(n, c, h);
      const std::int8_t* b_row = b.row(n, c, h);
      for (std::int64_t w = 0; w < dims.w; ++w) {
        const float sum = a.term(a_row, w) + b.term(b_row, w);
        y[line * dims.w + w] = quantize(activated(activation, sum), inverse, zero_point);
      }
    }
  });
  return outputs;
}

}  // namespace assay::references
