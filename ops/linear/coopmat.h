#pragma once

#include "harness/op/op.h"
#include "ops/linear/product.h"

namespace assay::ops {

/// The impl whose subgroups multiply matrices that they hold together (shaders/linear_coopmat.comp): of int8
/// with int32 sums, or of half floats with float sums where x is real; then x must be f16. On a device
/// without such matrices, and where the tunable `plain` is 1, the same kernel multiplies in plain code: that
/// is for its correctness, never for speed.
Impl coopmat_linear(const LinearKind& kind);

/// The program of the impl for a convolution, in the context of the linear op that it is
/// (ops/convolution/product.h): of int8 values, or of halves whose x is rows already.
Program coopmat_convolution(const BuildContext& context, const LinearKind& kind, const Images& images);
/// What it lacks on the device, or nothing.
std::optional<std::string> coopmat_convolution_lacks(const BuildContext& context, const LinearKind& kind);
/// Why no device can do what is tuned, or nothing.
std::optional<std::string> coopmat_excludes_tune(const ImplPoint& point);
std::vector<Tunable> coopmat_tunables();

/// Whether the device has the matrices that coopmat_linear multiplies.
bool has_matrices(const DeviceInfo& device, const LinearKind& kind);

}  // namespace assay::ops
