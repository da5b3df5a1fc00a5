#include "references/transformer/update_cache.h"

#include "harness/base/error.h"
#include "harness/base/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace assay::references {
namespace {

/// Copies one head of x, and notes that its values are not kept.
void write_head(const UpdateCache& op, const HostTensor& x, std::int64_t row, Expected& cache) {
  const std::int64_t head = row % op.heads, token = row / op.heads % op.tokens;
  const auto first = static_cast<std::size_t>(op.at(row / op.heads / op.tokens, token, head));
  const auto width = static_cast<std::size_t>(op.width), bytes = size_of(op.dtype);
  const auto from = x.bytes().subspan(static_cast<std::size_t>(row) * width * bytes, width * bytes);
  std::ranges::copy(from, cache.values.bytes().subspan(first * bytes).begin());
  std::ranges::fill(std::span(cache.kept).subspan(first, width), std::uint8_t{0});
}

}  // namespace

Shape UpdateCache::cache_shape() const {
  if (by_head) return {batch, heads, capacity, width};
  return {batch, capacity, heads, width};
}

std::int64_t UpdateCache::at(std::int64_t in_batch, std::int64_t token, std::int64_t head) const {
  const std::int64_t position = start + token;
  const std::int64_t row = by_head ? (in_batch * heads + head) * capacity + position
                                   : (in_batch * capacity + position) * heads + head;
  return row * width;
}

UpdateCache update_cache_params(const Params& params) {
  const Shape& shape = params.ints("shape");
  const UpdateCache op{.batch = shape[0],
                       .tokens = shape[1],
                       .heads = shape[2],
                       .width = shape[3],
                       .capacity = params.integer("capacity"),
                       .start = params.integer("start_pos"),
                       .by_head = params.choice("layout") == "bhsd",
                       .dtype = parse_dtype(params.choice("dtype")).value()};
  if (op.start + op.tokens > op.capacity) {
    throw ParameterError("start_pos",
                         fmt::format("start_pos is {}, but must be at most {}: {} tokens of shape go into a "
                                     "cache of the capacity {}",
                                     op.start, op.capacity - op.tokens, op.tokens, op.capacity));
  }
  return op;
}

std::vector<Expected> update_cache(const Params& params, std::span<const HostTensor> inputs) {
  const UpdateCache op = update_cache_params(params);
  std::vector<Expected> outputs(1);
  Expected& cache = outputs[0];
  cache.values = inputs[1];
  cache.kept.assign(static_cast<std::size_t>(cache.values.numel()), 1);
  const std::int64_t grain = std::max<std::int64_t>(1, cheap_grain / op.width);
  parallel_for(op.batch * op.tokens * op.heads, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) write_head(op, inputs[0], row, cache);
  });
  return outputs;
}

}  // namespace assay::references
