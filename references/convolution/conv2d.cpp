#include "references/convolution/conv2d.h"

#include "harness/base/parallel.h"
#include "references/common/qparams.h"
#include "references/common/real_output.h"
#include "references/linear/linear_integer.h"
#include "references/linear/linear_real.h"
#include "references/linear/products.h"

#include <algorithm>

namespace assay::references {
namespace {

constexpr std::int64_t block = 64;  // pixels whose channels a core's cache holds

std::int16_t value_of(std::int16_t x) {
  return x;
}
float value_of(float x) {
  return x;
}
float value_of(Half x) {
  return real_of(x);
}

template <class To, class From>
std::vector<To> moved(const Convolution& conv, std::span<const From> x) {
  std::vector<To> made(x.size());
  const std::int64_t pixels = conv.h * conv.w, blocks = div_up(pixels, block);
  parallel_for(conv.n * blocks, div_up(cheap_grain, block * conv.c),
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t b = first; b < last; ++b) {
                   const std::int64_t image = b / blocks * conv.c * pixels, begin = b % blocks * block;
                   const From* from = x.data() + image;
                   To* to = made.data() + image;
                   for (std::int64_t c = 0; c < conv.c; ++c) {
                     for (std::int64_t pixel = begin; pixel < std::min(begin + block, pixels); ++pixel) {
                       to[pixel * conv.c + c] = value_of(from[c * pixels + pixel]);
                     }
                   }
                 }
               });
  return made;
}

constexpr std::int64_t values_of_a_part = 1 << 23;  // 16 MiB
IntegerRows rows_of_group(const Convolution& conv, const IntegerRows& w, std::int64_t group) {
  const std::int64_t rows = conv.outputs_of_group();
  return {rows, w.depth, {w.row(group * rows), w.row((group + 1) * rows)}};
}

/// The rows of a range of pixels that begins at `first`.
void spread(const Patches& patches, const std::vector<std::int16_t>& x, std::int64_t group,
            std::int64_t first, IntegerRows& to) {
  const std::int64_t depth = to.depth;
  to.values.resize(static_cast<std::size_t>(to.rows * depth));
  parallel_for(to.rows, div_up(cheap_grain, depth), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      patches.read(x, group, first + row, 0, depth, to.values.data() + row * depth);
    }
  });
}

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

std::vector<std::int16_t> channels_last(const Convolution& conv, std::span<const std::int16_t> x) {
  return moved<std::int16_t>(conv, x);
}

std::vector<float> channels_last(const Convolution& conv, const HostTensor& x) {
  return x.dtype() == DType::F16 ? moved<float>(conv, x.as<Half>()) : moved<float>(conv, x.as<float>());
}

IntegerRows weight_rows(const Convolution& conv, const HostTensor& w) {
  IntegerRows made{conv.oc, conv.depth(), {}};
  made.values.reserve(static_cast<std::size_t>(w.numel()));
  const std::int8_t* from = w.as<std::int8_t>().data();
  const std::int64_t channels = conv.channels_of_group(), outputs = conv.outputs_of_group();
  for (std::int64_t o = 0; o < conv.oc; ++o) {
    for (std::int64_t tap = 0; tap < conv.taps(); ++tap) {
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t kernel =
            conv.transposed ? (o / outputs * channels + c) * outputs + o % outputs : o * channels + c;
        made.values.push_back(from[kernel * conv.taps() + tap]);
      }
    }
  }
  return made;
}

Patches::Patches(const Convolution& conv) : conv_(conv), size_of_y_(conv.size_of_y()) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    for (std::int64_t index = 0; index < size_of_y_[axis]; ++index) {
      for (std::int64_t tap = 0; tap < conv.kernel[axis]; ++tap) {
        met_[axis].push_back(conv.met(axis, index, tap).value_or(-1));
      }
    }
  }
  for (std::int64_t tap = 0; tap < conv.taps(); ++tap) {
    taps_.push_back(
        {static_cast<std::uint32_t>(tap / conv.kernel[1]), static_cast<std::uint32_t>(tap % conv.kernel[1])});
  }
}

Patches::View Patches::view_of(std::int64_t pixel) const {
  const std::int64_t row = pixel / size_of_y_[1];
  return {row / size_of_y_[0] * conv_.h * conv_.w,
          {met_[0].data() + row % size_of_y_[0] * conv_.kernel[0],
           met_[1].data() + pixel % size_of_y_[1] * conv_.kernel[1]}};
}

std::int64_t Patches::place_of(const View& view, std::int64_t tap) const {
  const auto [a, b] = taps_[static_cast<std::size_t>(tap)];
  const std::int64_t p = view.met[0][a], q = view.met[1][b];
  return p < 0 || q < 0 ? -1 : (view.image + p * conv_.w + q) * conv_.c;
}

template <class From, class To>
void Patches::read(const std::vector<From>& x, std::int64_t group, std::int64_t pixel, std::int64_t first,
                   std::int64_t last, To* to) const {
  const View view = view_of(pixel);
  const std::int64_t channels = conv_.channels_of_group();
  std::int64_t tap = first / channels, c = first % channels;
  for (std::int64_t left = last - first; left > 0;) {
    const std::int64_t count = std::min(left, channels - c), place = place_of(view, tap);
    if (place < 0) {
      to = std::fill_n(to, count, To{});
    } else {
      to = std::copy_n(x.begin() + place + group * channels + c, count, to);
    }
    left -= count;
    ++tap;
    c = 0;
  }
}

template void Patches::read(const std::vector<std::int16_t>&, std::int64_t, std::int64_t, std::int64_t,
                            std::int64_t, std::int16_t*) const;
template void Patches::read(const std::vector<float>&, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                            double*) const;

std::int64_t Patches::index_in_y(std::int64_t pixel, std::int64_t channel) const {
  const std::int64_t pixels = size_of_y_[0] * size_of_y_[1];
  return (pixel / pixels * conv_.oc + channel) * pixels + pixel % pixels;
}

void for_each_sum(const Convolution& conv, const IntegerRows& x, const IntegerRows& w,
                  const StoreSum& store) {
  const std::vector<std::int16_t> last = channels_last(conv, x.values);
  const Patches patches(conv);
  const std::int64_t pixels = conv.pixels_of_y(), part = div_up(values_of_a_part, w.depth);
  IntegerRows some{0, w.depth, {}};
  for (std::int64_t group = 0; group < conv.groups; ++group) {
    const IntegerRows own = rows_of_group(conv, w, group);
    for (std::int64_t first = 0; first < pixels; first += part) {
      some.rows = std::min(part, pixels - first);
      spread(patches, last, group, first, some);
      integer_products(some, own, w.depth,
                       [&](std::int64_t m, std::int64_t n, std::span<const std::int32_t> sums) {
                         const std::int64_t channel = group * own.rows + n;
                         store(patches.index_in_y(first + m, channel), channel, sums.front());
                       });
    }
  }
}

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

std::vector<Expected> conv2d_q8ta_q8csw(const Params& params, std::span<const HostTensor> inputs) {
  const Convolution conv = convolution_params(params, most_depth_with_zero_point);
  const Linear linear = conv.linear_of_group();
  const QParams& qparams = params.qparams("x");
  const IntegerRows x = quantized_rows(inputs[0], [&](std::int64_t) { return qparams; });
  const IntegerRows w = weight_rows(conv, inputs[1]);
  const FloatEpilogue epilogue{linear, qparams.scale, inputs[2].as<float>(), bias_of(linear, inputs)};
  return real_output(conv.real, conv.y_shape(), [&](auto y) {
    for_each_sum(conv, x, w, [&](std::int64_t index, std::int64_t channel, std::int32_t sum) {
      store(y[static_cast<std::size_t>(index)], epilogue(channel, sum));
    });
  });
}

std::vector<Expected> q8ta_conv2d(const Params& params, std::span<const HostTensor> inputs) {
  const Convolution conv = convolution_params(params, most_depth_with_zero_point);
  const Linear linear = conv.linear_of_group();
  const IntegerRows x = int8_rows(inputs[0], params.qparams("x").zero_point);
  const IntegerRows w = weight_rows(conv, inputs[1]);
  const Int8Epilogue epilogue(params, linear, w, inputs[2].as<float>(), bias_of(linear, inputs));
  std::vector<Expected> outputs(1);
  outputs[0].values = HostTensor::uninitialized(DType::I8, conv.y_shape());
  const std::span<std::int8_t> y = outputs[0].values.as<std::int8_t>();
  for_each_sum(conv, x, w, [&](std::int64_t index, std::int64_t channel, std::int32_t sum) {
    y[static_cast<std::size_t>(index)] = epilogue(channel, sum);
  });
  return outputs;
}

}  // namespace assay::references
