#pragma once

#include "harness/op/op.h"
#include "ops/linear/product.h"

namespace assay::ops {

/// The impl whose subgroups multiply cooperative matrices (shaders/linear/linear_coopmat.comp): int8 with
/// int32 sums, or half floats with float sums where x is real; x must be f16 then. On a device without
/// cooperative matrices, and where the tunable `plain` is 1, the same kernel multiplies in plain code, to
/// test that it is right, never for speed.
Impl coopmat_linear(const LinearKind& kind);

/// The program of this impl for a convolution in the context of its linear op (ops/convolution/product.h): of
/// int8 values, or of halves whose x already consists of rows.
Program coopmat_convolution(const BuildContext& context, const LinearKind& kind, const Images& images);
/// What the device is missing for that program, or nothing.
std::optional<std::string> coopmat_convolution_unsupported_reason(const BuildContext& context,
                                                                  const LinearKind& kind);
/// Why no device can run with these tunables, or nothing.
std::optional<std::string> coopmat_tune_invalid_reason(const ImplPoint& point);
std::vector<Tunable> coopmat_tunables(const LinearKind& kind);

/// Whether the device has the cooperative matrices that coopmat_linear multiplies.
bool has_matrices(const DeviceInfo& device, const LinearKind& kind);

}  // namespace assay::ops
