#pragma once

#include "harness/op/op.h"
#include "ops/linear/product.h"
#include "references/linear.h"

#include <cstdint>
#include <optional>

// How the products of shaders/linear_coopmat.comp are cut into tiles, slabs and fragments.

namespace assay::ops {

/// A product of matrices that a subgroup holds together: m x k by k x n.
struct Fragment {
  std::int64_t m = 16, n = 16, k = 32;
};

/// What of K lies in shared memory at once. Without groups: `depth` values. With groups: `groups` whole ones,
/// each a whole number of fragments, so that no 16 bytes of weights are of two; or a part of one group,
/// filled up with zeros to `padded` values.
struct Slab {
  std::int64_t depth = 0;           ///< values of K that it moves on by
  std::int64_t padded = 0;          ///< values that lie in shared memory: whole fragments
  std::int64_t groups = 1;          ///< whole ones; 1 for a part of one
  std::int64_t slabs_of_group = 1;  ///< parts of a group
};

/// The slab of at most `wanted` values, or of `unit` if that is more, for groups of `group_size`, a multiple
/// of 8. `unit`: values that fragments, and 16 bytes of weights, hold whole.
Slab slab_of_groups(std::int64_t group_size, std::int64_t unit, std::int64_t wanted);

struct CoopmatTiling {
  static constexpr std::int64_t bytes_of_unit = 16;

  bool plain = true;  ///< no matrices of the device's: an invocation multiplies what a subgroup would
  Fragment fragment;
  std::int64_t lanes = 1;  ///< invocations of a subgroup
  std::int64_t m = 32, n = 32;
  std::int64_t subgroup_m = 16, subgroup_n = 16;  ///< what of the tile is a subgroup's
  std::int64_t subgroups_k = 1;                   ///< subgroups that share each such part, along K
  Slab slab;
  std::int64_t all_slabs = 1;
  std::int64_t stages = 1;
  std::int64_t splits = 1;  ///< workgroups that share K

  bool halves = false;  ///< half floats; else int8
  bool int4 = false;    ///< weights; else int8

  /// Sums of groups end and are scaled; else weights are, before the product, or there are no groups.
  bool scales_groups() const { return int4 && !halves; }
  std::int64_t subgroups() const { return m / subgroup_m * (n / subgroup_n) * subgroups_k; }
  std::int64_t invocations() const { return subgroups() * lanes; }
  std::int64_t fragments_m() const { return subgroup_m / fragment.m; }
  std::int64_t fragments_n() const { return subgroup_n / fragment.n; }
  /// Fragments side by side that lie in shared memory at once on their way to y.
  std::int64_t staged() const { return fragments_n() < 4 ? fragments_n() : 4; }
  /// Units of 16 bytes of a row of a slab.
  std::int64_t chunks() const { return slab.padded / (halves ? 8 : 16); }
  /// Those that 16 bytes of packed weights become.
  std::int64_t chunks_of_unit() const { return std::int64_t{halves ? 2 : 1} * (int4 ? 2 : 1); }
  Packing packing() const {
    return {.by_rows = true, .for_halves = halves, .slab_depth = slab.depth, .padded_depth = slab.padded};
  }
  /// Loads of an invocation for a slab: units of 16 bytes of x and of w, quads of tables of groups.
  std::int64_t x_loads() const;
  std::int64_t w_loads() const;
  std::int64_t table_loads() const;
  /// What of a slab subgroups can share: whole groups where their sums are scaled, else fragments along K.
  std::int64_t parts_of_slab() const;
  /// Slabs of a workgroup: whole groups where their sums are scaled.
  std::int64_t split_slabs() const;
  std::int64_t shared_bytes() const;
  /// Turns of all its loops that an invocation goes through in plain code, at most.
  std::int64_t plain_turns() const;
};

/// The largest product that the device has of this kind, or nothing.
std::optional<Fragment> fragment_of(const DeviceInfo& device, const LinearKind& kind);

/// As tuned, or as is fast for this shape on this device.
CoopmatTiling coopmat_tiling(const BuildContext& context, const LinearKind& kind);

}  // namespace assay::ops
