#include "ops/transformer/sdpa.h"

#include "harness/op/op.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"
#include "ops/transformer/rows.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace assay::ops {
namespace {

using references::Sdpa;
using references::sdpa_params;

constexpr std::int64_t operations =
    4;  // of a value of a key that a query sees: two multiplications and additions

constexpr std::int64_t largest_width = 256;
constexpr double largest_int8 = 128;
constexpr double smallest_scale = 0x1p-10, largest_scale = 0.25;  // of k and v, int8
constexpr double largest_scale_of_scores = 1;

ParamSpec scale_param() {
  ParamSpec spec = number("scale")
                       .derived([](const Params& earlier) {
                         return 1 / std::sqrt(static_cast<double>(earlier.integer("D")));
                       })
                       .says("of the scores; by default 1 / sqrt(D)");
  spec.positive = true;
  spec.max_number = largest_scale_of_scores;
  return spec;
}

/// A tensor of the cache, whose rows that do not exist yet are NaN unless it is int8.
TensorSpec cache_tensor(const Sdpa& op, std::string name, DType dtype, const Shape& shape) {
  TensorSpec tensor = row_tensor(std::move(name), dtype, shape);
  tensor.domain.valid = op.valid();
  tensor.domain.valid_axis = op.axis_of_rows();
  return tensor;
}

std::vector<TensorSpec> tensors(const Params& params) {
  const Sdpa op = sdpa_params(params);
  const DType cache = op.q8 ? DType::I8 : op.dtype;
  TensorSpec q = or_texture(row_tensor("q", op.dtype, op.shape_of_q()));
  TensorSpec y = q;
  q.domain.most = largest_of_scores;
  TensorSpec k = cache_tensor(op, "k", cache, op.shape_of_cache());
  TensorSpec v = cache_tensor(op, "v", cache, op.shape_of_cache());
  if (!op.q8) {
    k = or_texture(std::move(k));
    v = or_texture(std::move(v));
  }
  k.domain.most = op.q8 ? 0 : largest_of_scores;
  v.domain.most = op.q8 ? 0 : largest_value;
  std::vector<TensorSpec> all{std::move(q), std::move(k), std::move(v)};
  for (const char* name : {"k_scale", "v_scale"}) {
    if (!op.q8) continue;
    TensorSpec scale = cache_tensor(op, name, DType::F32, op.shape_of_scales());
    scale.domain.role = FillRole::Scale;
    scale.domain.lo = smallest_scale;
    scale.domain.hi = largest_scale;
    scale.domain.most = largest_scale;
    all.push_back(std::move(scale));
  }
  if (op.masked) {
    all.push_back(row_tensor("mask", DType::F32, op.shape_of_mask()));
    all.back().domain = {.most = largest_of_mask, .hides = true};
  }
  y.name = "y";
  y.role = TensorSpec::Role::Output;
  y.output_class = OutputClass::Bounded;
  if (op.valid() == 1) y.copy_because = "a query that sees one key gives its value";
  all.push_back(std::move(y));
  return all;
}

/// The pairs of a token and a key that it sees.
std::int64_t visible_pairs(const Sdpa& op) {
  std::int64_t pairs = 0;
  for (std::int64_t token = 0; token < op.tokens; ++token) pairs += op.end_of_keys(token);
  return pairs;
}

/// Of the cache only the rows that exist are read, of the mask only what is added to scores of visible keys.
Work work(const Params& params, std::span<const TensorSpec> tensors) {
  const Sdpa op = sdpa_params(params);
  const auto bytes_of = [](const TensorSpec& tensor) {
    return numel(tensor.shape) * static_cast<std::int64_t>(size_of(tensor.dtype));
  };
  Work work;
  for (const TensorSpec& tensor : tensors) {
    if (!tensor.is_input()) {
      work.bytes_written += bytes_of(tensor);
    } else if (tensor.domain.valid) {
      work.bytes_read += bytes_of(tensor) / op.capacity * op.valid();
    } else if (tensor.name == "mask") {
      work.bytes_read += visible_pairs(op) * static_cast<std::int64_t>(size_of(tensor.dtype));
    } else {
      work.bytes_read += bytes_of(tensor);
    }
  }
  work.operations = operations * op.width * op.batch * op.heads * visible_pairs(op);
  return work;
}

std::vector<ParamSpec> params() {
  return {
      integer("B").at_least(1).by_default(std::int64_t{1}).says("batch"),
      integer("S").at_least(1).says("tokens, each of which has a query for each head"),
      integer("H").at_least(1).says("heads of q and y"),
      integer("Hkv")
          .at_least(1)
          .derived([](const Params& earlier) { return earlier.integer("H"); })
          .says("heads of the cache, each for H / Hkv heads of q; by default H"),
      integer("D").at_least(1).at_most(largest_width).says("values of a head"),
      integer("start_pos").at_least(0).by_default(std::int64_t{0}).says("position of the first token"),
      integer("C")
          .at_least(1)
          .derived([](const Params& earlier) { return earlier.integer("start_pos") + earlier.integer("S"); })
          .says("rows of the cache, of which start_pos + S exist; by default no more"),
      boolean("causal").by_default(true).says("a token sees no later one"),
      boolean("mask").by_default(false).says("a mask of numbers and -infinity is added to the scores"),
      choice("layout", {"bshd", "bhsd"})
          .by_default(std::string("bshd"))
          .says(
              "order of the dims of q, k, v and y: batch, token, head, value, or batch, head, token, value"),
      choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says("type of q and y"),
      choice("cache_dtype", {"float", "q8"})
          .by_default(std::string("float"))
          .says("type of k and v: that of q, or int8 with a scale for each row of each head"),
      scale_param()};
}

Impl automatic() {
  Impl impl{.name = "auto"};
  impl.summary =
      "coopmat for buffers where there are matrices for the type and D, else split for few queries, else "
      "fused";
  impl.choose = [](const BuildContext& context) -> std::vector<std::string> {
    const std::string others = splits_by_default(context) > 1 ? "split" : "fused";
    if (has_matrices_for_sdpa(context)) return {"coopmat", others};
    return {others};
  };
  return impl;
}

}  // namespace

double grown_error(const Sdpa& op, double error) {
  const double of_k = op.q8 ? largest_int8 * largest_scale : largest_of_scores;
  const double largest =
      largest_of_scores * of_k * static_cast<double>(op.width) * op.scale + (op.masked ? largest_of_mask : 0);
  return error * std::exp(4 * largest * error);
}

std::optional<std::string> sdpa_invalid_reason(const ImplPoint& point) {
  const std::int64_t width = sdpa_params(point.params).width;
  if (width % 4 != 0) return fmt::format("D is {}, but must be a multiple of 4", width);
  return any_too_large(point.tensors, point.forms);
}

Op sdpa() {
  return {
      .name = "sdpa",
      .summary = "attention: softmax(q k^T * scale + mask) v, with keys and values in a cache",
      .params = params(),
      .tensors = tensors,
      .reference = references::sdpa,
      .work = work,
      .tokens = [](const Params& params) { return params.integer("B") * params.integer("S"); },
      .impls = {automatic(), fused_sdpa(), split_sdpa(), coopmat_sdpa(), unfused_sdpa()},
  };
}

}  // namespace assay::ops
