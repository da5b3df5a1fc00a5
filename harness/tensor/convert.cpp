#include "harness/tensor/convert.h"

#include "harness/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace assay {
namespace {

Shape without_ones(const Shape& shape) {
  Shape dims;
  std::ranges::copy_if(shape, std::back_inserter(dims), [](std::int64_t dim) { return dim != 1; });
  return dims;
}

[[noreturn]] void refuse(const HostTensor& tensor, std::size_t index, DType dtype) {
  const auto at = static_cast<std::int64_t>(index);
  std::string place;
  for (const std::int64_t coordinate : coordinates(tensor.shape(), at))
    place += fmt::format("{}{}", place.empty() ? "" : ", ", coordinate);
  const std::string value = tensor.dtype() == DType::I64 ? fmt::format("{}", tensor.as<std::int64_t>()[index])
                                                         : fmt::format("{}", tensor.at(at));
  throw Error(fmt::format("holds {} at [{}], which no {} equals; save it as {}", value, place, name_of(dtype),
                          name_of(dtype)));
}

bool same_number(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

float as_float(double value) {
  return static_cast<float>(value);
}

/// `to_number(value)` is the nearest number of the other dtype, `back` the way back.
template <class To, class From, class ToNumber, class Back>
HostTensor convert_each(const HostTensor& tensor, const Shape& shape, const ToNumber& to_number,
                        const Back& back) {
  HostTensor result = HostTensor::uninitialized(DTypeOf<To>::value, shape);
  const std::span<const From> from = tensor.as<From>();
  const std::span<To> to = result.as<To>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i] = to_number(from[i]);
    if (!back(from[i], to[i])) refuse(tensor, i, DTypeOf<To>::value);
  }
  return result;
}

template <class To>
HostTensor integers(const HostTensor& tensor, const Shape& shape) {
  return convert_each<To, std::int64_t>(
      tensor, shape, [](std::int64_t value) { return static_cast<To>(value); },
      [](std::int64_t value, To small) { return std::int64_t{small} == value; });
}

HostTensor converted_integers(const HostTensor& tensor, DType dtype, const Shape& shape) {
  if (dtype == DType::I32) return integers<std::int32_t>(tensor, shape);
  if (dtype == DType::I16) return integers<std::int16_t>(tensor, shape);
  if (dtype == DType::I8) return integers<std::int8_t>(tensor, shape);
  return integers<std::uint8_t>(tensor, shape);
}

HostTensor converted_floats(const HostTensor& tensor, DType dtype, const Shape& shape) {
  if (dtype == DType::F32) {
    return convert_each<float, double>(tensor, shape, as_float,
                                       [](double value, float small) { return same_number(value, small); });
  }
  return convert_each<Half, double>(
      tensor, shape, [](double value) { return to_half(as_float(value)); },
      [](double value, Half small) { return same_number(value, to_float(small)); });
}

HostTensor reshaped(const HostTensor& tensor, const Shape& shape) {
  HostTensor result = HostTensor::uninitialized(tensor.dtype(), shape);
  std::ranges::copy(tensor.bytes(), result.bytes().begin());
  return result;
}

}  // namespace

bool same_but_for_ones(const Shape& a, const Shape& b) {
  return without_ones(a) == without_ones(b);
}

bool may_convert(DType from, DType to) {
  if (from == to) return true;
  if (from == DType::F64) return is_float(to);
  return from == DType::I64 && is_integer(to);
}

HostTensor converted(HostTensor tensor, DType dtype, const Shape& shape) {
  if (!may_convert(tensor.dtype(), dtype) || tensor.numel() != numel(shape))
    throw std::logic_error("converted: such a tensor cannot be had from this one");
  if (tensor.dtype() == DType::F64 && dtype != DType::F64) return converted_floats(tensor, dtype, shape);
  if (tensor.dtype() == DType::I64 && dtype != DType::I64) return converted_integers(tensor, dtype, shape);
  return tensor.shape() == shape ? std::move(tensor) : reshaped(tensor, shape);
}

}  // namespace assay
