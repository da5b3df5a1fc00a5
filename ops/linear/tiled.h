#pragma once

#include "harness/op/op.h"
#include "ops/linear/product.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::ops {

/// The sizes of a workgroup's tile in y and along K, and of an invocation's part of it.
struct Tiling {
  std::int64_t m = 64, n = 64, k = 64;
  std::int64_t rows = 8, columns = 8;

  std::int64_t invocations() const { return m / rows * (n / columns); }
};

/// The tiling as tuned, or the one that is fast for this shape on this device.
Tiling tiling_of(const BuildContext& context, const references::Linear& linear, const LinearKind& kind);
/// What the device is missing for it, or nothing.
std::optional<std::string> tiling_unsupported_reason(const Tiling& tiling, const references::Linear& linear,
                                                     const LinearKind& kind, const DeviceInfo& device);
/// Gives `product` the #defines ROWS, COLUMN_QUADS and SUMS_OF_INVOCATION, the constants tile_m, tile_n and
/// steps, the size of its workgroups and shared memory, and `workgroups` of them.
void add_tiling(Dispatch& product, const Tiling& tiling, const LinearKind& kind, std::int64_t workgroups,
                const DeviceInfo& device);
/// The tunables of those sizes.
std::vector<Tunable> tiling_tunables(const LinearKind& kind);

/// The program of tiled_linear() for a convolution in the context of its linear op
/// (ops/convolution/product.h): of int8 values, or of real ones whose x already consists of rows.
Program tiled_convolution(const BuildContext& context, const LinearKind& kind, const Images& images,
                          bool dot);
/// What the device is missing for that program, or nothing.
std::optional<std::string> tiled_convolution_unsupported_reason(const BuildContext& context,
                                                                const LinearKind& kind);

/// The impl whose workgroups compute tiles of y from slabs of x and w in shared memory
/// (shaders/linear/linear_tiled.comp). `dot`: it uses the integer dot product.
Impl tiled_linear(std::string name, const LinearKind& kind, bool dot);

}  // namespace assay::ops
