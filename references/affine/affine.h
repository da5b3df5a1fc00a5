#pragma once

#include "harness/op/expected.h"
#include "harness/op/params.h"
#include "harness/tensor/dtype.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <span>
#include <vector>

namespace assay::references {

/// How a tensor is cut into blocks that share one scale and one zero point. Blocks at the end of a dim
/// may be ragged: they are clamped to the tensor.
struct BlockGrid {
  Shape shape;
  Shape block;   ///< one entry per dim of `shape`, each in [1, dim]
  Shape counts;  ///< ceil(shape / block): the shape of scale and zero point, row-major block ids
};

/// The grid for this `block_size`, where -1 stands for a whole dim. Throws ParameterError unless its entries
/// fit `shape`.
BlockGrid block_grid(const Shape& shape, const std::vector<std::int64_t>& block_size);

/// What the zero point of a block is.
enum class ZeroPointDomain : std::uint8_t {
  Int,   ///< i32, added after rounding
  None,  ///< absent: real = scale * q
  Float  ///< f32: the real value of the middle of the quantized range
};

/// The checked parameters that quantize_affine and dequantize_affine share.
struct Affine {
  BlockGrid grid;
  DType real = DType::F32;      ///< F32 or F16
  DType quantized = DType::I8;  ///< I8, U8 or I32 (which holds the i16 range)
  std::int32_t quant_min = -128;
  std::int32_t quant_max = 127;
  ZeroPointDomain domain = ZeroPointDomain::Int;

  /// The middle of the quantized range, (quant_max + quant_min + 1) / 2, for the float domain; it may end in
  /// .5.
  float mid() const { return static_cast<float>(quant_max + quant_min + 1) * 0.5f; }
};

/// The integers that a quantized type may hold. i32 holds the i16 range only, so that every float step is
/// exact.
struct QuantRange {
  std::int64_t min = 0, max = 0;
};
QuantRange quant_range(DType quantized);

/// The checked quant_min and quant_max.
struct QuantLimits {
  std::int32_t min = 0, max = 0;
};
/// Reads quantized, quant_min and quant_max. Throws ParameterError unless `quantized` holds both and
/// quant_min < quant_max.
QuantLimits quant_limits(const Params& params);

/// Reads shape, block_size, dtype, quantized, quant_min, quant_max and zero_point_domain. Throws
/// ParameterError where they do not fit each other.
Affine affine(const Params& params);

/// A run of elements along the last dim that lie in one block.
struct BlockRun {
  std::int64_t first = 0;  ///< row-major index of its first element
  std::int64_t count = 0;
  std::int64_t block = 0;  ///< row-major id of the block
};

/// Calls visit(BlockRun) for all runs of the rows [first_row, last_row), in memory order. A row is one line
/// along the last dim.
template <class Visit>
void for_each_run(const BlockGrid& grid, std::int64_t first_row, std::int64_t last_row, const Visit& visit);

std::int64_t row_count(const BlockGrid& grid);
/// The number of rows that is enough work for a thread.
std::int64_t row_grain(const BlockGrid& grid);
/// The id of the first block of a row.
std::int64_t first_block_of_row(const BlockGrid& grid, std::int64_t row);

template <class Visit>
void for_each_run(const BlockGrid& grid, std::int64_t first_row, std::int64_t last_row, const Visit& visit) {
  const std::int64_t width = grid.shape.back();
  const std::int64_t step = grid.block.back();
  for (std::int64_t row = first_row; row < last_row; ++row) {
    std::int64_t block = first_block_of_row(grid, row);
    for (std::int64_t w = 0; w < width; w += step, ++block) {
      visit(BlockRun{row * width + w, step < width - w ? step : width - w, block});
    }
  }
}

/// q = clamp(roundEven(x * fl32(1 / scale)) + zero_point, quant_min, quant_max), each step in float32, with
/// one scale and zero point per block; exact. Without a zero point nothing is added; with one in the float
/// domain q = clamp(roundEven((x - (zero_point - scale * mid)) / scale)). NaN gives the zero point (float
/// domain: mid), infinities saturate. `inputs`: x, scale and, unless the domain is none, zero_point.
std::vector<Expected> quantize_affine(const Params& params, std::span<const HostTensor> inputs);

/// y = float(q - zero_point) * scale with the subtraction in int32, one scale and zero point a block. Without
/// a zero point y = q * scale; with one in the float domain y = (q - mid) * scale + zero_point. float32
/// is exact; float16 is the float32 value rounded to nearest even, bounded by 1 ulp, since devices
/// store with either rounding. `inputs`: q, scale and, unless the domain is none, zero_point.
std::vector<Expected> dequantize_affine(const Params& params, std::span<const HostTensor> inputs);

}  // namespace assay::references
