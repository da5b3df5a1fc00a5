#include "references/elementwise/add.h"

#include "harness/base/parallel.h"
#include "references/common/real_output.h"

namespace assay::references {
namespace {

/// A term or the sum may be taken for 0 where it is below 2^-126.
constexpr double lost_by_flushing = 0x1p-124;

/// The sum of two float32 is rounded from float64 as from real numbers: 53 bits are more than 2 * 24 + 1.
double rounded_sum(DType dtype, double value) {
  const auto single = static_cast<float>(value);
  return dtype == DType::F16 ? to_float(to_half(single)) : single;
}

}  // namespace

std::vector<Expected> add(const Params& params, std::span<const HostTensor> inputs) {
  const DType dtype = parse_dtype(params.choice("dtype")).value();
  BoundedOutput y(dtype, params.ints("shape"), BoundedOutput::Flushed::Absolute);
  const HostTensor& a = inputs[0];
  const HostTensor& b = inputs[1];
  parallel_for(a.numel(), cheap_grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      y.set(i, rounded_sum(dtype, a.at(i) + b.at(i)), 0, dtype == DType::F16 ? 0 : lost_by_flushing);
  });
  std::vector<Expected> outputs;
  outputs.push_back(y.take());
  return outputs;
}

}  // namespace assay::references
