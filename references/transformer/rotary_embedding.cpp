#include "references/transformer/rotary_embedding.h"

#include "harness/base/error.h"
#include "harness/base/parallel.h"
#include "references/common/real_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace assay::references {
namespace {

/// A product, and what a device may lose of it by flushing a factor or the result to zero; infinite where it
/// may become NaN.
struct Turned {
  double value = 0, lost = 0;
};

Turned turned_by(double value, double factor) {
  const auto vanishes = [](double x) { return x != 0 && std::fabs(x) < 0x1p-126; };
  const double product = value * factor;
  const bool loses = vanishes(value) || vanishes(factor) || vanishes(product);
  return {product, loses ? std::fabs(product) : 0};
}

void set_sum(BoundedOutput& y, std::int64_t index, const Turned& a, const Turned& b, double sign) {
  y.set(index, a.value + sign * b.value, std::fabs(a.value) + std::fabs(b.value), a.lost + b.lost);
}

/// Turns one head, whose values begin at `first`, by one row of the tables, which begins at `row`.
void turn_head(const RotaryEmbedding& op, std::span<const HostTensor> inputs, std::int64_t first,
               std::int64_t row, BoundedOutput& y) {
  const std::int64_t pairs = op.turned / 2;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const std::int64_t at_a = first + (op.interleaved ? 2 * i : i);
    const std::int64_t at_b = at_a + (op.interleaved ? 1 : pairs);
    const double a = inputs[0].at(at_a), b = inputs[0].at(at_b);
    const double cos = inputs[1].at(row + i), sin = inputs[2].at(row + i);
    set_sum(y, at_a, turned_by(a, cos), turned_by(b, sin), -1);
    set_sum(y, at_b, turned_by(a, sin), turned_by(b, cos), 1);
  }
  for (std::int64_t i = first + op.turned; i < first + op.width; ++i) y.set_exact(i, inputs[0].at(i));
}

}  // namespace

RotaryEmbedding rotary_embedding_params(const Params& params) {
  const Shape& shape = params.ints("shape");
  const RotaryEmbedding op{.batch = shape[0],
                           .tokens = shape[1],
                           .heads = shape[2],
                           .width = shape[3],
                           .turned = params.integer("rotary_dim"),
                           .start = params.integer("start_pos"),
                           .positions = params.integer("positions"),
                           .interleaved = params.choice("pairs") == "interleaved",
                           .dtype = parse_dtype(params.choice("dtype")).value()};
  if (op.turned % 2 != 0 || op.turned > op.width) {
    throw ParameterError("rotary_dim",
                         fmt::format("rotary_dim is {}, but must be even and at most {}, the last dim "
                                     "of shape",
                                     op.turned, op.width));
  }
  if (op.positions < op.start + op.tokens) {
    throw ParameterError("positions",
                         fmt::format("positions is {}, but must be at least {}, the sum of start_pos "
                                     "and the {} tokens of shape",
                                     op.positions, op.start + op.tokens, op.tokens));
  }
  return op;
}

std::vector<Expected> rotary_embedding(const Params& params, std::span<const HostTensor> inputs) {
  const RotaryEmbedding op = rotary_embedding_params(params);
  BoundedOutput y(op.dtype, inputs[0].shape(), BoundedOutput::Flushed::Absolute);
  const std::int64_t grain = std::max<std::int64_t>(1, cheap_grain / op.width);
  parallel_for(op.batch * op.tokens * op.heads, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t head = begin; head < end; ++head) {
      const std::int64_t position = op.start + head / op.heads % op.tokens;
      turn_head(op, inputs, head * op.width, position * (op.turned / 2), y);
    }
  });
  std::vector<Expected> outputs;
  outputs.push_back(y.take());
  return outputs;
}

}  // namespace assay::references
