#include "harness/tensor/dtype.h"

#include "harness/base/names.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace assay {

namespace {

constexpr Names<8> dtype_names{"f32", "f16", "i32", "i16", "i8", "u8", "f64", "i64"};

[[noreturn]] void no_integer_range(DType dtype) {
  throw std::logic_error("the integer range of dtype " + std::string(name_of(dtype)) + " was asked for");
}

/// Returns `value >> shift`, with the lost bits rounded to nearest even. 1 <= shift <= 31.
std::uint32_t shift_right_rne(std::uint32_t value, int shift) {
  const std::uint32_t below_half = (1U << (shift - 1)) - 1;
  const std::uint32_t is_odd =
      value >> shift & 1U;  // an odd result rounds up from half on, an even one only above it
  return (value + below_half + is_odd) >> shift;
}

}  // namespace

std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::F32:
    case DType::I32:
      return 4;
    case DType::F16:
    case DType::I16:
      return 2;
    case DType::I8:
    case DType::U8:
      return 1;
    case DType::F64:
    case DType::I64:
      return 8;
  }
  throw std::logic_error("size_of: not a dtype");
}

std::string_view name_of(DType dtype) {
  return name_in(dtype_names, dtype);
}

std::optional<DType> parse_dtype(std::string_view name) {
  return value_in<DType>(dtype_names, name);
}

bool is_float(DType dtype) {
  return dtype == DType::F32 || dtype == DType::F16 || dtype == DType::F64;
}

bool is_integer(DType dtype) {
  return !is_float(dtype);
}

std::int64_t lowest(DType dtype) {
  switch (dtype) {
    case DType::I32:
      return std::numeric_limits<std::int32_t>::min();
    case DType::I16:
      return std::numeric_limits<std::int16_t>::min();
    case DType::I8:
      return std::numeric_limits<std::int8_t>::min();
    case DType::U8:
      return 0;
    case DType::I64:
      return std::numeric_limits<std::int64_t>::min();
    default:
      no_integer_range(dtype);
  }
}

std::int64_t highest(DType dtype) {
  switch (dtype) {
    case DType::I32:
      return std::numeric_limits<std::int32_t>::max();
    case DType::I16:
      return std::numeric_limits<std::int16_t>::max();
    case DType::I8:
      return std::numeric_limits<std::int8_t>::max();
    case DType::U8:
      return std::numeric_limits<std::uint8_t>::max();
    case DType::I64:
      return std::numeric_limits<std::int64_t>::max();
    default:
      no_integer_range(dtype);
  }
}

float to_float(Half half) {
  const std::uint32_t sign = (half.bits & 0x8000U) << 16;
  const std::uint32_t exponent = (half.bits >> 10) & 0x1fU;
  const std::uint32_t mantissa = half.bits & 0x3ffU;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;  // exact: denormals and zero
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

Half to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  const auto with_sign = [sign](std::uint32_t rest) { return Half{static_cast<std::uint16_t>(sign | rest)}; };

  if (magnitude > 0x7f800000U) return with_sign(0x7e00U | ((magnitude >> 13) & 0x3ffU));  // NaN, made quiet
  if (magnitude >= 0x47800000U) return with_sign(0x7c00U);                                // >= 2^16
  if (magnitude >= 0x38800000U) {                                                         // >= 2^-14: normal
    // Rounding may carry into the exponent, even up to infinity, which is the right answer.
    return with_sign(shift_right_rne(magnitude - 0x38000000U, 13));
  }
  if (magnitude <= 0x33000000U) return with_sign(0);  // <= 2^-25: half of the smallest denormal
  const auto exponent = static_cast<int>(magnitude >> 23);
  return with_sign(shift_right_rne((magnitude & 0x7fffffU) | 0x800000U, 126 - exponent));
}

double absolute_error(double expected, double got) {
  if (std::isnan(expected) && std::isnan(got)) return 0;
  if (expected == got) return 0;
  const double error = std::fabs(got - expected);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

double unit_in_last_place(DType dtype, double value) {
  if (!std::isfinite(value) || !is_float(dtype)) return 0;
  const int digits = dtype == DType::F16 ? 11 : dtype == DType::F32 ? 24 : 53;
  const int smallest = dtype == DType::F16 ? -24 : dtype == DType::F32 ? -149 : -1074;
  int exponent = 0;  // |value| < 2^exponent
  std::frexp(value, &exponent);
  return value == 0 ? std::ldexp(1, smallest) : std::ldexp(1, std::max(exponent - digits, smallest));
}

}  // namespace assay
