#pragma once

#include "harness/op/op.h"
#include "ops/linear/product.h"

#include <cstdint>
#include <optional>
#include <string>

// Products of few rows of half floats whose weights go from memory to registers
// (shaders/linear/linear_decode.comp): impl `coopmat` with the tunable `operands`.

namespace assay::ops {

/// How the workgroups of linear_decode.comp share the work.
struct DecodeTiling {
  static constexpr std::int64_t rows = 8;  ///< of x, of a workgroup
  static constexpr std::int64_t channels_of_fragment = 16;
  static constexpr std::int64_t lanes = 32;

  bool plain = true;           ///< no cooperative matrices
  std::int64_t fragments = 1;  ///< of a workgroup, side by side along N
  std::int64_t subgroups = 8;  ///< that share K

  std::int64_t channels() const { return fragments * channels_of_fragment; }
  std::int64_t invocations() const { return subgroups * lanes; }
  /// The sums of all subgroups.
  std::int64_t pool_units() const { return subgroups * rows * (channels() / 4 + 1); }
  /// And what plain code exchanges.
  std::int64_t shared_bytes() const;
};

/// Whether impl `coopmat` takes this kernel: where a case tunes it.
bool takes_decode(const ImplPoint& point);

/// The tunables `tile_n` and `subgroups_k`, or one fragment and as many subgroups, up to 8, as fit the
/// device.
DecodeTiling decode_tiling(const BuildContext& context, const LinearKind& kind);

/// The program of impl `coopmat` for a point that takes_decode() and that neither reason below refuses.
Program decode_program(const BuildContext& context, const LinearKind& kind);

/// Why no device can run the kernel with these parameters and tunables, or nothing.
std::optional<std::string> decode_invalid_reason(const ImplPoint& point, const LinearKind& kind);
/// Why the device cannot run it, or nothing.
std::optional<std::string> decode_unsupported_reason(const BuildContext& context, const LinearKind& kind);

}  // namespace assay::ops
