#include "references/relayout/relayout.h"

#include "harness/base/error.h"
#include "harness/base/parallel.h"
#include "references/common/qparams.h"
#include "references/common/real_output.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace assay::references {
namespace {

/// The distance in x between neighbours along each dim of y.
Shape steps_in_x(const Shape& shape, const Shape& dims) {
  Shape stride(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) stride[i - 1] = stride[i] * shape[i];
  Shape steps;
  for (const std::int64_t dim : dims) steps.push_back(stride[static_cast<std::size_t>(dim)]);
  return steps;
}

std::int64_t source_of(const Shape& y_shape, const Shape& steps, std::int64_t index) {
  std::int64_t source = 0;
  for (std::size_t dim = y_shape.size(); dim-- > 0;) {
    source += index % y_shape[dim] * steps[dim];
    index /= y_shape[dim];
  }
  return source;
}

template <class Real>
void quantize_all(std::span<const Real> x, std::span<std::int8_t> y, const QParams& to) {
  const float inverse = 1.0f / to.scale;
  const auto zero_point = static_cast<float>(to.zero_point);
  parallel_for(static_cast<std::int64_t>(x.size()), cheap_grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) y[i] = quantized(real_of(x[i]), inverse, zero_point);
  });
}

template <class Real>
void dequantize_all(std::span<const std::int8_t> x, std::span<Real> y, const QParams& from) {
  parallel_for(static_cast<std::int64_t>(x.size()), cheap_grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      store(y[i], from.scale * static_cast<float>(x[i] - from.zero_point));
    }
  });
}

}  // namespace

std::vector<Expected> clone(const Params& /*params*/, std::span<const HostTensor> inputs) {
  std::vector<Expected> outputs(1);
  outputs[0].values = inputs[0];
  return outputs;
}

std::vector<Expected> q8ta_clone(const Params& /*params*/, std::span<const HostTensor> inputs) {
  std::vector<Expected> outputs(1);
  outputs[0].values = inputs[0];
  return outputs;
}

std::vector<Expected> view(const Params& params, std::span<const HostTensor> inputs) {
  std::vector<Expected> outputs(1);
  HostTensor& y = outputs[0].values;
  y = HostTensor(inputs[0].dtype(), params.ints("new_shape"));
  std::copy(inputs[0].bytes().begin(), inputs[0].bytes().end(), y.bytes().begin());
  return outputs;
}

Shape permuted(const Shape& shape, const Shape& dims) {
  Shape sorted = dims;
  std::sort(sorted.begin(), sorted.end());
  bool is_permutation = sorted.size() == shape.size();
  for (std::size_t i = 0; is_permutation && i < sorted.size(); ++i) {
    is_permutation = sorted[i] == static_cast<std::int64_t>(i);
  }
  if (!is_permutation) {
    throw ParameterError("dims", "dims " + to_string(dims) + " must name each of the " +
                                     std::to_string(shape.size()) + " dims of shape " + to_string(shape) +
                                     " once, counted from 0");
  }
  Shape result;
  for (const std::int64_t dim : dims) result.push_back(shape[static_cast<std::size_t>(dim)]);
  return result;
}

std::vector<Expected> permute(const Params& params, std::span<const HostTensor> inputs) {
  const HostTensor& x = inputs[0];
  const Shape& dims = params.ints("dims");
  const Shape y_shape = permuted(x.shape(), dims);
  const Shape steps = steps_in_x(x.shape(), dims);
  const std::size_t size = size_of(x.dtype());
  std::vector<Expected> outputs(1);
  HostTensor& y = outputs[0].values;
  y = HostTensor(x.dtype(), y_shape);
  parallel_for(y.numel(), cheap_grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const auto source = static_cast<std::size_t>(source_of(y_shape, steps, i));
      std::memcpy(y.bytes().data() + static_cast<std::size_t>(i) * size, x.bytes().data() + source * size,
                  size);
    }
  });
  return outputs;
}

std::vector<Expected> q8ta_quantize(const Params& params, std::span<const HostTensor> inputs) {
  std::vector<Expected> outputs(1);
  HostTensor& y = outputs[0].values;
  y = HostTensor(DType::I8, inputs[0].shape());
  if (inputs[0].dtype() == DType::F32) {
    quantize_all(inputs[0].as<float>(), y.as<std::int8_t>(), params.qparams("y"));
  } else {
    quantize_all(inputs[0].as<Half>(), y.as<std::int8_t>(), params.qparams("y"));
  }
  return outputs;
}

std::vector<Expected> q8ta_dequantize(const Params& params, std::span<const HostTensor> inputs) {
  return real_output(parse_dtype(params.choice("dtype")).value(), inputs[0].shape(),
                     [&](auto y) { dequantize_all(inputs[0].as<std::int8_t>(), y, params.qparams("x")); });
}

}  // namespace assay::references
