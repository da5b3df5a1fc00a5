#include "references/affine/affine.h"

#include "harness/base/error.h"
#include "harness/base/parallel.h"
#include "references/common/real_output.h"

#include <algorithm>
#include <cstddef>
#include <string>

namespace assay::references {
namespace {

std::int64_t block_entry(const Shape& shape, const std::vector<std::int64_t>& block_size, std::size_t dim) {
  const std::int64_t asked = block_size[dim];
  if (asked == -1) return shape[dim];
  if (asked >= 1 && asked <= shape[dim]) return asked;
  throw ParameterError("block_size", "block_size[" + std::to_string(dim) + "] is " + std::to_string(asked) +
                                         ", but that dim of shape " + to_string(shape) + " takes 1 to " +
                                         std::to_string(shape[dim]) + ", or -1 for the whole dim");
}

std::int32_t quant_limit(const Params& params, const char* name, QuantRange range) {
  const std::int64_t asked = params.integer(name);
  if (asked >= range.min && asked <= range.max) return static_cast<std::int32_t>(asked);
  throw ParameterError(name, std::string(name) + " is " + std::to_string(asked) +
                                 ", but `quantized: " + params.choice("quantized") + "` holds " +
                                 std::to_string(range.min) + " to " + std::to_string(range.max));
}

ZeroPointDomain domain_of(const std::string& name) {
  if (name == "none") return ZeroPointDomain::None;
  return name == "float" ? ZeroPointDomain::Float : ZeroPointDomain::Int;
}

/// The parameters that one block applies to its elements: roundEven(map(x)) + zero_point, clamped.
struct QuantizationRule {
  float factor;      ///< Int, None: 1 / scale; Float: scale
  float x_min;       ///< Float only
  float nan;         ///< the rounded value of a NaN, to which zero_point is added
  float zero_point;  ///< Int only, else 0
};

/// The clamping range.
struct Limits {
  float min, max;
};

inline float real_at(float x) {
  return x;
}
inline float real_at(Half x) {
  return to_float(x);
}

/// Rounds half to even without a library call, so that loops are vectorized: adding 1.5 * 2^23 leaves no bits
/// for a fraction. Correct for |x| < 2^22.
inline float round_even(float x) {
  constexpr float magic = 12582912.0f;
  return (x + magic) - magic;
}

template <ZeroPointDomain domain>
inline float map(float x, const QuantizationRule& rule) {
  if constexpr (domain == ZeroPointDomain::Float) return (x - rule.x_min) / rule.factor;
  return x * rule.factor;
}

/// The value is clamped before it is rounded and the zero point is added. The ends of the range are integers,
/// so this gives the same result as clamping last, and keeps the value inside the domain of `round_even`.
/// `rule` and `limits` are copies: stores of bytes may alias anything that is not local.
template <ZeroPointDomain domain, class X, class Q>
void quantize_run(const X* x, Q* q, std::int64_t count, const QuantizationRule rule, const Limits limits) {
  const float low = limits.min - rule.zero_point;
  const float high = limits.max - rule.zero_point;
  for (std::int64_t i = 0; i < count; ++i) {
    const float mapped = map<domain>(real_at(x[i]), rule);
    float value = mapped == mapped ? mapped : rule.nan;
    value = value < low ? low : value;
    value = value > high ? high : value;
    q[i] = static_cast<Q>(static_cast<std::int32_t>(round_even(value) + rule.zero_point));
  }
}

template <ZeroPointDomain domain>
QuantizationRule quantization_rule(const Affine& affine, std::span<const HostTensor> inputs,
                                   std::int64_t block) {
  const float scale = inputs[1].as<float>()[block];
  if constexpr (domain == ZeroPointDomain::Int) {
    return {1.0f / scale, 0, 0, static_cast<float>(inputs[2].as<std::int32_t>()[block])};
  } else if constexpr (domain == ZeroPointDomain::None) {
    return {1.0f / scale, 0, 0, 0};
  } else {
    const float offset = scale * affine.mid();
    return {scale, inputs[2].as<float>()[block] - offset, affine.mid(), 0};
  }
}

template <ZeroPointDomain domain, class X, class Q>
void quantize(const Affine& affine, std::span<const HostTensor> inputs, HostTensor& output) {
  const X* x = inputs[0].as<X>().data();
  Q* q = output.as<Q>().data();
  const Limits limits{static_cast<float>(affine.quant_min), static_cast<float>(affine.quant_max)};
  parallel_for(row_count(affine.grid), row_grain(affine.grid), [&](std::int64_t first, std::int64_t last) {
    for_each_run(affine.grid, first, last, [&](BlockRun run) {
      const QuantizationRule rule = quantization_rule<domain>(affine, inputs, run.block);
      quantize_run<domain>(x + run.first, q + run.first, run.count, rule, limits);
    });
  });
}

template <class X, class Q>
void quantize_in_domain(const Affine& affine, std::span<const HostTensor> inputs, HostTensor& output) {
  switch (affine.domain) {
    case ZeroPointDomain::Int:
      return quantize<ZeroPointDomain::Int, X, Q>(affine, inputs, output);
    case ZeroPointDomain::None:
      return quantize<ZeroPointDomain::None, X, Q>(affine, inputs, output);
    case ZeroPointDomain::Float:
      return quantize<ZeroPointDomain::Float, X, Q>(affine, inputs, output);
  }
}

template <class X>
void quantize_to(const Affine& affine, std::span<const HostTensor> inputs, HostTensor& output) {
  if (affine.quantized == DType::I8) return quantize_in_domain<X, std::int8_t>(affine, inputs, output);
  if (affine.quantized == DType::U8) return quantize_in_domain<X, std::uint8_t>(affine, inputs, output);
  quantize_in_domain<X, std::int32_t>(affine, inputs, output);
}

/// The scale and zero point of one block.
struct BlockRule {
  float scale;
  float mid;                ///< Float only
  float zero_point;         ///< Float only
  std::int32_t subtrahend;  ///< Int only, else 0
};

template <ZeroPointDomain domain>
BlockRule rule_of(const Affine& affine, std::span<const HostTensor> inputs, std::int64_t block) {
  const float scale = inputs[1].as<float>()[block];
  if constexpr (domain == ZeroPointDomain::Int) {
    return {scale, 0, 0, inputs[2].as<std::int32_t>()[block]};
  } else if constexpr (domain == ZeroPointDomain::None) {
    return {scale, 0, 0, 0};
  } else {
    return {scale, affine.mid(), inputs[2].as<float>()[block], 0};
  }
}

template <ZeroPointDomain domain>
inline float dequantized(std::int32_t q, const BlockRule& rule) {
  if constexpr (domain == ZeroPointDomain::Float) {
    return (static_cast<float>(q) - rule.mid) * rule.scale + rule.zero_point;
  }
  return static_cast<float>(q - rule.subtrahend) * rule.scale;
}

template <ZeroPointDomain domain, class Q, class Y>
void dequantize(const Affine& affine, std::span<const HostTensor> inputs, std::span<Y> y) {
  const Q* q = inputs[0].as<Q>().data();
  parallel_for(row_count(affine.grid), row_grain(affine.grid), [&](std::int64_t first, std::int64_t last) {
    for_each_run(affine.grid, first, last, [&](BlockRun run) {
      const BlockRule rule = rule_of<domain>(affine, inputs, run.block);
      for (std::int64_t i = run.first; i < run.first + run.count; ++i) {
        store(y[i], dequantized<domain>(static_cast<std::int32_t>(q[i]), rule));
      }
    });
  });
}

template <class Q, class Y>
void dequantize_in_domain(const Affine& affine, std::span<const HostTensor> inputs, std::span<Y> y) {
  switch (affine.domain) {
    case ZeroPointDomain::Int:
      return dequantize<ZeroPointDomain::Int, Q, Y>(affine, inputs, y);
    case ZeroPointDomain::None:
      return dequantize<ZeroPointDomain::None, Q, Y>(affine, inputs, y);
    case ZeroPointDomain::Float:
      return dequantize<ZeroPointDomain::Float, Q, Y>(affine, inputs, y);
  }
}

template <class Y>
void dequantize_from(const Affine& affine, std::span<const HostTensor> inputs, std::span<Y> y) {
  if (affine.quantized == DType::I8) return dequantize_in_domain<std::int8_t, Y>(affine, inputs, y);
  if (affine.quantized == DType::U8) return dequantize_in_domain<std::uint8_t, Y>(affine, inputs, y);
  dequantize_in_domain<std::int32_t, Y>(affine, inputs, y);
}

}  // namespace

QuantRange quant_range(DType quantized) {
  const DType narrow = quantized == DType::I32 ? DType::I16 : quantized;
  return {lowest(narrow), highest(narrow)};
}

BlockGrid block_grid(const Shape& shape, const std::vector<std::int64_t>& block_size) {
  if (block_size.size() != shape.size()) {
    throw ParameterError("block_size", "block_size has " + std::to_string(block_size.size()) +
                                           " entries, but shape " + to_string(shape) + " has " +
                                           std::to_string(shape.size()) + " dims: give one entry per dim");
  }
  BlockGrid grid{shape, {}, {}};
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    grid.block.push_back(block_entry(shape, block_size, dim));
    grid.counts.push_back(div_up(shape[dim], grid.block.back()));
  }
  return grid;
}

QuantLimits quant_limits(const Params& params) {
  const QuantRange range = quant_range(parse_dtype(params.choice("quantized")).value());
  const QuantLimits limits{quant_limit(params, "quant_min", range), quant_limit(params, "quant_max", range)};
  if (limits.min >= limits.max) {
    throw ParameterError("quant_max", "quant_max is " + std::to_string(limits.max) +
                                          ", but must be above quant_min, which is " +
                                          std::to_string(limits.min));
  }
  return limits;
}

Affine affine(const Params& params) {
  Affine result;
  result.grid = block_grid(params.ints("shape"), params.ints("block_size"));
  result.real = parse_dtype(params.choice("dtype")).value();
  result.quantized = parse_dtype(params.choice("quantized")).value();
  const QuantLimits limits = quant_limits(params);
  result.quant_min = limits.min;
  result.quant_max = limits.max;
  result.domain = domain_of(params.choice("zero_point_domain"));
  return result;
}

std::int64_t row_count(const BlockGrid& grid) {
  std::int64_t rows = 1;
  for (std::size_t dim = 0; dim + 1 < grid.shape.size(); ++dim) rows *= grid.shape[dim];
  return rows;
}

std::int64_t row_grain(const BlockGrid& grid) {
  constexpr std::int64_t elements = 1 << 15;
  return std::max<std::int64_t>(1, elements / grid.shape.back());
}

std::int64_t first_block_of_row(const BlockGrid& grid, std::int64_t row) {
  std::int64_t block = 0;
  std::int64_t stride = grid.counts.back();
  for (std::size_t dim = grid.shape.size() - 1; dim-- > 0;) {
    block += row % grid.shape[dim] / grid.block[dim] * stride;
    row /= grid.shape[dim];
    stride *= grid.counts[dim];
  }
  return block;
}

std::vector<Expected> quantize_affine(const Params& params, std::span<const HostTensor> inputs) {
  const Affine checked = affine(params);
  std::vector<Expected> outputs(1);
  outputs[0].values = HostTensor(checked.quantized, checked.grid.shape);
  if (checked.real == DType::F16) {
    quantize_to<Half>(checked, inputs, outputs[0].values);
  } else {
    quantize_to<float>(checked, inputs, outputs[0].values);
  }
  return outputs;
}

std::vector<Expected> dequantize_affine(const Params& params, std::span<const HostTensor> inputs) {
  const Affine checked = affine(params);
  return real_output(checked.real, checked.grid.shape, [&](auto y) { dequantize_from(checked, inputs, y); });
}

}  // namespace assay::references
