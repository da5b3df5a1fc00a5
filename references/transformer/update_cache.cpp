#include "references/transformer/update_cache.h"

#include "harness/base/error.h"
#include "harness/base/parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace assay::references {
namespace {

/// Notes that `count` values from `first` on are written.
void note_written(Expected& output, std::int64_t first, std::int64_t count) {
  const auto begin = output.kept.begin() + first;
  std::fill(begin, begin + count, std::uint8_t{0});
}

void copy_row(const UpdateCache& op, const HostTensor& x, std::int64_t row, Expected& cache) {
  const std::int64_t first = op.cache_row(row) * op.width;
  const std::size_t size = size_of(op.dtype), bytes = static_cast<std::size_t>(op.width) * size;
  const auto from = x.bytes().subspan(static_cast<std::size_t>(row) * bytes, bytes);
  std::ranges::copy(from, cache.values.bytes().subspan(static_cast<std::size_t>(first) * size).begin());
  note_written(cache, first, op.width);
}

float scale_of(const UpdateCache& op, const HostTensor& x, std::int64_t first) {
  float largest = 0;
  for (std::int64_t i = first; i < first + op.width; ++i) {
    const float magnitude = std::fabs(static_cast<float>(x.at(i)));
    if (magnitude > largest) largest = magnitude;  // false for a NaN
  }
  return largest < least_of_row ? 1 : largest / largest_code;
}

std::int8_t quantized(float value, float inverse) {
  if (std::isnan(value)) return 0;
  return static_cast<std::int8_t>(std::clamp(std::nearbyint(value * inverse), -largest_code, largest_code));
}

void quantize_row(const UpdateCache& op, const HostTensor& x, std::int64_t row, Expected& cache,
                  Expected& scales) {
  const std::int64_t to = op.cache_row(row), first = to * op.width;
  const float scale = scale_of(op, x, row * op.width), inverse = 1 / scale;
  scales.values.as<float>()[static_cast<std::size_t>(to)] = scale;
  note_written(scales, to, 1);
  const std::span<std::int8_t> values = cache.values.as<std::int8_t>();
  for (std::int64_t i = 0; i < op.width; ++i) {
    const auto value = static_cast<float>(x.at(row * op.width + i));
    values[static_cast<std::size_t>(first + i)] = quantized(value, inverse);
  }
  note_written(cache, first, op.width);
}

}  // namespace

Shape UpdateCache::cache_shape() const {
  if (by_head) return {batch, heads, capacity, width};
  return {batch, capacity, heads, width};
}

Shape UpdateCache::scale_shape() const {
  Shape shape = cache_shape();
  shape.pop_back();
  return shape;
}

std::int64_t UpdateCache::cache_row(std::int64_t row) const {
  const std::int64_t head = row % heads, position = start + row / heads % tokens;
  const std::int64_t in_batch = row / heads / tokens;
  return by_head ? (in_batch * heads + head) * capacity + position
                 : (in_batch * capacity + position) * heads + head;
}

Expected all_kept(const HostTensor& before) {
  return {.values = before,
          .kept = std::vector<std::uint8_t>(static_cast<std::size_t>(before.numel()), std::uint8_t{1})};
}

UpdateCache update_cache_params(const Params& params) {
  const UpdateCache op{.batch = params.integer("B"),
                       .tokens = params.integer("S"),
                       .heads = params.integer("Hkv"),
                       .width = params.integer("D"),
                       .capacity = params.integer("C"),
                       .start = params.integer("start_pos"),
                       .by_head = params.choice("layout") == "bhsd",
                       .q8 = params.choice("cache_dtype") == "q8",
                       .dtype = parse_dtype(params.choice("dtype")).value()};
  if (op.start + op.tokens > op.capacity) {
    throw ParameterError("C", fmt::format("C is {}, but must be at least {}, the sum of start_pos and the {} "
                                          "tokens",
                                          op.capacity, op.start + op.tokens, op.tokens));
  }
  return op;
}

std::vector<Expected> update_cache(const Params& params, std::span<const HostTensor> inputs) {
  const UpdateCache op = update_cache_params(params);
  std::vector<Expected> outputs;
  for (const HostTensor& before : inputs.subspan(1)) outputs.push_back(all_kept(before));
  const std::int64_t grain = std::max<std::int64_t>(1, cheap_grain / op.width);
  parallel_for(op.batch * op.tokens * op.heads, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      if (op.q8) {
        quantize_row(op, inputs[0], row, outputs[0], outputs[1]);
      } else {
        copy_row(op, inputs[0], row, outputs[0]);
      }
    }
  });
  return outputs;
}

}  // namespace assay::references
