#include "references/linear/linear_rows.h"

#include "harness/base/parallel.h"
#include "references/common/qparams.h"

#include <algorithm>

namespace assay::references {
namespace {

IntegerRows rows_of(const HostTensor& tensor, std::int64_t values_of_an_element) {
  const std::int64_t elements = tensor.shape().back();
  IntegerRows made{tensor.numel() / elements, elements * values_of_an_element, {}};
  made.values.resize(static_cast<std::size_t>(made.rows * made.depth));
  return made;
}

/// Calls fill(row, values) for every row.
template <class Fill>
void fill_rows(IntegerRows& made, const Fill& fill) {
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 15) / made.depth);
  parallel_for(made.rows, grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) fill(row, made.values.data() + row * made.depth);
  });
}

template <class ZeroPoint>
IntegerRows differences(const HostTensor& tensor, const ZeroPoint& zero_point_of) {
  IntegerRows made = rows_of(tensor, 1);
  const std::int8_t* from = tensor.as<std::int8_t>().data();
  fill_rows(made, [&](std::int64_t row, std::int16_t* to) {
    const std::int32_t zero_point = zero_point_of(row);
    const std::int8_t* q = from + row * made.depth;
    for (std::int64_t k = 0; k < made.depth; ++k) to[k] = static_cast<std::int16_t>(q[k] - zero_point);
  });
  return made;
}

template <class Real>
void quantize_rows(IntegerRows& made, const Real* x,
                   const std::function<QParams(std::int64_t row)>& qparams) {
  fill_rows(made, [&](std::int64_t row, std::int16_t* to) {
    const QParams of_row = qparams(row);
    const float inverse = 1.0F / of_row.scale;
    const auto zero_point = static_cast<float>(of_row.zero_point);
    const Real* from = x + row * made.depth;
    for (std::int64_t k = 0; k < made.depth; ++k) {
      const std::int8_t q = quantized(real_of(from[k]), inverse, zero_point);
      to[k] = static_cast<std::int16_t>(q - of_row.zero_point);
    }
  });
}

}  // namespace

IntegerRows int8_rows(const HostTensor& tensor, std::int32_t zero_point) {
  return differences(tensor, [=](std::int64_t) { return zero_point; });
}

IntegerRows int8_rows(const HostTensor& tensor, std::span<const std::int32_t> zero_points) {
  return differences(tensor, [=](std::int64_t row) { return zero_points[static_cast<std::size_t>(row)]; });
}

IntegerRows quantized_rows(const HostTensor& x, const std::function<QParams(std::int64_t row)>& qparams) {
  IntegerRows made = rows_of(x, 1);
  if (x.dtype() == DType::F32) {
    quantize_rows(made, x.as<float>().data(), qparams);
  } else {
    quantize_rows(made, x.as<Half>().data(), qparams);
  }
  return made;
}

IntegerRows int4_rows(const HostTensor& w, EvenNibble even) {
  IntegerRows made = rows_of(w, 2);
  const std::uint8_t* bytes = w.as<std::uint8_t>().data();
  const int shift_of_even = even == EvenNibble::High ? 4 : 0;
  fill_rows(made, [&](std::int64_t row, std::int16_t* to) {
    const std::uint8_t* from = bytes + row * (made.depth / 2);
    for (std::int64_t k = 0; k < made.depth; k += 2) {
      const int byte = from[k / 2];
      to[k] = static_cast<std::int16_t>((byte >> shift_of_even & 15) - 8);
      to[k + 1] = static_cast<std::int16_t>((byte >> (4 - shift_of_even) & 15) - 8);
    }
  });
  return made;
}

IntegerRows int4_rows(const HostTensor& w, EvenNibble even, const HostTensor& zero_points) {
  IntegerRows made = int4_rows(w, even);
  const std::int32_t* zero_point = zero_points.as<std::int32_t>().data();
  const std::int64_t group_size = made.depth / zero_points.shape().front();
  fill_rows(made, [&](std::int64_t row, std::int16_t* to) {
    for (std::int64_t group = 0; group < made.depth / group_size; ++group) {
      const std::int32_t of_group = zero_point[group * made.rows + row];
      for (std::int64_t k = 0; k < group_size; ++k) to[k] = static_cast<std::int16_t>(to[k] - of_group);
      to += group_size;
    }
  });
  return made;
}

}  // namespace assay::references
