#pragma once

#include "harness/op/op.h"
#include "ops/linear/product.h"
#include "references/linear/linear.h"

#include <cstdint>
#include <optional>
#include <span>

// How the products of shaders/linear/linear_coopmat.comp are cut into tiles, slabs and fragments.

namespace assay::ops {

/// A product of cooperative matrices, m x k by k x n, that a subgroup computes together.
struct Fragment {
  std::int64_t m = 16, n = 16, k = 32;
  MatrixExtension extension = MatrixExtension::Khr;
};

/// The tunable `matrices`: the extension whose matrices are multiplied.
enum class WantedMatrices : std::uint8_t { Any, Nv, Khr };

/// What a case tunes of fragments; sizes are 0 where it leaves them to the device.
struct WantedFragment {
  WantedMatrices matrices = WantedMatrices::Any;
  std::int64_t m = 0, n = 0, k = 0;
};

/// The part of K that lies in shared memory at a time. Without groups it is `depth` values. With groups it is
/// `groups` whole groups, each a whole number of fragments so that no 16 bytes of weights belong to two
/// groups; or it is a part of one group, padded with zeros to `padded` values.
struct Slab {
  std::int64_t depth = 0;           ///< values of K from one slab to the next
  std::int64_t padded = 0;          ///< values in shared memory: whole fragments
  std::int64_t groups = 1;          ///< whole groups; 1 for a part of a group
  std::int64_t slabs_of_group = 1;  ///< slabs that make up a group
};

/// The slab of at most `wanted` values, or of `unit` if that is more, for groups of `group_size`, a multiple
/// of 8. `unit`: the least number of values that are whole fragments and whole units of 16 bytes of weights.
Slab slab_of_groups(std::int64_t group_size, std::int64_t unit, std::int64_t wanted);

struct CoopmatTiling {
  static constexpr std::int64_t bytes_of_unit = 16;
  static constexpr std::int64_t most_fragments =
      32;  ///< per subgroup: their sums fill the registers of any device
  static constexpr std::int64_t most_fragments_of_a_side = 8;  ///< repetitions in shaders/common/unroll.glslh

  bool plain = true;  ///< no cooperative matrices: one invocation multiplies for its whole subgroup
  Fragment fragment;
  /// Invocations of a subgroup; in plain code of a group that takes a subgroup's place, whatever the device's
  /// are.
  std::int64_t lanes = 1;
  std::int64_t m = 32, n = 32;
  std::int64_t subgroup_m = 16, subgroup_n = 16;  ///< a subgroup's part of the tile
  std::int64_t subgroups_k = 1;                   ///< subgroups that share each part, along K
  Slab slab;
  std::int64_t all_slabs = 1;
  std::int64_t stages = 1;
  std::int64_t splits = 1;  ///< workgroups that share K

  bool halves = false;  ///< half floats; else int8
  bool int4 = false;    ///< weights; else int8
  bool w_by_k = false;  ///< w is half floats, and a slab of it lies in rows of N values, one for each k

  /// Whether the sum of each group is scaled. Otherwise weights are scaled before the product, or there are
  /// no groups.
  bool scales_groups() const { return int4 && !halves; }
  std::int64_t subgroups() const { return m / subgroup_m * (n / subgroup_n) * subgroups_k; }
  std::int64_t invocations() const { return subgroups() * lanes; }
  std::int64_t fragments_m() const { return subgroup_m / fragment.m; }
  std::int64_t fragments_n() const { return subgroup_n / fragment.n; }
  /// Fragments along N that lie in shared memory at a time on their way to y.
  std::int64_t staged() const { return staged_of(fragments_n()); }
  static std::int64_t staged_of(std::int64_t fragments_n) { return fragments_n < 4 ? fragments_n : 4; }
  /// Units of 16 bytes per row of a slab.
  std::int64_t chunks() const { return slab.padded / (halves ? 8 : 16); }
  /// Units of 16 bytes that 16 bytes of packed weights are unpacked to.
  std::int64_t chunks_of_unit() const { return w_by_k ? 1 : std::int64_t{halves ? 2 : 1} * (int4 ? 2 : 1); }
  Packing packing() const {
    return {.by_rows = true, .for_halves = halves, .slab_depth = slab.depth, .padded_depth = slab.padded};
  }
  /// Loads per invocation and slab: units of 16 bytes of x and of w, and quads of the tables of groups.
  std::int64_t x_loads() const;
  std::int64_t w_loads() const;
  std::int64_t table_loads() const;
  /// The parts of a slab that subgroups can share: whole groups where their sums are scaled, else fragments
  /// along K.
  std::int64_t parts_of_slab() const;
  /// Slabs per workgroup: whole groups where their sums are scaled.
  std::int64_t split_slabs() const;
  std::int64_t shared_bytes() const;
  /// The most loop iterations that an invocation executes in plain code, over all its loops.
  std::int64_t plain_turns() const;
};

/// The largest cooperative product of this kind that the device has, or nothing; of equal ones that of the
/// KHR extension.
std::optional<Fragment> fragment_of(const DeviceInfo& device, const LinearKind& kind,
                                    const WantedFragment& wanted = {});

WantedFragment wanted_fragment(const ImplPoint& point);

/// Whether tiles of 64 output channels, for the rows of one fragment, are enough workgroups for a large
/// device.
bool has_many_channels(const references::Linear& linear);

/// The case's tunables and, where it tunes none of `sizes`, those that are fast.
Tune with_sizes(const Tune& of_case, std::span<const char* const> sizes, Tune fast);

/// Sizes for int8 by int8 (tile_m, tile_n, tile_k, subgroup_m, subgroup_n, subgroups_k, all of them) that are
/// fast with fragments of 16 x 16 and subgroups of 32, fitted to the fragment that is taken, to the device's
/// subgroups and to its shared memory; unchanged where it has no such matrices.
Tune fitted_tune(Tune tune, const DeviceInfo& device, const WantedFragment& wanted);

/// The tiling as tuned, or the one that is fast for this shape on this device.
CoopmatTiling coopmat_tiling(const BuildContext& context, const LinearKind& kind);
/// The same where both x and w are half floats, w by rows of N values (shaders/matmul/matmul_coopmat.comp).
CoopmatTiling coopmat_tiling_by_k(const BuildContext& context, const references::Linear& linear);

}  // namespace assay::ops
