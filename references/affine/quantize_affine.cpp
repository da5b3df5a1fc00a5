#include "references/affine/quantize_affine.h"

#include "harness/base/parallel.h"
#include "references/affine/affine.h"

#include <algorithm>
#include <cstddef>

namespace assay::references {
namespace {

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

}  // namespace

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

}  // namespace assay::references
