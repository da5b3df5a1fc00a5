#pragma once

#include "harness/base/byte_buffer.h"
#include "harness/tensor/dtype.h"
#include "harness/tensor/shape.h"

#include <cstddef>
#include <span>
#include <stdexcept>
#include <vector>

namespace assay {

/// A logical tensor on the host: row-major, no padding.
class HostTensor {
 public:
  HostTensor() = default;
  HostTensor(DType dtype, Shape shape);  ///< zero-filled; throws Error on an impossible shape
  /// Returns a tensor with uninitialized elements; the caller must write all of them.
  static HostTensor uninitialized(DType dtype, Shape shape);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t numel() const { return numel_; }

  std::span<std::byte> bytes() { return data_; }
  std::span<const std::byte> bytes() const { return data_; }

  /// Returns the elements as T. Throws std::logic_error if T is not the tensor's dtype.
  template <class T>
  std::span<T> as() {
    check(DTypeOf<T>::value);
    return {reinterpret_cast<T*>(data_.data()), static_cast<std::size_t>(numel_)};
  }
  template <class T>
  std::span<const T> as() const {
    check(DTypeOf<T>::value);
    return {reinterpret_cast<const T*>(data_.data()), static_cast<std::size_t>(numel_)};
  }

  /// Returns element `index` of any dtype, widened to double (exact except for I64 above 2^53).
  double at(std::int64_t index) const;

 private:
  struct Anything {};
  HostTensor(DType dtype, Shape shape, Anything);

  void check(DType asked) const;

  DType dtype_ = DType::F32;
  Shape shape_;
  std::int64_t numel_ = 0;
  ByteBuffer data_;
};

/// Returns the element of that dtype at `bytes`, widened to double as HostTensor::at does.
double element_at(DType dtype, const std::byte* bytes);

/// Returns whether the elements [first, last) of two tensors of one dtype have the same bytes.
bool same_bytes(const HostTensor& a, const HostTensor& b, std::int64_t first, std::int64_t last);
/// Returns whether two lists of tensors have equal dtypes, shapes and bytes.
bool same_bytes(std::span<const HostTensor> a, std::span<const HostTensor> b);

}  // namespace assay
