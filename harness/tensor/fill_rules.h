#pragma once

#include "harness/tensor/dtype.h"
#include "harness/tensor/fill_spec.h"
#include "harness/tensor/random_bits.h"
#include "harness/tensor/shape.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

// What each fill means for each role: rules that turn the random bits of elements into their values.

namespace assay {

/// What a rule may depend on beside an element's bits and index.
struct FillRequest {
  DType dtype = DType::F32;
  FillKind kind = FillKind::Normal;
  std::optional<double> value;  ///< of `constant`
  FillDomain domain;
  std::int64_t numel = 0;
  std::int64_t chosen = 0;  ///< the element that gets what every tensor needs at least once
  std::int64_t run = 1;     ///< elements of one kind under `mixed`
  std::int64_t row = 1;     ///< elements along the last dim
};

/// Elements along the last dim; of a scalar: 1.
std::int64_t row_of(const Shape& shape);

/// Elements of one kind under `mixed`: a row, or an eighth of a tensor of fewer than eight rows.
std::int64_t mixed_run(const Shape& shape);

/// Values of the elements first, first + 1, ... from their bits.
template <class V>
using Rule = std::function<void(std::span<const Bits> bits, std::int64_t first, std::span<V> out)>;

/// A rule from value(bits, index).
template <class V, class F>
Rule<V> per_element(F value) {
  return [value](std::span<const Bits> bits, std::int64_t first, std::span<V> out) {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = value(bits[i], first + static_cast<std::int64_t>(i));
  };
}

template <class V>
Rule<V> always(V value) {
  return per_element<V>([value](Bits, std::int64_t) { return value; });
}

/// Outliers: one element in 64, and the chosen one of a tensor that is large enough to have one.
inline bool is_outlier(const FillRequest& request, Bits bits, std::int64_t index) {
  return (bits.a & 63U) == 0 || (index == request.chosen && request.numel >= 8);
}

Rule<float> float_data_rule(const FillRequest& request);
Rule<float> scale_rule(const FillRequest& request);
Rule<float> float_zero_point_rule(const FillRequest& request);
Rule<std::int64_t> integer_data_rule(const FillRequest& request);
Rule<std::int64_t> zero_point_rule(const FillRequest& request);
Rule<std::int64_t> index_rule(const FillRequest& request);

}  // namespace assay
