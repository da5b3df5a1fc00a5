#include "references/affine/affine.h"

#include "harness/base/error.h"

#include <algorithm>
#include <string>

namespace assay::references {
namespace {

std::int64_t block_entry(const Shape& shape, const std::vector<std::int64_t>& block_size, std::size_t dim) {
  const std::int64_t asked = block_size[dim];
  if (asked == -1) return shape[dim];
  if (asked >= 1 && asked <= shape[dim]) return asked;
  throw ParameterError("block_size", "block_size[" + std::to_string(dim) + "] is " + std::to_string(asked) +
                                         ", but that dim of shape " + to_string(shape) + " takes 1 to " +
                                         std::to_string(shape[dim]) + ", or -1 for the whole dim");
}

std::int32_t quant_limit(const Params& params, const char* name, QuantRange range) {
  const std::int64_t asked = params.integer(name);
  if (asked >= range.min && asked <= range.max) return static_cast<std::int32_t>(asked);
  throw ParameterError(name, std::string(name) + " is " + std::to_string(asked) +
                                 ", but `quantized: " + params.choice("quantized") + "` holds " +
                                 std::to_string(range.min) + " to " + std::to_string(range.max));
}

ZeroPointDomain domain_of(const std::string& name) {
  if (name == "none") return ZeroPointDomain::None;
  return name == "float" ? ZeroPointDomain::Float : ZeroPointDomain::Int;
}

}  // namespace

QuantRange quant_range(DType quantized) {
  const DType narrow = quantized == DType::I32 ? DType::I16 : quantized;
  return {lowest(narrow), highest(narrow)};
}

BlockGrid block_grid(const Shape& shape, const std::vector<std::int64_t>& block_size) {
  if (block_size.size() != shape.size()) {
    throw ParameterError("block_size", "block_size has " + std::to_string(block_size.size()) +
                                           " entries, but shape " + to_string(shape) + " has " +
                                           std::to_string(shape.size()) + " dims: give one entry per dim");
  }
  BlockGrid grid{shape, {}, {}};
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    grid.block.push_back(block_entry(shape, block_size, dim));
    grid.counts.push_back(div_up(shape[dim], grid.block.back()));
  }
  return grid;
}

QuantLimits quant_limits(const Params& params) {
  const QuantRange range = quant_range(parse_dtype(params.choice("quantized")).value());
  const QuantLimits limits{quant_limit(params, "quant_min", range), quant_limit(params, "quant_max", range)};
  if (limits.min >= limits.max) {
    throw ParameterError("quant_max", "quant_max is " + std::to_string(limits.max) +
                                          ", but must be above quant_min, which is " +
                                          std::to_string(limits.min));
  }
  return limits;
}

Affine affine(const Params& params) {
  Affine result;
  result.grid = block_grid(params.ints("shape"), params.ints("block_size"));
  result.real = parse_dtype(params.choice("dtype")).value();
  result.quantized = parse_dtype(params.choice("quantized")).value();
  const QuantLimits limits = quant_limits(params);
  result.quant_min = limits.min;
  result.quant_max = limits.max;
  result.domain = domain_of(params.choice("zero_point_domain"));
  return result;
}

std::int64_t row_count(const BlockGrid& grid) {
  std::int64_t rows = 1;
  for (std::size_t dim = 0; dim + 1 < grid.shape.size(); ++dim) rows *= grid.shape[dim];
  return rows;
}

std::int64_t row_grain(const BlockGrid& grid) {
  constexpr std::int64_t elements = 1 << 15;
  return std::max<std::int64_t>(1, elements / grid.shape.back());
}

std::int64_t first_block_of_row(const BlockGrid& grid, std::int64_t row) {
  std::int64_t block = 0;
  std::int64_t stride = grid.counts.back();
  for (std::size_t dim = grid.shape.size() - 1; dim-- > 0;) {
    block += row % grid.shape[dim] / grid.block[dim] * stride;
    row /= grid.shape[dim];
    stride *= grid.counts[dim];
  }
  return block;
}

}  // namespace assay::references
