#include "references/transformer/sdpa.h"

#include "harness/base/error.h"
#include "harness/base/parallel.h"
#include "references/common/real_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::references {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double smallest_weight = 0x1p-126;
// 2^-24, below which a half loses what it holds, over the least error of sums of impls with such weights.
constexpr double lost_of_half_weight = 0x1p-13;

struct Inputs {
  const HostTensor &q, &k, &v;
  const HostTensor *k_scale = nullptr, *v_scale = nullptr, *mask = nullptr;
};

Inputs named(const Sdpa& op, std::span<const HostTensor> inputs) {
  Inputs named{.q = inputs[0], .k = inputs[1], .v = inputs[2]};
  if (op.q8) {
    named.k_scale = &inputs[3];
    named.v_scale = &inputs[4];
  }
  if (op.masked) named.mask = &inputs.back();
  return named;
}

/// The valid rows of a head of the cache, one after another.
std::vector<double> rows_of_head(const Sdpa& op, const HostTensor& cache, const HostTensor* scales,
                                 std::int64_t image, std::int64_t head) {
  std::vector<double> rows(static_cast<std::size_t>(op.valid() * op.width));
  const std::int64_t grain = std::max<std::int64_t>(1, cheap_grain / op.width);
  parallel_for(op.valid(), grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t first = op.first_of_row(image, row, head);
      const double scale = scales == nullptr ? 1 : scales->at(first / op.width);
      for (std::int64_t d = 0; d < op.width; ++d) {
        rows[static_cast<std::size_t>(row * op.width + d)] = scale * cache.at(first + d);
      }
    }
  });
  return rows;
}

/// What a query's row is made of.
struct Query {
  const Sdpa& op;
  std::span<const double> keys, values;  ///< of its head of the cache
  const HostTensor* mask;
  std::int64_t token;

  bool sees(std::int64_t key) const { return mask == nullptr || mask_at(key) != -infinity; }
  double mask_at(std::int64_t key) const { return mask == nullptr ? 0 : mask->at(token * op.valid() + key); }
};

struct Score {
  std::int64_t key;
  double score, size;  ///< size: scale * sum_d |q_d k_d| + |mask|
};

std::vector<Score> scores_of(const Query& query, std::span<const double> q) {
  const Sdpa& op = query.op;
  std::vector<Score> scores;
  for (std::int64_t key = 0; key < op.end_of_keys(query.token); ++key) {
    if (!query.sees(key)) continue;
    const std::span<const double> k = query.keys.subspan(static_cast<std::size_t>(key * op.width), q.size());
    double sum = 0, size = 0;
    for (std::size_t d = 0; d < q.size(); ++d) {
      sum += q[d] * k[d];
      size += std::fabs(q[d] * k[d]);
    }
    const double mask = query.mask_at(key);
    scores.push_back({key, op.scale * sum + mask, op.scale * size + std::fabs(mask)});
  }
  return scores;
}

/// Sums over the visible keys, for each column.
struct Sums {
  std::vector<double> value, magnitude, size, weighted_size;
};

/// How often a pass over any of the keys, in their order, can find a larger score than all before: the length
/// of the longest rising row of scores (by the smallest end of those of each length).
double most_raises(std::span<const Score> scores) {
  std::vector<double> ends;
  for (const Score& one : scores) {
    const auto at = std::ranges::lower_bound(ends, one.score);
    if (at == ends.end()) {
      ends.push_back(one.score);
    } else {
      *at = one.score;
    }
  }
  return static_cast<double>(ends.size());
}

/// Replaces the scores by weights, and their sizes by a_k of the magnitude. Returns the weights' sum.
double weigh(std::vector<Score>& scores) {
  double largest = -infinity;
  for (const Score& one : scores) largest = std::fmax(largest, one.score);
  double total = 0;
  for (Score& one : scores) {
    one.size += largest - one.score;
    one.score = std::exp(one.score - largest);
    total += one.score;
  }
  return total;
}

/// `common`: what the magnitude has besides the sizes.
Sums sums_of(const Query& query, std::span<const Score> weights, double total, double common) {
  double mean_size = 0;
  for (const Score& one : weights) {
    if (one.score > 0) mean_size += one.score * one.size / total;
  }
  const auto width = static_cast<std::size_t>(query.op.width);
  const std::vector<double> zeros(width);
  Sums sums{zeros, zeros, zeros, zeros};
  for (const Score& one : weights) {
    const std::span<const double> v = query.values.subspan(static_cast<std::size_t>(one.key) * width, width);
    const double factor = one.score > 0 ? one.score * (common + one.size + mean_size) : 0;
    for (std::size_t d = 0; d < width; ++d) {
      sums.value[d] += one.score * v[d];
      sums.magnitude[d] += factor * std::fabs(v[d]);
      sums.size[d] += std::fabs(v[d]);
      if (one.score > 0) sums.weighted_size[d] += one.score * std::fabs(v[d]);
    }
  }
  return sums;
}

void set_row(BoundedOutput& y, std::int64_t first, const Query& query, std::span<const double> q) {
  std::vector<Score> scores = scores_of(query, q);
  const bool has_nan = std::ranges::any_of(scores, [](const Score& one) { return std::isnan(one.score); });
  if (scores.empty() || has_nan) {
    const double all = has_nan ? std::numeric_limits<double>::quiet_NaN() : 0;
    for (std::int64_t d = 0; d < query.op.width; ++d) y.set(first + d, all, 0);
    return;
  }
  const double raises = most_raises(scores);
  const double total = weigh(scores);
  const double share = 50 / static_cast<double>(query.op.width + 104);  // see the header
  const Sums sums = sums_of(query, scores, total, 1 + share * raises);
  for (std::size_t d = 0; d < q.size(); ++d) {
    const std::int64_t i = first + static_cast<std::int64_t>(d);
    y.set(i, sums.value[d] / total, sums.magnitude[d] / total, smallest_weight * sums.size[d]);
    y.set_sum(i, (sums.weighted_size[d] + lost_of_half_weight * sums.size[d]) / total);
  }
}

std::vector<double> row_of(const HostTensor& q, std::int64_t first, std::int64_t width) {
  std::vector<double> row(static_cast<std::size_t>(width));
  for (std::int64_t d = 0; d < width; ++d) row[static_cast<std::size_t>(d)] = q.at(first + d);
  return row;
}

/// All queries that read one head of the cache.
void set_head(const Sdpa& op, const Inputs& inputs, std::int64_t image, std::int64_t kv_head,
              BoundedOutput& y) {
  const std::vector<double> keys = rows_of_head(op, inputs.k, inputs.k_scale, image, kv_head);
  const std::vector<double> values = rows_of_head(op, inputs.v, inputs.v_scale, image, kv_head);
  const std::int64_t group = op.heads_of_group();
  const std::int64_t grain = std::max<std::int64_t>(1, cheap_grain / (op.width * op.valid()));
  parallel_for(op.tokens * group, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t token = i / group;
      const std::int64_t first = op.first_of_q(image, token, kv_head * group + i % group);
      set_row(y, first, {op, keys, values, inputs.mask, token}, row_of(inputs.q, first, op.width));
    }
  });
}

}  // namespace

Shape Sdpa::shape_of_q() const {
  return by_heads ? Shape{batch, heads, tokens, width} : Shape{batch, tokens, heads, width};
}

Shape Sdpa::shape_of_cache() const {
  return by_heads ? Shape{batch, kv_heads, capacity, width} : Shape{batch, capacity, kv_heads, width};
}

Shape Sdpa::shape_of_scales() const {
  Shape shape = shape_of_cache();
  shape.pop_back();
  return shape;
}

std::int64_t Sdpa::first_of_q(std::int64_t image, std::int64_t token, std::int64_t head) const {
  const std::int64_t row =
      by_heads ? (image * heads + head) * tokens + token : (image * tokens + token) * heads + head;
  return row * width;
}

std::int64_t Sdpa::first_of_row(std::int64_t image, std::int64_t row, std::int64_t kv_head) const {
  const std::int64_t number = by_heads ? (image * kv_heads + kv_head) * capacity + row
                                       : (image * capacity + row) * kv_heads + kv_head;
  return number * width;
}

Sdpa sdpa_params(const Params& params) {
  const Sdpa op{.batch = params.integer("B"),
                .tokens = params.integer("S"),
                .heads = params.integer("H"),
                .kv_heads = params.integer("Hkv"),
                .width = params.integer("D"),
                .capacity = params.integer("C"),
                .start = params.integer("start_pos"),
                .causal = params.boolean("causal"),
                .masked = params.boolean("mask"),
                .by_heads = params.choice("layout") == "bhsd",
                .q8 = params.choice("cache_dtype") == "q8",
                .scale = params.number("scale"),
                .dtype = parse_dtype(params.choice("dtype")).value()};
  if (op.heads % op.kv_heads != 0) {
    throw ParameterError("Hkv", fmt::format("Hkv is {}, but must divide H, the {} heads of the queries",
                                            op.kv_heads, op.heads));
  }
  if (op.valid() > op.capacity) {
    throw ParameterError("C", fmt::format("C is {}, but must be at least {}, the sum of start_pos and S",
                                          op.capacity, op.valid()));
  }
  return op;
}

std::vector<Expected> sdpa(const Params& params, std::span<const HostTensor> inputs) {
  const Sdpa op = sdpa_params(params);
  const Inputs tensors = named(op, inputs);
  BoundedOutput y(op.dtype, op.shape_of_q(), BoundedOutput::Flushed::Absolute);
  y.add_sums();
  for (std::int64_t image = 0; image < op.batch; ++image) {
    for (std::int64_t head = 0; head < op.kv_heads; ++head) set_head(op, tensors, image, head, y);
  }
  std::vector<Expected> outputs;
  outputs.push_back(y.take());
  return outputs;
}

}  // namespace assay::references
