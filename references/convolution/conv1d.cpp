#include "references/convolution/conv1d.h"

#include "harness/base/error.h"
#include "harness/base/parallel.h"
#include "references/common/real_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::references {
namespace {

double float64_of(float value) {
  return static_cast<double>(value);
}
double float64_of(Half value) {
  return static_cast<double>(to_float(value));
}

/// The sums of one row of y, and of their magnitudes.
struct RowSums {
  std::vector<double> sums, magnitudes;

  explicit RowSums(std::int64_t length) : sums(static_cast<std::size_t>(length)), magnitudes(sums) {}
};

/// Adds the products of one channel of x and the taps of one kernel.
template <class T>
void add_channel(const Conv1d& conv, const T* x, const T* w, RowSums& row) {
  for (std::int64_t tap = 0; tap < conv.kernel; ++tap) {
    const double factor = float64_of(w[tap]);
    const auto [first, last] = conv.met_by(tap);
    for (std::int64_t i = first; i < last; ++i) {
      const double product = factor * float64_of(x[i * conv.stride - conv.padding + tap * conv.dilation]);
      row.sums[i] += product;
      row.magnitudes[i] += std::fabs(product);
    }
  }
}

template <class T>
void set_rows(const Conv1d& conv, std::span<const HostTensor> inputs, BoundedOutput& y) {
  const T* x = inputs[0].as<T>().data();
  const T* w = inputs[1].as<T>().data();
  const std::int64_t length = conv.length_of_y(), channels = conv.depthwise ? 1 : conv.c;
  const std::int64_t of_a_row = length * channels * conv.kernel;
  parallel_for(conv.n * conv.outputs, div_up(cheap_grain, of_a_row),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t at = begin; at < end; ++at) {
                   const std::int64_t image = at / conv.outputs, o = at % conv.outputs;
                   RowSums row(length);
                   for (std::int64_t c = 0; c < channels; ++c) {
                     const std::int64_t of_x = image * conv.c + (conv.depthwise ? o : c);
                     add_channel(conv, x + of_x * conv.l, w + (o * channels + c) * conv.kernel, row);
                   }
                   const double bias = conv.bias ? float64_of(inputs[2].as<float>()[o]) : 0.0;
                   for (std::int64_t i = 0; i < length; ++i) {
                     y.set(at * length + i, row.sums[i] + bias, row.magnitudes[i] + std::fabs(bias));
                   }
                 }
               });
}

void check_length_of_y(const Conv1d& conv) {
  if (conv.length_of_y() >= 1) return;
  throw ParameterError("L", fmt::format("y would be empty: {} taps, {} apart, do not fit x of {} with a "
                                        "padding of {} before and {} after x",
                                        conv.kernel, conv.dilation, conv.l, conv.padding, conv.padding_end));
}

}  // namespace

std::int64_t Conv1d::length_of_y() const {
  const std::int64_t last = l + padding + padding_end - reach() - 1;
  return last < 0 ? 0 : last / stride + 1;
}

Conv1d::Range Conv1d::met_by(std::int64_t tap) const {
  // i * stride lies in [before, before + l).
  const std::int64_t before = padding - tap * dilation, length = length_of_y();
  const auto from = [&](std::int64_t place) {
    return std::clamp(div_up(std::max<std::int64_t>(place, 0), stride), std::int64_t{0}, length);
  };
  return {from(before), from(before + l)};
}

Conv1d conv1d_params(const Params& params) {
  Conv1d conv{.n = params.integer("N"), .c = params.integer("C"), .l = params.integer("L")};
  conv.depthwise = !params.has("OC");
  conv.outputs = conv.depthwise ? conv.c : params.integer("OC");
  conv.kernel = params.integer("kernel");
  conv.stride = params.integer("stride");
  conv.dilation = params.integer("dilation");
  const std::vector<std::int64_t>& sides = params.ints("padding");
  conv.padding = sides.front();
  conv.padding_end = sides.back();
  conv.bias = params.boolean("bias");
  conv.dtype = parse_dtype(params.choice("dtype")).value();
  check_length_of_y(conv);
  return conv;
}

std::vector<Expected> conv1d(const Params& params, std::span<const HostTensor> inputs) {
  const Conv1d conv = conv1d_params(params);
  BoundedOutput y(conv.dtype, conv.y_shape());
  if (conv.dtype == DType::F16) {
    set_rows<Half>(conv, inputs, y);
  } else {
    set_rows<float>(conv, inputs, y);
  }
  std::vector<Expected> outputs;
  outputs.push_back(y.take());
  return outputs;
}

}  // namespace assay::references
