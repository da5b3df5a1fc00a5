#pragma once

#include "harness/op/params.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace assay::references {

/// The integers of one side of a product; each row's neighbours along K follow each other. 16 bits hold a
/// difference of two int8 values, and processors multiply and add such integers in pairs.
struct IntegerRows {
  std::int64_t rows = 0;
  std::int64_t depth = 0;  ///< values per row, K
  std::vector<std::int16_t> values;

  const std::int16_t* row(std::int64_t index) const { return values.data() + index * depth; }
};

/// The rows of x[..., K] or w[N, K], i8, minus a zero point.
IntegerRows int8_rows(const HostTensor& tensor, std::int32_t zero_point = 0);
/// The rows of x, i8, each minus its own zero point.
IntegerRows int8_rows(const HostTensor& tensor, std::span<const std::int32_t> zero_points);

/// The rows of x (f32 or f16), quantized to -128..127 with the scale and zero point of their row, minus that
/// zero point: clamp(roundEven(x * fl32(1 / scale)) + zero_point) - zero_point, each step in float32. NaN
/// gives the zero point, infinities saturate.
IntegerRows quantized_rows(const HostTensor& x, const std::function<QParams(std::int64_t row)>& qparams);

/// The half of a byte that holds the value of the even k.
enum class EvenNibble : std::uint8_t { Low, High };

/// The rows of w (u8 [N, K / 2]), as nibble - 8.
IntegerRows int4_rows(const HostTensor& w, EvenNibble even);
/// The rows of w (u8 [N, K / 2]), as nibble - 8 minus the zero point of the group, i32 [K / group_size, N].
IntegerRows int4_rows(const HostTensor& w, EvenNibble even, const HostTensor& zero_points);

}  // namespace assay::references
