#pragma once

#include "harness/op/op.h"
#include "ops/linear/coopmat_tiling.h"
#include "ops/linear/product.h"

#include <cstdint>

namespace assay::ops {

/// The impl whose subgroups multiply cooperative matrices (shaders/linear/linear_coopmat.comp,
/// linear_decode.comp, linear_prefill.comp): int8 with int32 sums, or half floats with float sums where x is
/// real; x must be f16 then. On a device without cooperative matrices, and where the tunable `plain` is 1,
/// the same kernels multiply in plain code, to test that they are right, never for speed.
Impl coopmat_linear(const LinearKind& kind);

/// Where the operands of its matrices are, by which it has three kernels: the values of the tunable
/// `operands`.
enum class Operands : std::uint8_t {
  Shared = 1,     ///< in shared memory: CoopmatTiling
  Registers = 2,  ///< in registers: DecodeTiling
  Weights = 3,    ///< weights in registers, x in shared memory: PrefillTiling
};
/// As tuned, or what is fast for this shape on this device.
Operands coopmat_operands(const BuildContext& context, const LinearKind& kind);

/// The program of this impl for a convolution in the context of its linear op (ops/convolution/product.h): of
/// int8 values, or of halves whose x already consists of rows.
Program coopmat_convolution(const BuildContext& context, const LinearKind& kind, const Images& images);
/// What the device is missing for that program, or nothing.
std::optional<std::string> coopmat_convolution_unsupported_reason(const BuildContext& context,
                                                                  const LinearKind& kind);
/// Why no device can run with these tunables, or nothing.
std::optional<std::string> coopmat_tune_invalid_reason(const ImplPoint& point);
/// Those of the tiles, which convolutions have as well.
std::vector<Tunable> coopmat_tunables(const LinearKind& kind);

// For the other kernel of cooperative matrices, shaders/matmul/matmul_coopmat.comp.

/// Gives `product` the #defines and constants about its tiles.
void add_tiling(Dispatch& product, const CoopmatTiling& tiling, const LinearKind& kind);
/// Gives `product` its workgroups, for `tiles_n` of them along N.
void set_tiling_grid(Dispatch& product, const CoopmatTiling& tiling, std::int64_t tiles_n, const Slots& slots,
                     const DeviceInfo& device);
/// That the device has no such matrices, or none that it multiplies right.
std::string missing_matrices(const DeviceInfo& device, const LinearKind& kind, const WantedFragment& wanted);
/// Why the device misses the matrices that a case asks for, or nothing.
std::optional<std::string> matrices_unsupported_reason(const BuildContext& context, const LinearKind& kind);
/// Why the device cannot run this tiling, or nothing.
std::optional<std::string> tiling_unsupported_reason(const CoopmatTiling& tiling, const DeviceInfo& device);

/// Whether the device has the cooperative matrices that coopmat_linear multiplies.
bool has_matrices(const DeviceInfo& device, const LinearKind& kind);

}  // namespace assay::ops
