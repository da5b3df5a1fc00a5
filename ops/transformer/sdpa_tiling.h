#pragma once

#include "harness/op/op.h"
#include "ops/linear/coopmat_tiling.h"

#include <cstdint>
#include <optional>
#include <string>

namespace assay::ops {

/// How impl `coopmat` of sdpa cuts its queries and keys, for one of its kernels:
/// - scores in shared memory, shaders/transformer/sdpa_coopmat.comp: any device's matrices
/// - scores in registers, where the places of elements are known (DeviceInfo::places_matrices()):
///   sdpa_registers.comp, or sdpa_decode.comp where subgroups share keys
struct AttentionTiling {
  bool plain = true;
  bool in_registers = false;  ///< scores become weights there
  Fragment fragment{.m = 16, .n = 16, .k = 16};
  std::int64_t lanes = 16;       ///< of a subgroup
  std::int64_t width = 16;       ///< D
  std::int64_t subgroup_m = 16;  ///< queries of a subgroup, as asked for
  std::int64_t fragments_m = 1;
  std::int64_t keys = 32;  ///< of a tile
  std::int64_t subgroups = 4;
  bool shares_keys = false;  ///< subgroups compute the same queries, with other keys
  std::int64_t splits = 1;   ///< workgroups that share the keys of a query
  std::int64_t split_keys = 1;
  bool joins_itself = false;  ///< the last of these workgroups joins what they have
  /// sdpa_registers.comp: workgroups that begin with the queries that see most keys; those after them begin
  /// with the queries that see fewest.
  std::int64_t first_turn = 1;

  bool decodes() const { return in_registers && shares_keys; }
  bool has_turns() const { return in_registers && !shares_keys; }
  std::int64_t rows() const;  ///< queries of a subgroup
  std::int64_t rows_of_workgroup() const { return (shares_keys ? 1 : subgroups) * rows(); }
  std::int64_t lanes_of_row() const { return lanes / rows(); }
  std::int64_t invocations() const { return subgroups * lanes; }
  std::int64_t units_of_row() const { return width / 8; }  ///< of 16 bytes
  std::int64_t tile_loads() const;                         ///< units of k that an invocation loads for a tile
  std::int64_t pool_units() const;                         ///< of 16 bytes of shared memory
  std::int64_t shared_bytes() const;
};

/// Fragments along a head: repetitions in shaders/common/unroll.glslh.
inline constexpr std::int64_t most_columns_of_head = 8;

/// The kind of product whose fragments are taken.
inline constexpr LinearKind kind_of_attention{XKind::Real, WeightKind::Int8};

AttentionTiling attention_tiling(const BuildContext& context);
/// Why the device cannot run this tiling, or nothing.
std::optional<std::string> tiling_unsupported_reason(const AttentionTiling& tiling, const DeviceInfo& device);

}  // namespace assay::ops
