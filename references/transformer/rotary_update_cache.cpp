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
  for (const char* name : {"dtype", "layout"}) update.set(name, params.choice(name));
  update.set("cache_dtype", std::string("float"));
  return update;
}

/// An output that begins as `before`, all of which is kept.
Expected all_kept(const HostTensor& before) {
  const auto elements = static_cast<std::size_t>(before.numel());
  return {.values = before,
          .bound = std::vector<float>(elements, 0),
          .magnitude = std::vector<float>(elements, 0),
          .kept = std::vector<std::uint8_t>(elements, std::uint8_t{1})};
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

}  // namespace

RotaryUpdateCache rotary_update_cache_params(const Params& params) {
  return {rotary_embedding_params(rotary_params_of(params)), update_cache_params(update_params_of(params))};
}

std::vector<Expected> rotary_update_cache(const Params& params, std::span<const HostTensor> inputs) {
  const UpdateCache op = update_cache_params(update_params_of(params));
  const Expected turned = rotary_embedding(rotary_params_of(params), inputs.first(3)).front();
  std::vector<Expected> outputs;
  outputs.push_back(all_kept(inputs[3]));
  const std::int64_t grain = std::max<std::int64_t>(1, cheap_grain / op.width);
  parallel_for(op.batch * op.tokens * op.heads, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) write_turned_row(op, turned, row, outputs[0]);
  });
  return outputs;
}

}  // namespace assay::references
