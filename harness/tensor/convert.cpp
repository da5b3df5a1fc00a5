#include "harness/tensor/convert.h"

#include "harness/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <type_traits>
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
  throw Error(fmt::format("holds {} at [{}], which {} cannot represent; save it as {}", value, place,
                          name_of(dtype), name_of(dtype)));
}

bool same_number(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

double to_double(Half value) {
  return to_float(value);
}
double to_double(double value) {
  return value;
}

/// Returns the nearest number. Halves are converted through float, which the check of the way back covers
/// too.
template <class To>
To nearest_float(double value) {
  if constexpr (std::is_same_v<To, Half>) {
    return to_half(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

/// Converts elements. Refuses any that the other dtype cannot represent.
template <class To, class From>
HostTensor convert_each(const HostTensor& tensor, const Shape& shape) {
  HostTensor result = HostTensor::uninitialized(DTypeOf<To>::value, shape);
  const std::span<const From> from = tensor.as<From>();
  const std::span<To> to = result.as<To>();
  for (std::size_t i = 0; i < from.size(); ++i) {
    bool is_same = false;
    if constexpr (std::is_integral_v<From>) {
      is_same = std::in_range<To>(from[i]);
      to[i] = static_cast<To>(from[i]);
    } else {
      to[i] = nearest_float<To>(to_double(from[i]));
      is_same = same_number(to_double(from[i]), to_double(to[i]));
    }
    if (!is_same) refuse(tensor, i, DTypeOf<To>::value);
  }
  return result;
}

template <class From>
HostTensor integers(const HostTensor& tensor, DType dtype, const Shape& shape) {
  if (dtype == DType::I64) return convert_each<std::int64_t, From>(tensor, shape);
  if (dtype == DType::I32) return convert_each<std::int32_t, From>(tensor, shape);
  if (dtype == DType::I16) return convert_each<std::int16_t, From>(tensor, shape);
  if (dtype == DType::I8) return convert_each<std::int8_t, From>(tensor, shape);
  return convert_each<std::uint8_t, From>(tensor, shape);
}

template <class From>
HostTensor floats(const HostTensor& tensor, DType dtype, const Shape& shape) {
  if (dtype == DType::F64) return convert_each<double, From>(tensor, shape);
  if (dtype == DType::F32) return convert_each<float, From>(tensor, shape);
  return convert_each<Half, From>(tensor, shape);
}

HostTensor with_dtype(const HostTensor& tensor, DType dtype, const Shape& shape) {
  switch (tensor.dtype()) {
    case DType::F64:
      return floats<double>(tensor, dtype, shape);
    case DType::F32:
      return floats<float>(tensor, dtype, shape);
    case DType::F16:
      return floats<Half>(tensor, dtype, shape);
    case DType::I64:
      return integers<std::int64_t>(tensor, dtype, shape);
    case DType::I32:
      return integers<std::int32_t>(tensor, dtype, shape);
    case DType::I16:
      return integers<std::int16_t>(tensor, dtype, shape);
    case DType::I8:
      return integers<std::int8_t>(tensor, dtype, shape);
    case DType::U8:
      return integers<std::uint8_t>(tensor, dtype, shape);
  }
  throw std::logic_error("converted: not a dtype");
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
  return is_integer(from) == is_integer(to);
}

HostTensor converted(HostTensor tensor, DType dtype, const Shape& shape) {
  if (!may_convert(tensor.dtype(), dtype) || tensor.numel() != numel(shape))
    throw std::logic_error("converted: such a tensor cannot be had from this one");
  if (tensor.dtype() != dtype) return with_dtype(tensor, dtype, shape);
  return tensor.shape() == shape ? std::move(tensor) : reshaped(tensor, shape);
}

}  // namespace assay
