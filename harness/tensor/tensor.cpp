#include "harness/tensor/tensor.h"

#include "harness/base/parallel.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace assay {
namespace {

template <class T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

}  // namespace

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
  switch (dtype) {
    case DType::F32:
      return load<float>(bytes);
    case DType::F16:
      return to_float(load<Half>(bytes));
    case DType::I32:
      return load<std::int32_t>(bytes);
    case DType::I16:
      return load<std::int16_t>(bytes);
    case DType::I8:
      return load<std::int8_t>(bytes);
    case DType::U8:
      return load<std::uint8_t>(bytes);
    case DType::F64:
      return load<double>(bytes);
    case DType::I64:
      return static_cast<double>(load<std::int64_t>(bytes));
  }
  throw std::logic_error("element_at: not a dtype");
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

}  // namespace assay
