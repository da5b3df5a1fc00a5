#pragma once

#include "harness/op/op.h"
#include "ops/linear/placed_operands.h"
#include "ops/linear/product.h"

#include <cstdint>
#include <optional>
#include <string>

// Products of few rows whose weights go from memory to registers (shaders/linear/linear_decode.comp): impl
// `coopmat` with the tunable `operands`, or by default. Matrices are of half floats: x is f16, or it is int8
// and the weights have groups, whose sums are then exact in float32.

namespace assay::ops {

/// How the workgroups of linear_decode.comp share the work.
struct DecodeTiling {
  static constexpr std::int64_t rows = rows_of_placed;  ///< of x, of a workgroup
  static constexpr std::int64_t channels_of_fragment = channels_of_placed;

  bool plain = true;           ///< no cooperative matrices
  std::int64_t fragments = 1;  ///< of a workgroup, side by side along N
  std::int64_t subgroups = 8;  ///< that share K
  std::int64_t stages = 1;     ///< steps that are loaded before the first of them is multiplied

  std::int64_t channels() const { return fragments * channels_of_fragment; }
  std::int64_t invocations() const { return subgroups * lanes_of_placed; }
  /// The sums of all subgroups.
  std::int64_t pool_units() const { return subgroups * rows * (channels() / 4 + 1); }
  /// And what plain code exchanges.
  std::int64_t shared_bytes() const;
};

/// Whether this kernel is the default: may_be_default(), and it is faster as an H200 has it
/// (shaders/NOTES.md).
bool decodes_by_default(const BuildContext& context, const LinearKind& kind);

/// The tunables, or what is fast on an H200, with as many subgroups as fit the device.
DecodeTiling decode_tiling(const BuildContext& context, const LinearKind& kind);

/// Whether all that a subgroup multiplies at once, 128 int4 weights of a channel, has one scale, which then
/// multiplies the sums. Elsewhere scales of groups multiply the weights, which are rounded to halves.
bool scales_sums(const references::Linear& linear, const LinearKind& kind);

/// Consecutive roundings in an element that the steps of a subgroup, and sums of subgroups, add to those of
/// products.
std::int64_t decode_roundings(const BuildContext& context, const LinearKind& kind);

/// The program of impl `coopmat` for a point that neither reason below refuses.
Program decode_program(const BuildContext& context, const LinearKind& kind);

/// Why no device can run the kernel with these parameters and tunables, or nothing.
std::optional<std::string> decode_invalid_reason(const ImplPoint& point, const LinearKind& kind);
/// Why the device cannot run it, or nothing.
std::optional<std::string> decode_unsupported_reason(const BuildContext& context, const LinearKind& kind);

}  // namespace assay::ops
