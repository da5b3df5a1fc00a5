#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay {

/// The type of a logical element. F64 and I64 exist on the host only (.npy files, double references).
enum class DType : std::uint8_t { F32, F16, I32, I16, I8, U8, F64, I64 };

/// The bits of an IEEE binary16 number. For arithmetic, convert with `to_float`.
struct Half {
  std::uint16_t bits = 0;
  friend bool operator==(Half, Half) = default;
};

std::size_t size_of(DType dtype);       ///< bytes of one element
std::string_view name_of(DType dtype);  ///< "f32", "f16", "i32", "i16", "i8", "u8", "f64", "i64"
std::optional<DType> parse_dtype(std::string_view name);
bool is_float(DType dtype);
bool is_integer(DType dtype);

/// Returns the smallest and largest value of an integer dtype. Throws std::logic_error for a float dtype.
std::int64_t lowest(DType dtype);
std::int64_t highest(DType dtype);

float to_float(Half half);  ///< exact; NaN stays NaN
Half to_half(float value);  ///< round to nearest even, overflow to infinity, denormals kept

/// Maps a C++ element type to its DType.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::F32;
};
template <>
struct DTypeOf<Half> {
  static constexpr DType value = DType::F16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::I32;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType value = DType::I16;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::I8;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::U8;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::F64;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::I64;
};

/// Returns |got - expected| of one element, or infinity if exactly one of them is NaN or infinite.
double absolute_error(double expected, double got);

/// Returns one unit in the last place of a float dtype at `value`: the smallest denormal for denormals, 0 for
/// infinities, NaN and integer dtypes.
double unit_in_last_place(DType dtype, double value);

}  // namespace assay
