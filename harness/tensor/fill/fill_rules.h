#pragma once

#include "harness/tensor/dtype.h"
#include "harness/tensor/fill/fill_spec.h"
#include "harness/tensor/fill/random_bits.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

// Defines each fill for each role by a rule that turns the random bits of elements into their values.

namespace assay {

/// What a rule may depend on besides an element's bits and index.
struct FillRequest {
  DType dtype = DType::F32;
  FillKind kind = FillKind::Normal;
  std::optional<double> value;  ///< for `constant`
  FillDomain domain;
  std::int64_t numel = 0;
  std::int64_t chosen = 0;  ///< the element that gets the value that every tensor needs at least once
  std::int64_t run = 1;     ///< elements of one kind under `mixed`
  std::int64_t row = 1;     ///< elements along the last dim
};

/// Returns the number of elements along the last dim; 1 for a scalar.
std::int64_t row_of(const Shape& shape);

/// Returns the number of elements of one kind under `mixed`: a row, or an eighth of a tensor with fewer than
/// eight rows.
std::int64_t mixed_run(const Shape& shape);

/// Computes the values of the elements first, first + 1, ... from their bits.
template <class V>
using Rule = std::function<void(std::span<const Bits> bits, std::int64_t first, std::span<V> out)>;

/// Makes a rule from value(bits, index).
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

/// Returns whether an element is an outlier: one in 64, and the chosen one if the tensor is large enough to
/// have one.
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
