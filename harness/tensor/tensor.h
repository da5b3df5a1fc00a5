#pragma once

#include "harness/base/byte_buffer.h"
#include "harness/tensor/dtype.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay {

/// Dimensions, slowest first (NCHW for rank 4). Rank 1 to 4 on a device.
using Shape = std::vector<std::int64_t>;

/// Returns the number of elements. Throws Error if a dim is < 1 or the product exceeds 2^40.
std::int64_t numel(const Shape& shape);

/// The four dims {N, C, H, W}; lower ranks are unsqueezed on the left. Throws Error for rank > 4.
struct Dims {
  std::int64_t n = 1, c = 1, h = 1, w = 1;
  friend bool operator==(const Dims&, const Dims&) = default;
};
Dims nchw(const Shape& shape);

/// Returns text such as "1x96x16x9".
std::string to_string(const Shape& shape);

/// Returns the coordinates of a row-major index, one per dim.
std::vector<std::int64_t> coordinates(const Shape& shape, std::int64_t index);

constexpr std::int64_t div_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) {
  return div_up(a, b) * b;
}

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
  /// Writes the elements from `first` on, as many as `to` has, as at() returns them.
  void widen(std::int64_t first, std::span<double> to) const;

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

/// Returns whether two shapes differ only by dims of 1: [64] and [64,1,1,1].
bool same_but_for_ones(const Shape& a, const Shape& b);

/// Returns whether values of one dtype may be converted to another if it can represent them: any float to any
/// float, any integer to any integer.
bool may_convert(DType from, DType to);

/// Returns `tensor` with another dtype and shape of as many elements. Throws Error ("holds 0.1 at [1, 0],
/// ...") about the first element that the dtype cannot represent, and std::logic_error if may_convert() is
/// false or the counts differ.
HostTensor converted(HostTensor tensor, DType dtype, const Shape& shape);

/// Returns a hash of dtype, shape and logical values. Padding is excluded, so all forms of a tensor hash
/// equal.
std::string hash_of(const HostTensor& tensor);
/// Returns one hash for several tensors, in order.
std::string hash_of(std::span<const HostTensor> tensors);

/// Returns one hash for answers of devices, with permitted differences ignored: all NaNs are equal, and a
/// float32 below 2^-126, which devices may flush, equals a zero of its sign.
std::string answer_hash_of(std::span<const HostTensor> tensors);

}  // namespace assay
