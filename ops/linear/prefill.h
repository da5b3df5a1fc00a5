#pragma once

#include "harness/op/op.h"
#include "ops/linear/placed_operands.h"
#include "ops/linear/product.h"

#include <cstdint>
#include <optional>
#include <string>

// Products of many rows of half floats whose weights go from memory to registers, while x lies in shared
// memory (shaders/linear/linear_prefill.comp): impl `coopmat` with the tunable `operands`, or by default; and
// impl `implicit` of conv2d_q8csw.

namespace assay::ops {

/// How the workgroups of linear_prefill.comp share the work.
struct PrefillTiling {
  bool plain = true;                              ///< no cooperative matrices
  std::int64_t m = 64, n = 128;                   ///< rows of x and output channels of a workgroup
  std::int64_t subgroup_m = 64, subgroup_n = 32;  ///< and of a subgroup

  std::int64_t subgroups() const { return m / subgroup_m * (n / subgroup_n); }
  std::int64_t invocations() const { return subgroups() * lanes_of_placed; }
  /// Of x, and what plain code exchanges.
  std::int64_t shared_bytes() const;
};

/// Whether two tiles share nearly every shader core, as an H200 needs it (shaders/NOTES.md).
bool fills_cores(std::int64_t tiles, std::int64_t cores);

/// Whether this kernel is the default: may_be_default(), and it is faster as an H200 has it
/// (shaders/NOTES.md).
bool prefills_by_default(const BuildContext& context, const LinearKind& kind);

/// The tunables, or what is fast on an H200.
PrefillTiling prefill_tiling(const BuildContext& context);

/// The program of impl `coopmat` for a point that neither reason below refuses, or of a convolution's product
/// (Gathering::of_halves()).
Program prefill_program(const BuildContext& context, const LinearKind& kind, const Images& images = {});

/// Why no device can run the kernel with these parameters and tunables, or nothing.
std::optional<std::string> prefill_invalid_reason(const ImplPoint& point, const LinearKind& kind);
/// Why the device cannot run it, or nothing.
std::optional<std::string> prefill_unsupported_reason(const BuildContext& context, const LinearKind& kind);

}  // namespace assay::ops
