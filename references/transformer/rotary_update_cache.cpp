#include "references/transformer/rotary_update_cache.h"

#include "harness/base/error.h"
#include "harness/base/parallel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace assay::references {
namespace {

Params rotary_params_of(const Params& params) {
  Params rotary;
  rotary.set("shape",
             Shape{params.integer("B"), params.integer("S"), params.integer("Hkv"), params.integer("D")});
  for (const char* name : {"dtype", "pairs"}) rotary.set(name, params.choice(name));
  for (const char* name : {"rotary_dim", "start_pos", "positions"}) rotary.set(name, params.integer(name));
  return rotary;
}

Params update_params_of(const Params& params) {
  Params update;
  for (const char* name : {"B", "S", "Hkv", "D", "start_pos", "C"}) update.set(name, params.integer(name));
  for (const char* name : {"dtype", "layout", "cache_dtype"}) update.set(name, params.choice(name));
  return update;
}

/// An output that begins as `before`, all of which is kept.
Expected bounded_and_kept(const HostTensor& before) {
  Expected output = all_kept(before);
  output.bound.resize(output.kept.size());
  output.magnitude.resize(output.kept.size());
  return output;
}

/// Stores a value in the cache's type; returns what that changes, 0 for values that are not finite.
double stored_in(HostTensor& cache, std::size_t index, double value) {
  const auto single = static_cast<float>(value);
  double now = single;
  if (cache.dtype() == DType::F16) {
    const Half half = to_half(single);
    cache.as<Half>()[index] = half;
    now = to_float(half);
  } else {
    cache.as<float>()[index] = single;
  }
  return std::isfinite(now) && std::isfinite(value) ? std::fabs(now - value) : 0;
}

void write_turned_row(const UpdateCache& op, const Expected& turned, std::int64_t row, Expected& cache) {
  const std::int64_t first = op.cache_row(row) * op.width;
  for (std::int64_t column = 0; column < op.width; ++column) {
    const auto to = static_cast<std::size_t>(first + column);
    const auto from = static_cast<std::size_t>(row * op.width + column);
    const double changed = stored_in(cache.values, to, turned.values.at(row * op.width + column));
    cache.magnitude[to] = turned.magnitude[from];
    cache.bound[to] = turned.bound[from];
    if (changed > 0) {
      cache.bound[to] = std::nextafter(static_cast<float>(turned.bound[from] + changed),
                                       std::numeric_limits<float>::infinity());
    }
    cache.kept[to] = 0;
  }
}

/// A row of float64 values after the rotation, quantized by update_cache's steps in float32: where no value
/// was rounded, codes are those of update_cache, also next to a tie.
class TurnedRow {
 public:
  TurnedRow(const Expected& turned, std::int64_t row, std::int64_t width)
      : turned_(&turned), first_(row * width) {
    for (std::int64_t column = 0; column < width; ++column) {
      const double value = std::fabs(value_at(column));
      if (value > largest_) largest_ = value;  // false for a NaN
      largest_error_ = std::max(largest_error_, error_at(column));
    }
    scale_ = is_zero() ? 1 : static_cast<float>(largest_) / largest_code;
  }

  float scale() const { return scale_; }
  /// The magnitude of the difference to a device's, in units of two roundings: the largest error of a value,
  /// which bounds that of the largest value, its rounding to float32 here, and that of both quotients.
  double scale_error() const { return is_zero() ? 0 : largest_error_ / largest_code + 2 * scale_; }
  /// The value in steps of the scale.
  double steps_at(std::int64_t column) const {
    const float steps = static_cast<float>(value_at(column)) * (1 / scale_);
    return std::isnan(steps) ? 0 : steps;
  }
  /// The magnitude of the difference to a device's: the value's error, its share of the largest error,
  /// and eight roundings: here of the value and of the largest one to float32; here and there of the scale,
  /// its inverse and the product.
  double steps_error_at(std::int64_t column) const {
    if (is_zero() || std::isnan(value_at(column))) return 0;
    return error_at(column) / scale_ + std::fabs(steps_at(column)) * (largest_error_ / largest_ + 4);
  }

 private:
  bool is_zero() const { return largest_ < static_cast<double>(least_of_row); }
  double value_at(std::int64_t column) const { return turned_->values.at(first_ + column); }
  /// The magnitude of a value's error. A unit error is at least 2^-23, so that 2^23 times what a device may
  /// lose by flushing covers it.
  double error_at(std::int64_t column) const {
    const auto at = static_cast<std::size_t>(first_ + column);
    return static_cast<double>(turned_->magnitude[at]) + 0x1p23 * static_cast<double>(turned_->bound[at]);
  }

  const Expected* turned_;
  std::int64_t first_;
  float scale_;
  double largest_ = 0;  ///< magnitude of a value
  double largest_error_ = 0;
};

/// The codes, all of which are kept so far.
Expected kept_codes(const HostTensor& before) {
  Expected codes = all_kept(before);
  codes.magnitude.resize(codes.kept.size());
  codes.unrounded.resize(codes.kept.size());
  for (std::size_t i = 0; i < codes.unrounded.size(); ++i) {
    codes.unrounded[i] = before.at(static_cast<std::int64_t>(i));
  }
  return codes;
}

void write_codes(const UpdateCache& op, const Expected& turned, std::int64_t row, Expected& codes,
                 Expected& scales) {
  const TurnedRow from(turned, row, op.width);
  const std::int64_t to = op.cache_row(row);
  const auto at = static_cast<std::size_t>(to);
  scales.values.as<float>()[at] = from.scale();
  scales.magnitude[at] = static_cast<float>(from.scale_error());
  scales.kept[at] = 0;
  for (std::int64_t column = 0; column < op.width; ++column) {
    const auto i = static_cast<std::size_t>(to * op.width + column);
    const double steps = from.steps_at(column);
    const double code = std::clamp<double>(std::nearbyint(steps), -largest_code, largest_code);
    codes.values.as<std::int8_t>()[i] = static_cast<std::int8_t>(code);
    codes.unrounded[i] = steps;
    codes.magnitude[i] = static_cast<float>(from.steps_error_at(column));
    codes.kept[i] = 0;
  }
}

}  // namespace

RotaryUpdateCache rotary_update_cache_params(const Params& params) {
  return {rotary_embedding_params(rotary_params_of(params)), update_cache_params(update_params_of(params))};
}

std::vector<Expected> rotary_update_cache(const Params& params, std::span<const HostTensor> inputs) {
  const UpdateCache op = update_cache_params(update_params_of(params));
  Params rotary = rotary_params_of(params);
  if (op.q8) rotary.set("dtype", std::string("f32"));
  const Expected turned = rotary_embedding(rotary, inputs.first(3)).front();
  std::vector<Expected> outputs;
  outputs.push_back(op.q8 ? kept_codes(inputs[3]) : bounded_and_kept(inputs[3]));  // moved: caches are large
  if (op.q8) outputs.push_back(bounded_and_kept(inputs[4]));
  const std::int64_t grain = std::max<std::int64_t>(1, cheap_grain / op.width);
  parallel_for(op.batch * op.tokens * op.heads, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      if (op.q8) {
        write_codes(op, turned, row, outputs[0], outputs[1]);
      } else {
        write_turned_row(op, turned, row, outputs[0]);
      }
    }
  });
  return outputs;
}

}  // namespace assay::references
