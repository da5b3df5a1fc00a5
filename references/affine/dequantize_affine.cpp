#include "references/affine/dequantize_affine.h"

#include "harness/base/parallel.h"
#include "references/affine/affine.h"
#include "references/common/real_output.h"

#include <cstddef>

namespace assay::references {
namespace {

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
inline float real_of(std::int32_t q, const BlockRule& rule) {
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
        store(y[i], real_of<domain>(static_cast<std::int32_t>(q[i]), rule));
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

std::vector<Expected> dequantize_affine(const Params& params, std::span<const HostTensor> inputs) {
  const Affine checked = affine(params);
  return real_output(checked.real, checked.grid.shape, [&](auto y) { dequantize_from(checked, inputs, y); });
}

}  // namespace assay::references
