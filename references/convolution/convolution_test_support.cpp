#include "references/convolution/convolution_test_support.h"

#include "references/linear/linear_test_support.h"

#include <cmath>
#include <cstdlib>
#include <string>

namespace assay::test {
namespace {

std::vector<std::int64_t> list_of(const Pair& pair) {
  return {pair[0], pair[1]};
}

std::vector<std::int64_t> padding_of(const ConvolutionSizes& sizes) {
  std::vector<std::int64_t> sides = list_of(sizes.padding);
  if (sizes.padding_end) sides.insert(sides.end(), sizes.padding_end->begin(), sizes.padding_end->end());
  return sides;
}

/// Manifests of transposed convolutions have one number for both axes.
Pair pair_of(const nlohmann::json& params, const char* name, std::int64_t fallback) {
  if (!params.contains(name)) return {fallback, fallback};
  const nlohmann::json& value = params.at(name);
  if (value.is_array()) return value.get<Pair>();
  return {value.get<std::int64_t>(), value.get<std::int64_t>()};
}

ConvolutionSizes sizes_of(const nlohmann::json& params) {
  ConvolutionSizes sizes{params.value("N", 1), params.at("C"), params.at("H"), params.at("W"),
                         params.at("OC")};
  sizes.kernel = pair_of(params, "kernel", 1);
  sizes.stride = pair_of(params, "stride", 1);
  sizes.padding = pair_of(params, "padding", 0);
  sizes.dilation = pair_of(params, "dilation", 1);
  sizes.groups = params.at("groups");
  if (params.contains("output_padding")) sizes.output_padding = pair_of(params, "output_padding", 0);
  return sizes;
}

/// Calls add(element of y, element of x, element of w) for every product of a convolution.
template <class Add>
class Loops {
 public:
  Loops(const Params& params, const Add& add)
      : c_(params.integer("C")),
        oc_(params.integer("OC")),
        groups_(params.integer("groups")),
        x_{params.integer("H"), params.integer("W")},
        transposed_(params.has("output_padding")),
        add_(add) {
    for (std::size_t axis = 0; axis < 2; ++axis) {
      kernel_[axis] = params.ints("kernel")[axis];
      stride_[axis] = params.ints("stride")[axis];
      const std::vector<std::int64_t>& sides = params.ints("padding");
      padding_[axis] = sides[axis];
      paddings_[axis] = sides[axis] + sides[sides.size() == 4 ? axis + 2 : axis];
      dilation_[axis] = params.ints("dilation")[axis];
      y_[axis] = transposed_ ? transposed_length(axis, params.ints("output_padding")[axis]) : length(axis);
    }
  }

  const Pair& size_of_y() const { return y_; }

  void run(std::int64_t images) const {
    for (std::int64_t n = 0; n < images; ++n) {
      for (std::int64_t o = 0; o < oc_; ++o) {
        for (std::int64_t c = 0; c < c_ / groups_; ++c) channel(n, o, c);
      }
    }
  }

 private:
  /// Counts how often the kernel fits, a stride apart.
  std::int64_t length(std::size_t axis) const {
    std::int64_t count = 0;
    std::int64_t end = dilation_[axis] * (kernel_[axis] - 1);
    for (; end < x_[axis] + paddings_[axis]; end += stride_[axis]) ++count;
    return count;
  }

  /// The last tap of the last value of x, less the padding on both sides.
  std::int64_t transposed_length(std::size_t axis, std::int64_t output_padding) const {
    const std::int64_t last = (x_[axis] - 1) * stride_[axis] + dilation_[axis] * (kernel_[axis] - 1);
    return last + 1 - paddings_[axis] + output_padding;
  }

  /// c counts the channels of o's group.
  void channel(std::int64_t n, std::int64_t o, std::int64_t c) const {
    const std::int64_t per_group = oc_ / groups_, group = o / per_group;
    const std::int64_t of_x = group * (c_ / groups_) + c;
    const std::int64_t of_w = transposed_ ? of_x * per_group + o % per_group : o * (c_ / groups_) + c;
    for (std::int64_t a = 0; a < kernel_[0]; ++a) {
      for (std::int64_t b = 0; b < kernel_[1]; ++b) {
        image(n * c_ + of_x, n * oc_ + o, (of_w * kernel_[0] + a) * kernel_[1] + b, {a, b});
      }
    }
  }

  /// i and j run over the side that moves by the stride: y, or x of transposed convolutions. p and q are the
  /// other side's.
  void image(std::int64_t x_plane, std::int64_t y_plane, std::int64_t w_element, const Pair& tap) const {
    const Pair& moving = transposed_ ? x_ : y_;
    const Pair& other = transposed_ ? y_ : x_;
    for (std::int64_t i = 0; i < moving[0]; ++i) {
      const std::int64_t p = i * stride_[0] - padding_[0] + tap[0] * dilation_[0];
      if (p < 0 || p >= other[0]) continue;
      for (std::int64_t j = 0; j < moving[1]; ++j) {
        const std::int64_t q = j * stride_[1] - padding_[1] + tap[1] * dilation_[1];
        if (q < 0 || q >= other[1]) continue;
        const std::int64_t near = i * moving[1] + j, far = p * other[1] + q;
        add_(y_plane * y_[0] * y_[1] + (transposed_ ? far : near),
             x_plane * x_[0] * x_[1] + (transposed_ ? near : far), w_element);
      }
    }
  }

  std::int64_t c_, oc_, groups_;
  Pair x_;
  Pair kernel_{}, stride_{}, padding_{}, paddings_{}, dilation_{}, y_{};
  bool transposed_;
  const Add& add_;
};

}  // namespace

Params convolution_case(const ConvolutionSizes& sizes) {
  Params params;
  params.set("N", sizes.n);
  params.set("C", sizes.c);
  params.set("H", sizes.h);
  params.set("W", sizes.w);
  params.set("OC", sizes.oc);
  params.set("kernel", list_of(sizes.kernel));
  params.set("stride", list_of(sizes.stride));
  params.set("padding", padding_of(sizes));
  params.set("dilation", list_of(sizes.dilation));
  params.set("groups", sizes.groups);
  if (sizes.output_padding) params.set("output_padding", list_of(*sizes.output_padding));
  params.set("bias", false);
  params.set("activation", std::string("none"));
  params.set("dtype", std::string("f32"));
  params.set("epilogue", std::string("float32"));
  params.set("x", QParams{1, 0});
  params.set("y", QParams{1, 0});
  return params;
}

Params convolution_case(const Golden& golden) {
  const auto& of = golden.params;
  Params params = convolution_case(sizes_of(of));
  set_layer(params, golden);
  return params;
}

std::vector<ConvolutionSizes> awkward_sizes() {
  return {
      {.c = 3, .h = 7, .w = 5, .oc = 5, .kernel = {3, 3}, .padding = {1, 1}},
      {.n = 2, .c = 6, .h = 9, .w = 4, .oc = 9, .kernel = {3, 2}, .padding = {1, 0}, .groups = 3},
      {.n = 3, .c = 10, .h = 6, .w = 8, .oc = 6, .kernel = {2, 3}, .stride = {2, 1}, .groups = 2},
      {.c = 2,
       .h = 11,
       .w = 9,
       .oc = 3,
       .kernel = {3, 3},
       .stride = {1, 3},
       .padding = {0, 2},
       .dilation = {3, 2}},
      {.c = 5, .h = 2, .w = 3, .oc = 2, .kernel = {5, 7}, .padding = {2, 3}},
      {.c = 3, .h = 1, .w = 13, .oc = 4, .kernel = {1, 3}, .stride = {1, 2}, .padding = {2, 1}},
      {.c = 3, .h = 13, .w = 1, .oc = 4, .kernel = {5, 1}, .stride = {3, 1}},
      {.n = 2,
       .c = 7,
       .h = 6,
       .w = 5,
       .oc = 7,
       .kernel = {3, 3},
       .stride = {2, 2},
       .padding = {1, 1},
       .groups = 7},
      {.c = 5, .h = 6, .w = 7, .oc = 15, .kernel = {3, 3}, .padding = {2, 0}, .groups = 5},
      {.n = 2,
       .c = 3,
       .h = 6,
       .w = 5,
       .oc = 4,
       .kernel = {3, 2},
       .padding = {0, 2},
       .padding_end = Pair{3, 1}},
      {.c = 4, .h = 8, .w = 7, .oc = 5, .kernel = {3, 3}, .stride = {2, 2}, .padding_end = Pair{1, 1}},
      {.n = 2, .c = 70, .h = 3, .w = 4, .oc = 3, .kernel = {3, 3}, .padding = {1, 1}},
      {.n = 2, .c = 13, .h = 5, .w = 3, .oc = 70},
  };
}

std::vector<ConvolutionSizes> awkward_transposed_sizes() {
  return {
      {.c = 3, .h = 4, .w = 5, .oc = 5, .kernel = {3, 3}, .output_padding = Pair{0, 0}},
      {.n = 2,
       .c = 6,
       .h = 3,
       .w = 4,
       .oc = 9,
       .kernel = {3, 2},
       .stride = {2, 3},
       .padding = {1, 0},
       .groups = 3,
       .output_padding = Pair{1, 2}},
      {.c = 10,
       .h = 4,
       .w = 2,
       .oc = 6,
       .kernel = {2, 3},
       .stride = {3, 2},
       .padding = {1, 2},
       .dilation = {2, 3},
       .groups = 2,
       .output_padding = Pair{0, 1}},
      {.n = 2,
       .c = 5,
       .h = 3,
       .w = 3,
       .oc = 5,
       .kernel = {3, 3},
       .stride = {2, 1},
       .padding = {2, 1},
       .groups = 5,
       .output_padding = Pair{1, 0}},
      {.n = 2,
       .c = 3,
       .h = 4,
       .w = 3,
       .oc = 4,
       .kernel = {3, 3},
       .stride = {2, 2},
       .padding = {0, 2},
       .padding_end = Pair{1, 1},
       .output_padding = Pair{1, 0}},
      {.c = 2,
       .h = 1,
       .w = 6,
       .oc = 3,
       .kernel = {1, 2},
       .stride = {3, 4},
       .dilation = {1, 5},
       .output_padding = Pair{2, 4}},
  };
}

std::vector<HostTensor> convolution_inputs(const Params& params, DType x, std::mt19937& random) {
  const std::int64_t c = params.integer("C"), oc = params.integer("OC"), groups = params.integer("groups");
  const std::vector<std::int64_t>& kernel = params.ints("kernel");
  const bool is_transposed = params.has("output_padding");
  const Shape w = is_transposed ? Shape{c, oc / groups, kernel[0], kernel[1]}
                                : Shape{oc, c / groups, kernel[0], kernel[1]};
  std::vector<HostTensor> inputs{
      random_tensor(x, {params.integer("N"), c, params.integer("H"), params.integer("W")}, random),
      random_tensor(DType::I8, w, random), random_scales({oc}, random)};
  if (params.boolean("bias")) inputs.push_back(random_tensor(DType::F32, {oc}, random));
  return inputs;
}

PlainSums plain_sums(const Params& params, const std::vector<double>& x, const HostTensor& w) {
  PlainSums made;
  const auto add = [&](std::int64_t of_y, std::int64_t of_x, std::int64_t of_w) {
    const double product = x[static_cast<std::size_t>(of_x)] * w.at(of_w);
    made.sums[static_cast<std::size_t>(of_y)] += product;
    made.magnitudes[static_cast<std::size_t>(of_y)] += std::fabs(product);
  };
  const Loops loops(params, add);
  made.shape = {params.integer("N"), params.integer("OC"), loops.size_of_y()[0], loops.size_of_y()[1]};
  made.sums.resize(static_cast<std::size_t>(numel(made.shape)));
  made.magnitudes.resize(made.sums.size());
  loops.run(params.integer("N"));
  return made;
}

}  // namespace assay::test
