#include "references/linear/linear_test_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay::test {
namespace {

template <class T, class From>
HostTensor tensor_of(const Shape& shape, const std::vector<From>& values) {
  HostTensor tensor(DTypeOf<T>::value, shape);
  EXPECT_EQ(static_cast<std::size_t>(tensor.numel()), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) tensor.as<T>()[i] = static_cast<T>(values[i]);
  return tensor;
}

template <class T>
void fill_integers(HostTensor& tensor, std::int32_t lowest, std::int32_t highest, std::mt19937& random) {
  std::uniform_int_distribution<std::int32_t> value(lowest, highest);
  for (T& element : tensor.as<T>()) element = static_cast<T>(value(random));
}

float by_floats(const Params& params, std::int64_t sum, float w_scale, std::optional<float> bias) {
  const QParams x = params.qparams("x"), y = params.qparams("y");
  const float scale = x.scale * w_scale;
  float f = static_cast<float>(sum) * scale;
  if (bias) f = f + *bias;
  if (params.choice("activation") == "relu") f = std::max(f, 0.0F);
  const float inverse = 1.0F / y.scale;
  return std::clamp(std::nearbyint(f * inverse) + static_cast<float>(y.zero_point), -128.0F, 127.0F);
}

/// floor(A * r + 1/2) in long double, where r has the 31 bits of the fixed point.
double by_integers(const Params& params, std::int64_t sum, float w_scale, std::optional<float> bias) {
  const QParams x = params.qparams("x"), y = params.qparams("y");
  const double step = static_cast<double>(x.scale) * static_cast<double>(w_scale);
  const double r = step / static_cast<double>(y.scale);
  const double unit = std::ldexp(1.0, std::ilogb(r) - 30);
  const long double rounded_r = static_cast<long double>(std::nearbyint(r / unit)) * unit;
  auto a = static_cast<double>(sum);
  if (bias) a += std::nearbyint(static_cast<double>(*bias) / step);
  if (params.choice("activation") == "relu") a = std::max(a, 0.0);
  const auto q = static_cast<double>(std::floor(a * rounded_r + 0.5L));
  return std::clamp(q + y.zero_point, -128.0, 127.0);
}

}  // namespace

Params linear_case(std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t group_size) {
  Params params;
  params.set("batch", Shape{});
  params.set("M", m);
  params.set("K", k);
  params.set("N", n);
  params.set("bias", false);
  params.set("activation", std::string("none"));
  params.set("dtype", std::string("f32"));
  params.set("epilogue", std::string("float32"));
  params.set("activations", std::string("given"));
  if (group_size != 0) params.set("group_size", group_size);
  return params;
}

Params linear_case(const Golden& golden) {
  const auto& of = golden.params;
  Params params = linear_case(of.at("M"), of.at("K"), of.at("N"), of.value("group_size", 0));
  set_layer(params, golden);
  return params;
}

HostTensor floats(const Shape& shape, const std::vector<float>& values) {
  return tensor_of<float>(shape, values);
}

HostTensor halves(const Shape& shape, const std::vector<float>& values) {
  HostTensor tensor(DType::F16, shape);
  for (std::size_t i = 0; i < values.size(); ++i) tensor.as<Half>()[i] = to_half(values[i]);
  return tensor;
}

HostTensor int8s(const Shape& shape, const std::vector<int>& values) {
  return tensor_of<std::int8_t>(shape, values);
}

HostTensor int32s(const Shape& shape, const std::vector<int>& values) {
  return tensor_of<std::int32_t>(shape, values);
}

HostTensor uint8s(const Shape& shape, const std::vector<int>& values) {
  return tensor_of<std::uint8_t>(shape, values);
}

HostTensor int4s(const Shape& shape, const std::vector<int>& values, bool even_is_high) {
  std::vector<int> bytes;
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const int even = values[i] + 8, odd = values[i + 1] + 8;
    bytes.push_back(even_is_high ? even * 16 + odd : odd * 16 + even);
  }
  return uint8s({shape[0], shape[1] / 2}, bytes);
}

HostTensor random_tensor(DType dtype, const Shape& shape, std::mt19937& random) {
  HostTensor tensor(dtype, shape);
  std::normal_distribution<float> real(0, 2);
  if (dtype == DType::I8) fill_integers<std::int8_t>(tensor, -128, 127, random);
  if (dtype == DType::U8) fill_integers<std::uint8_t>(tensor, 0, 255, random);
  if (dtype == DType::F32) {
    for (float& value : tensor.as<float>()) value = real(random);
  }
  if (dtype == DType::F16) {
    for (Half& value : tensor.as<Half>()) value = to_half(real(random));
  }
  return tensor;
}

HostTensor random_scales(const Shape& shape, std::mt19937& random) {
  HostTensor tensor(DType::F32, shape);
  std::uniform_real_distribution<float> scale(0x1p-8F, 0x1p-2F);
  for (float& value : tensor.as<float>()) value = scale(random);
  return tensor;
}

HostTensor random_zero_points(const Shape& shape, std::int32_t lowest, std::int32_t highest,
                              std::mt19937& random) {
  HostTensor tensor(DType::I32, shape);
  fill_integers<std::int32_t>(tensor, lowest, highest, random);
  return tensor;
}

std::vector<HostTensor> golden_inputs(const Golden& golden, const std::vector<std::string>& names) {
  std::vector<HostTensor> inputs;
  for (const std::string& name : names) {
    if (!golden.has(name)) continue;
    HostTensor tensor = golden.tensor(name);
    if (name == "x_zero_point" && tensor.dtype() == DType::I8) {
      const auto bytes = tensor.as<std::int8_t>();
      tensor = int32s(tensor.shape(), {bytes.begin(), bytes.end()});
    }
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

testing::AssertionResult near(const HostTensor& got, const HostTensor& want,
                              const std::vector<float>& magnitude, double units) {
  if (got.shape() != want.shape()) return testing::AssertionFailure() << "shape " << to_string(got.shape());
  for (std::int64_t i = 0; i < want.numel(); ++i) {
    const double size = magnitude.empty() ? std::fabs(want.at(i))
                                          : static_cast<double>(magnitude[static_cast<std::size_t>(i)]);
    if (std::fabs(got.at(i) - want.at(i)) <= units * 0x1p-24 * size) continue;
    return testing::AssertionFailure() << "element " << i << ": " << got.at(i) << ", not " << want.at(i);
  }
  return testing::AssertionSuccess();
}

double plain_int8(const Params& params, std::int64_t sum, float w_scale, std::optional<float> bias) {
  if (params.choice("epilogue") == "fixed_point") return by_integers(params, sum, w_scale, bias);
  return static_cast<double>(by_floats(params, sum, w_scale, bias));
}

}  // namespace assay::test
