#pragma once

#include "harness/op/op.h"
#include "ops/linear/product.h"
#include "ops/linear/tiled.h"
#include "references/matmul/matmul.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What mm, bmm and addmm share: they are one product, with or without a batch and a third matrix.

namespace assay::ops {

/// The op of this name, whose parameters are `before`, then M, K, N and dtype, then `after`.
Op matmul_op(std::string name, std::string summary, std::vector<ParamSpec> before = {},
             std::vector<ParamSpec> after = {});

/// The slots of a's rows (shaders/linear/rows.glslh), `rows` in each of `planes` matrices: where there are
/// several, each begins with a tile of `tile_m` rows.
Slots slots_of_planes(std::int64_t planes, std::int64_t rows, std::int64_t tile_m);

/// Why no device can count these slots, or nothing. Kernels that round rows up may have more than y has
/// elements.
std::optional<std::string> slots_unsupported_reason(const Slots& slots);

/// A dispatch of the kernel of tiled_matmul() that computes tiles of y, `rows` (slots) by `columns`. The
/// caller adds the operands' bindings, #defines and push constants.
Dispatch tiled_product(const Tiling& tiling, std::int64_t rows, std::int64_t columns,
                       const DeviceInfo& device);

/// The impl whose workgroups compute tiles of y from slabs of a and b in shared memory
/// (shaders/matmul/matmul_tiled.comp).
Impl tiled_matmul();

/// The impl whose subgroups multiply cooperative matrices of half floats
/// (shaders/matmul/matmul_coopmat.comp), or plain code where a device has none, as impl `coopmat` of the
/// linear ops does.
Impl coopmat_matmul();

}  // namespace assay::ops
