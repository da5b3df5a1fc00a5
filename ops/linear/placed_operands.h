#pragma once

#include "harness/op/op.h"
#include "ops/linear/coopmat_tiling.h"
#include "ops/linear/product.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

// What the kernels have in common whose weights go from memory to registers
// (shaders/linear/linear_decode.comp, linear_prefill.comp). Matrices are of half floats, whatever x is: 16
// output channels by 8 rows of x by 16 values along K.

namespace assay::ops {

inline constexpr Fragment placed_fragment{16, 8, 16, MatrixExtension::Khr};
inline constexpr std::int64_t lanes_of_placed = 32;  ///< invocations of a subgroup
inline constexpr std::int64_t channels_of_placed = placed_fragment.m, rows_of_placed = placed_fragment.n;
inline constexpr std::int64_t sums_of_lane = channels_of_placed * rows_of_placed / lanes_of_placed;
/// Units of 16 bytes of weights along K, one for each t of shaders/common/placed_matrices.glslh.
inline constexpr std::int64_t units_of_step = 4;
inline constexpr std::int64_t bytes_of_pool_unit = 16;  ///< of shared memory

/// Whether a kernel with operands in registers may be the default: a case tunes nothing but `weights` and
/// `bake`, and the device's matrices of halves hold their elements where such kernels expect them.
bool may_be_default(const BuildContext& context);

/// Whether matrices are emulated: a case asks for it, or the device has none of halves.
bool is_plain(const BuildContext& context);

/// Values along K in 16 bytes of weights.
std::int64_t values_of_unit(const LinearKind& kind);

/// Units of 16 bytes follow each other, each of one group. Bytes of x become halves in another order than
/// halves do, which grouped weights follow.
Packing placed_packing(const LinearKind& kind);

/// What both kernels expect of add_operands(). `columns`: output channels of a workgroup.
ProductNeeds placed_product_needs(const BuildContext& context, const LinearKind& kind, bool plain,
                                  std::int64_t columns);

/// Gives `product` the #defines about its fragments.
void add_placed_fragment(Dispatch& product, const LinearKind& kind, bool plain);

/// Bytes of shared memory with which `subgroups` exchange operands in plain code.
std::int64_t exchanged_bytes(std::int64_t subgroups);
/// The loop iterations of an invocation for a product in plain code.
std::int64_t turns_of_placed_product();

/// Why the tunables `names` are refused, if a case tunes one, or nothing.
std::optional<std::string> useless_tunable_reason(const ImplPoint& point, std::span<const char* const> names);
/// Why 16 bytes of weights have no single scale, or `units` times 16 bytes, or nothing.
std::optional<std::string> scales_invalid_reason(const ImplPoint& point, const LinearKind& kind,
                                                 std::int64_t units = 1);
/// Why the device does not run such a kernel in `plain` code or by its matrices, or nothing. `turns`: the
/// loop iterations of an invocation in plain code.
std::optional<std::string> placed_unsupported_reason(const BuildContext& context, const LinearKind& kind,
                                                     bool plain, std::int64_t turns, std::int64_t subgroups,
                                                     std::int64_t shared_bytes);

}  // namespace assay::ops
