#include "references/choose_qparams/choose_qparams.h"

#include "harness/base/error.h"
#include "harness/base/parallel.h"
#include "references/affine/affine.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace assay::references {
namespace {

/// The smallest and the largest value of a block, where 0 counts as a value.
struct Range {
  float low = 0, high = 0;
};

float read(float x) {
  return x;
}
float read(Half x) {
  return to_float(x);
}

void widen(Range& range, float value) {
  if (!std::isfinite(value)) return;
  range.low = std::min(range.low, value);
  range.high = std::max(range.high, value);
}

template <class X>
Range range_of(const X* x, std::int64_t count) {
  Range range;
  for (std::int64_t i = 0; i < count; ++i) widen(range, read(x[i]));
  return range;
}

/// Threads share the rows; the ranges that they find in a block that they share are joined afterwards.
template <class X>
std::vector<Range> ranges_of(const BlockGrid& grid, const HostTensor& tensor) {
  const X* x = tensor.as<X>().data();
  const std::int64_t blocks = numel(grid.counts);
  const std::int64_t rows = row_count(grid);
  const std::int64_t per_row = grid.counts.back();
  std::vector<Range> of_runs(static_cast<std::size_t>(rows * per_row));
  parallel_for(rows, row_grain(grid), [&](std::int64_t first, std::int64_t last) {
    auto place = static_cast<std::size_t>(first * per_row);
    for_each_run(grid, first, last,
                 [&](BlockRun run) { of_runs[place++] = range_of(x + run.first, run.count); });
  });
  std::vector<Range> ranges(static_cast<std::size_t>(blocks));
  std::size_t place = 0;
  for_each_run(grid, 0, rows, [&](BlockRun run) {
    Range& range = ranges[static_cast<std::size_t>(run.block)];
    range.low = std::min(range.low, of_runs[place].low);
    range.high = std::max(range.high, of_runs[place].high);
    ++place;
  });
  return ranges;
}

QParamsLimits limits_of(const Params& params) {
  const QuantLimits range = quant_limits(params);
  return {range.min, range.max, static_cast<float>(params.number("eps"))};
}

QParamsRule mapping_of(const Params& params, const QParamsLimits& limits) {
  const std::string& mapping = params.choice("mapping");
  if (mapping == "asymmetric") return QParamsRule::Asymmetric;
  if (mapping == "symmetric") return QParamsRule::Symmetric;
  if (limits.quant_min >= 0 || limits.quant_max <= 0) {
    throw ParameterError("mapping",
                         "symmetric_no_clipping_err divides by quant_min and quant_max, so 0 must lie "
                         "between them; they are " +
                             std::to_string(limits.quant_min) + " and " + std::to_string(limits.quant_max));
  }
  return QParamsRule::SymmetricNoClippingErr;
}

DType real_dtype(const Params& params) {
  return parse_dtype(params.choice("dtype")).value();
}

/// A block size of one block per line along the last dim.
BlockGrid tokens_of(const Shape& shape) {
  std::vector<std::int64_t> block(shape.size(), 1);
  block.back() = -1;
  return block_grid(shape, block);
}

}  // namespace

ChooseQParams choose_affine(const Params& params) {
  const QParamsLimits limits = limits_of(params);
  return {block_grid(params.ints("shape"), params.ints("block_size")), real_dtype(params),
          mapping_of(params, limits), limits};
}

ChooseQParams choose_tensor(const Params& params) {
  const Shape& shape = params.ints("shape");
  return {block_grid(shape, std::vector<std::int64_t>(shape.size(), -1)), real_dtype(params),
          QParamsRule::Asymmetric, limits_of(params)};
}

ChooseQParams choose_per_token(const Params& params) {
  const auto eps = static_cast<float>(params.number("eps"));
  return {tokens_of(params.ints("shape")), real_dtype(params), QParamsRule::PerToken, {-128, 127, eps}};
}

ChooseQParams choose_per_row(const Params& params) {
  const QuantLimits range = quant_limits(params);
  return {
      tokens_of(params.ints("shape")), real_dtype(params), QParamsRule::PerRow, {range.min, range.max, 0}};
}

std::vector<Expected> choose_qparams(const ChooseQParams& op, std::span<const HostTensor> inputs) {
  const std::vector<Range> ranges =
      op.real == DType::F16 ? ranges_of<Half>(op.grid, inputs[0]) : ranges_of<float>(op.grid, inputs[0]);
  std::vector<Expected> outputs(2);
  outputs[0].values = HostTensor(DType::F32, op.grid.counts);
  outputs[1].values = HostTensor(DType::I32, op.grid.counts);
  const auto scale = outputs[0].values.as<float>();
  const auto zero_point = outputs[1].values.as<std::int32_t>();
  for (std::size_t block = 0; block < ranges.size(); ++block) {
    const QParams chosen = choose_qparams(op.rule, op.limits, ranges[block].low, ranges[block].high);
    scale[block] = chosen.scale;
    zero_point[block] = chosen.zero_point;
  }
  return outputs;
}

Params dynamic_params(Params params) {
  std::vector<std::int64_t> block(params.ints("shape").size(), 1);
  block.back() = -1;
  params.set("block_size", std::move(block));
  params.set("zero_point_domain", std::string("int"));
  return params;
}

std::vector<Expected> quantize_dynamic(const Params& params, std::span<const HostTensor> inputs) {
  const Params affine_params = dynamic_params(params);
  std::vector<Expected> outputs = choose_qparams(choose_affine(affine_params), inputs);
  const std::vector<HostTensor> chosen{inputs[0], outputs[0].values, outputs[1].values};
  outputs.push_back(std::move(quantize_affine(affine_params, chosen)[0]));
  return outputs;
}

}  // namespace assay::references
