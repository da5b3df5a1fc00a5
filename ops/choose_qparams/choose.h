#pragma once

#include "harness/op/op.h"
#include "harness/tensor/form.h"
#include "references/affine/affine.h"
#include "references/choose_qparams/choose_qparams.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::ops {

/// One axis of a tensor's memory, cut into boxes.
struct BoxAxis {
  std::int64_t size = 1;     ///< elements
  std::int64_t block = 1;    ///< elements of a box; the last box may be shorter
  std::int64_t stride = 0;   ///< from one box to the next, in row-major block ids
  std::int64_t count = 1;    ///< boxes
  std::int64_t vectors = 1;  ///< vectors of a box: quads or texels along the packed axis, else elements
};

/// How shaders/choose_qparams/choose_qparams.comp reads the blocks of a tensor. A box is one block; where
/// blocks are one or two elements long along the packed axis, it is four neighbouring blocks.
struct Boxes {
  std::array<BoxAxis, 4> axes;  ///< in memory order, fastest first
  std::size_t packed = 0;       ///< the axis along which four elements form a quad or texel
  bool lanes_apart = false;     ///< a box holds several blocks, one per lane
  std::int64_t lane_block = 1;  ///< where lanes_apart: elements of a block along the packed axis
  bool whole = false;           ///< every box consists of whole vectors and lies inside the tensor

  std::int64_t count() const;
  std::int64_t rows() const;     ///< lines of a box: its vectors along axes 1, 2 and 3
  std::int64_t vectors() const;  ///< vectors of a box
  /// The last axis along which the rows of a box lie: they lie along axes 1 to this one. 0: a box is one row.
  std::int64_t row_axes() const;
};

/// The boxes of a grid of blocks in memory. `may_join`: a box may hold several blocks where that saves reads.
/// `physical` has a float layout.
Boxes boxes_of(const references::BlockGrid& grid, const Physical& physical, bool may_join);

/// How the invocations of a workgroup are arranged, and what each reads. Every count is a power of two.
struct WorkgroupTiling {
  std::int64_t columns = 1;  ///< invocations along axis 0 of a box
  std::int64_t boxes = 1;    ///< boxes that a workgroup reads at a time
  std::int64_t rows = 1;     ///< invocations along the rows of a box
  std::int64_t each = 0;     ///< boxes of one row: vectors per invocation, all loaded at once; 0: it loops
  std::int64_t splits = 1;   ///< workgroups that share a box; 1 where `each` is not 0

  std::int64_t invocations() const { return columns * boxes * rows; }
};

/// A tiling with at most `invocations` (a power of two). Neighbouring invocations read neighbouring vectors
/// as far as the boxes allow, and large boxes are split until the device is full. Boxes of one row are loaded
/// at once where `most` vectors per invocation suffice; boxes of up to 128 vectors with `small_each` vectors
/// per invocation, 1 to `most`.
WorkgroupTiling tiling_of(const Boxes& boxes, std::int64_t invocations, std::int64_t small_each,
                          std::int64_t most);

/// Reads the parameters of an op that chooses scales and zero points.
using ChooseOf = std::function<references::ChooseQParams(const Params&)>;

/// The parameter dtype, which is f32 or f16.
ParamSpec real_param();
/// The parameters `before`, then quantized, quant_min and quant_max, then `after`.
std::vector<ParamSpec> with_quant_params(std::vector<ParamSpec> before, std::vector<ParamSpec> after = {});
ParamSpec mapping_param();
ParamSpec eps_param();  ///< the least scale; 2^-23 by default

/// The input x, in any float form.
TensorSpec choose_input(const references::ChooseQParams& op);
/// The outputs scale and zero_point, with one value per block.
std::vector<TensorSpec> choose_outputs(const references::ChooseQParams& op);

/// An op that computes scale and zero point of each block of its one input, with the impls serial, workgroup
/// and auto.
Op choose_op(std::string name, std::string summary, std::vector<ParamSpec> params, const ChooseOf& choose);

/// The program of impl `workgroup` for x, scale and zero point, the tensors of `context`.
Program choose_program(const BuildContext& context, const references::ChooseQParams& op);

/// Why a CPU device would leave a loop of that program early (ops/common/cpu_loops.h), or nothing.
std::optional<std::string> choose_unsupported_reason(const BuildContext& context,
                                                     const references::ChooseQParams& op);

/// The value of the #define RULE for this rule.
std::string rule_define(references::QParamsRule rule);

/// The tunables of impl `workgroup`: its invocations, vectors per invocation, and the workgroups that share a
/// block.
std::vector<Tunable> choose_tunables();

/// Why kernels that count with 32-bit integers cannot take x, or nothing.
std::optional<std::string> too_large_to_choose(std::span<const TensorSpec> tensors,
                                               std::span<const Form> forms);

}  // namespace assay::ops
