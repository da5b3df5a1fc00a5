#include "harness/gpu/program/encoded_number.h"

#include "harness/tensor/dtype.h"

#include <bit>
#include <limits>

namespace assay::gpu {
namespace {

template <class T>
bool holds(std::int64_t value) {
  return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
}

/// Whether an integer of that many bits, signed or not, can have the value: a kernel's `int` also holds bits.
bool fits(std::int64_t value, NumberType type) {
  switch (type.bits) {
    case 8:
      return type.kind == NumberType::Kind::Signed ? holds<std::int8_t>(value) : holds<std::uint8_t>(value);
    case 16:
      return type.kind == NumberType::Kind::Signed ? holds<std::int16_t>(value) : holds<std::uint16_t>(value);
    case 32:
      return type.kind == NumberType::Kind::Signed ? holds<std::int32_t>(value) : holds<std::uint32_t>(value);
    default:
      return type.bits == 64 && (type.kind == NumberType::Kind::Signed || value >= 0);
  }
}

}  // namespace

std::optional<std::uint64_t> encoded(const Number& number, NumberType type) {
  const auto* whole = std::get_if<std::int64_t>(&number);
  const double real = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(number);
  if (type.kind == NumberType::Kind::Float) {
    if (type.bits == 64) return std::bit_cast<std::uint64_t>(real);
    const auto single = static_cast<float>(real);
    if (type.bits == 32) return std::bit_cast<std::uint32_t>(single);
    if (type.bits == 16) return std::bit_cast<std::uint16_t>(to_half(single));
    return std::nullopt;
  }
  if (whole == nullptr) return std::nullopt;
  if (type.kind == NumberType::Kind::Boolean)
    return *whole == 0 || *whole == 1 ? std::optional<std::uint64_t>(*whole) : std::nullopt;
  if (!fits(*whole, type)) return std::nullopt;
  return static_cast<std::uint64_t>(*whole);
}

}  // namespace assay::gpu
