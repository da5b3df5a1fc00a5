#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "references/linear/linear.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Weights that setup dispatches prepare, from tensors that the op declares constant.

namespace assay::ops {

/// How an op stores its weights.
enum class WeightKind : std::uint8_t {
  Int8,           ///< int8 [N, K]
  Int4LowFirst,   ///< uint8 [N, K / 2], an even k in the low nibble
  Int4HighFirst,  ///< uint8 [N, K / 2], an even k in the high nibble
};
inline bool is_int4(WeightKind kind) {
  return kind != WeightKind::Int8;
}

/// How weights are packed for a kernel.
struct Packing {
  bool by_rows = false;     ///< a unit of 16 bytes belongs to one output channel; else to four side by side
  bool for_halves = false;  ///< values in the order in which words become half floats (linear/halves.glslh)
  /// After each `slab_depth` values along K zeros follow, up to a multiple of `padded_depth`. 0: no zeros.
  std::int64_t slab_depth = 0, padded_depth = 0;
};

/// The packed weights that kernels read: shaders/linear/weights.glslh.
struct PackedWeights {
  Resource words;  ///< units of 16 bytes: 4 words, each of 4 int8 or 8 int4 values along K
  bool is_texture = false;
  Packing packing;
  std::int64_t blocks = 0;           ///< words along K per channel
  std::int64_t quads = 0;            ///< quads of output channels
  std::int64_t blocks_of_group = 0;  ///< words along K per group; without groups all of them
};

/// The tunable `weights`: 0 packs them into a buffer, 1 into a 2D texture.
Tunable weights_tunable();

/// Appends scratch and the dispatch that packs the op's tensor `w`, into a texture where `weights` is 1.
PackedWeights packed_weights(Program& program, const BuildContext& context, WeightKind kind,
                             const Packing& packing = {});

/// Why the device cannot hold the packed weights in a texture, or nothing.
std::optional<std::string> weight_texture_unsupported_reason(const BuildContext& context, WeightKind kind,
                                                             const Packing& packing = {});

/// Appends scratch and the dispatch that sums weights over each group, or over K without groups: i32 [groups,
/// 4 * quads]. `zero_points` (a padded_table) are subtracted from the weights where the op has them.
Resource weight_sums(Program& program, const BuildContext& context, WeightKind kind,
                     const PackedWeights& weights, std::optional<Resource> zero_points);

/// The op's tensor w_scale as half floats (shaders/linear/linear_half_scales.comp), for kernels that multiply
/// weights by scales.
struct HalfScales {
  Resource halves;   ///< i32 [groups, 4 * quads]: scale / factor of its channel, twice in each word
  Resource factors;  ///< f32 [4 * quads]: powers of two
};
/// Appends scratch and the dispatches that compute w_scale as half floats.
HalfScales half_scales(Program& program, const BuildContext& context);

/// The op's tensor `name`, f32 or i32 of rows of N numbers, or a copy of it whose rows are whole quads:
/// [rows, 4 * quads]. `by_quad`: the numbers of four output channels lie side by side for all rows, [quads,
/// rows, 4].
Resource padded_table(Program& program, const BuildContext& context, std::string_view name, bool by_quad);

}  // namespace assay::ops
