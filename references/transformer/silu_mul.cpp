#include "references/transformer/silu_mul.h"

#include "harness/base/parallel.h"
#include "references/common/real_output.h"

#include <cmath>
#include <limits>

namespace assay::references {
namespace {

constexpr double smallest_normal = 0x1p-126;

struct Product {
  double value = 0;
  double magnitude = 0;
  double absolute = 0;  ///< what float32 may lose besides; infinite: NaN is right, too
};

/// Whether a float32 other than 0 may be read or computed as 0.
bool may_vanish(double value, double least) {
  return value != 0 && std::fabs(value) < least;
}

Product product_of(double g, double u) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double gate = g == -infinity ? 0 : g / (1 + std::exp(-g));
  Product product{.value = gate * u};
  if (product.value != 0) product.magnitude = std::fabs(product.value) * (1 + std::fabs(g) / 2);
  const double overflow = std::fabs(g) * smallest_normal;  // what is left of the gate where exp() overflows
  const bool gate_vanishes = may_vanish(gate, 2 * std::fmax(overflow, smallest_normal));
  const bool u_vanishes = may_vanish(u, smallest_normal);
  if (g == -infinity || (gate_vanishes && std::isinf(u)) || (u_vanishes && std::isinf(gate))) {
    product.absolute = infinity;
  } else if (std::isfinite(product.value)) {
    product.absolute = overflow * std::fabs(u);
    if (gate_vanishes || u_vanishes) product.absolute += std::fabs(product.value);
  }
  return product;
}

}  // namespace

std::vector<Expected> silu_mul(const Params& params, std::span<const HostTensor> inputs) {
  BoundedOutput y(parse_dtype(params.choice("dtype")).value(), params.ints("shape"),
                  BoundedOutput::Flushed::Absolute);
  const HostTensor& g = inputs[0];
  const HostTensor& u = inputs[1];
  parallel_for(g.numel(), cheap_grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const Product product = product_of(g.at(i), u.at(i));
      y.set(i, product.value, product.magnitude, product.absolute);
    }
  });
  std::vector<Expected> outputs;
  outputs.push_back(y.take());
  return outputs;
}

}  // namespace assay::references
