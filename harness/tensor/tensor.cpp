#include "harness/tensor/tensor.h"

#include "harness/base/error.h"
#include "harness/base/hash.h"
#include "harness/base/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace assay {
namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 40;

template <class T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

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
template <class T>
double to_double(T value) {
  return static_cast<double>(value);
}

/// Calls `use` with the type of a dtype's elements.
template <class Use>
auto with_type_of(DType dtype, const Use& use) {
  switch (dtype) {
    case DType::F32:
      return use(std::type_identity<float>{});
    case DType::F16:
      return use(std::type_identity<Half>{});
    case DType::I32:
      return use(std::type_identity<std::int32_t>{});
    case DType::I16:
      return use(std::type_identity<std::int16_t>{});
    case DType::I8:
      return use(std::type_identity<std::int8_t>{});
    case DType::U8:
      return use(std::type_identity<std::uint8_t>{});
    case DType::F64:
      return use(std::type_identity<double>{});
    case DType::I64:
      return use(std::type_identity<std::int64_t>{});
  }
  throw std::logic_error("with_type_of: not a dtype");
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
      const From value = from[i];
      is_same = std::in_range<To>(value);
      to[i] = static_cast<To>(static_cast<std::int64_t>(value));
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

void feed_head(Hasher& hasher, const HostTensor& tensor) {
  hasher.feed(fmt::format("{}[{}]", name_of(tensor.dtype()), to_string(tensor.shape())));
}

void feed(Hasher& hasher, const HostTensor& tensor) {
  feed_head(hasher, tensor);
  hasher.feed(tensor.bytes());
}

std::uint32_t canonical_float(std::uint32_t bits) {
  const std::uint32_t exponent = bits & 0x7f800000U;
  if (exponent == 0) return bits & 0x80000000U;
  return exponent == 0x7f800000U && (bits & 0x007fffffU) != 0 ? 0x7fc00000U : bits;
}

std::uint16_t canonical_half(std::uint16_t bits) {
  return (bits & 0x7c00U) == 0x7c00U && (bits & 0x03ffU) != 0 ? std::uint16_t{0x7e00U} : bits;
}

/// Feeds a float tensor in pieces, with every element made canonical.
template <class Bits, Bits (*Canonical)(Bits)>
void feed_canonical(Hasher& hasher, const HostTensor& tensor) {
  constexpr std::size_t piece = 4096;
  std::array<Bits, piece> bits{};
  feed_head(hasher, tensor);
  const std::span<const std::byte> bytes = tensor.bytes();
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t size = std::min(bytes.size() - done, sizeof(bits));
    std::memcpy(bits.data(), bytes.data() + done, size);
    for (Bits& element : bits) element = Canonical(element);
    hasher.feed(std::as_bytes(std::span(bits)).first(size));
    done += size;
  }
}

}  // namespace

std::int64_t numel(const Shape& shape) {
  std::int64_t product = 1;
  for (const std::int64_t dim : shape) {
    if (dim < 1) {
      throw Error(
          fmt::format("shape {} has a dim of {}; every dim must be at least 1", to_string(shape), dim));
    }
    if (dim > most_elements / product) {
      throw Error(fmt::format("shape {} has more than 2^40 elements", to_string(shape)));
    }
    product *= dim;
  }
  return product;
}

Dims nchw(const Shape& shape) {
  if (shape.size() > 4) {
    throw Error(fmt::format("shape {} has {} dims; at most 4 are possible", to_string(shape), shape.size()));
  }
  std::array<std::int64_t, 4> dims{1, 1, 1, 1};
  const std::size_t missing = 4 - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) dims[missing + i] = shape[i];
  return {dims[0], dims[1], dims[2], dims[3]};
}

std::string to_string(const Shape& shape) {
  std::string text;
  for (const std::int64_t dim : shape) {
    if (!text.empty()) text += 'x';
    text += std::to_string(dim);
  }
  return text;
}

std::vector<std::int64_t> coordinates(const Shape& shape, std::int64_t index) {
  std::vector<std::int64_t> result(shape.size());
  for (std::size_t i = shape.size(); i-- > 0;) {
    result[i] = index % shape[i];
    index /= shape[i];
  }
  return result;
}

HostTensor::HostTensor(DType dtype, Shape shape, Anything)
    : dtype_(dtype),
      shape_(std::move(shape)),
      numel_(assay::numel(shape_)),
      data_(static_cast<std::size_t>(numel_) * size_of(dtype)) {}

HostTensor::HostTensor(DType dtype, Shape shape) : HostTensor(dtype, std::move(shape), Anything{}) {
  zero_bytes(data_);
}

HostTensor HostTensor::uninitialized(DType dtype, Shape shape) {
  return {dtype, std::move(shape), Anything{}};
}

double HostTensor::at(std::int64_t index) const {
  if (index < 0 || index >= numel_) {
    throw std::logic_error("element " + std::to_string(index) + " of a tensor of " + std::to_string(numel_) +
                           " was asked for");
  }
  return element_at(dtype_, data_.data() + static_cast<std::size_t>(index) * size_of(dtype_));
}

double element_at(DType dtype, const std::byte* bytes) {
  return with_type_of(dtype, [&]<class T>(std::type_identity<T>) { return to_double(load<T>(bytes)); });
}

void HostTensor::widen(std::int64_t first, std::span<double> to) const {
  if (first < 0 || first > numel_ || std::ssize(to) > numel_ - first) {
    throw std::logic_error("elements " + std::to_string(first) + " to " +
                           std::to_string(first + std::ssize(to)) + " of a tensor of " +
                           std::to_string(numel_) + " were asked for");
  }
  with_type_of(dtype_, [&]<class T>(std::type_identity<T>) {
    const std::span<const T> wanted = as<T>().subspan(static_cast<std::size_t>(first), to.size());
    std::ranges::transform(wanted, to.begin(), [](T value) { return to_double(value); });
  });
}

void HostTensor::check(DType asked) const {
  if (asked == dtype_) return;
  throw std::logic_error("a tensor of dtype " + std::string(name_of(dtype_)) + " was read as " +
                         std::string(name_of(asked)));
}

bool same_bytes(const HostTensor& a, const HostTensor& b, std::int64_t first, std::int64_t last) {
  const std::size_t size = size_of(a.dtype());
  const std::size_t begin = static_cast<std::size_t>(first) * size;
  const std::size_t end = static_cast<std::size_t>(last) * size;
  return std::memcmp(a.bytes().data() + begin, b.bytes().data() + begin, end - begin) == 0;
}

bool same_bytes(std::span<const HostTensor> a, std::span<const HostTensor> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const HostTensor& x, const HostTensor& y) {
    return x.dtype() == y.dtype() && x.shape() == y.shape() && equal_bytes(x.bytes(), y.bytes());
  });
}

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

std::string hash_of(const HostTensor& tensor) {
  return hash_of(std::span(&tensor, 1));
}

std::string hash_of(std::span<const HostTensor> tensors) {
  Hasher hasher;
  for (const HostTensor& tensor : tensors) feed(hasher, tensor);
  return hasher.result();
}

std::string answer_hash_of(std::span<const HostTensor> tensors) {
  Hasher hasher;
  for (const HostTensor& tensor : tensors) {
    if (tensor.dtype() == DType::F32) {
      feed_canonical<std::uint32_t, canonical_float>(hasher, tensor);
    } else if (tensor.dtype() == DType::F16) {
      feed_canonical<std::uint16_t, canonical_half>(hasher, tensor);
    } else {
      feed(hasher, tensor);
    }
  }
  return hasher.result();
}

}  // namespace assay
