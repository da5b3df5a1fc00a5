#pragma once

#include "harness/op/op.h"
#include "references/affine/affine.h"
#include "references/common/qparams.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::ops {

/// The parameters that quantize_affine and dequantize_affine share.
std::vector<ParamSpec> affine_params();

/// The tunables of the affine kernels: how invocations share the quads of a buffer, and the sides of a
/// workgroup over a texture.
std::vector<Tunable> affine_tunables();

/// A tensor of the op's full shape, as a buffer, texture3d or texture2d in any float layout.
TensorSpec affine_data(const references::Affine& affine, std::string name, TensorSpec::Role role, DType dtype,
                       FillDomain domain);

/// The inputs with one value per block: scale and, unless the domain is none, zero_point.
std::vector<TensorSpec> affine_block_tensors(const references::Affine& affine);

/// Counts each tensor's bytes once, and two operations per element: a multiplication and an addition.
Work affine_work(const Params& params, std::span<const TensorSpec> tensors);

/// The dispatch of a kernel built on shaders/common/affine.glslh: one invocation per quad of a buffer, or per
/// texel of a texture.
Dispatch affine_dispatch(const BuildContext& context, std::string label, std::string shader);

/// Why the affine kernels cannot take the forms of this point, or nothing.
std::optional<std::string> affine_invalid_reason(const ImplPoint& point);

/// What distinguishes one op over the affine kernels from another.
struct AffineOp {
  std::string name;
  std::string summary;
  /// The block size that the op's name stands for. None: cases give `block_size` and `zero_point_domain`.
  std::optional<references::Granularity> granularity{};
};

/// An op that computes q (integers) from x (real), scale and zero_point: shaders/affine/quantize_affine.comp.
Op quantizing_op(AffineOp op);

/// An op that computes y (real) from q (integers), scale and zero_point:
/// shaders/affine/dequantize_affine.comp.
Op dequantizing_op(AffineOp op);

}  // namespace assay::ops
