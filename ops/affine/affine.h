#pragma once

#include "harness/op/op.h"
#include "references/affine.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::ops {

/// The parameters that quantize_affine and dequantize_affine share.
std::vector<ParamSpec> affine_params();

/// What YAML's `tune:` may set: sizes of a workgroup.
std::vector<Tunable> affine_tunables();

/// A tensor of the whole shape: buffer, texture3d or texture2d in any float layout.
TensorSpec affine_data(const references::Affine& affine, std::string name, TensorSpec::Role role, DType dtype,
                       FillDomain domain);

/// The inputs with one value a block: scale and, unless the domain is none, zero_point.
std::vector<TensorSpec> affine_block_tensors(const references::Affine& affine);

/// Bytes of every tensor once; two operations an element, a multiplication and an addition.
Work affine_work(const Params& params, std::span<const TensorSpec> tensors);

/// The dispatch of a kernel built on shaders/common/affine.glslh: one invocation a quad of a buffer, or a
/// texel of a texture.
Dispatch affine_dispatch(const BuildContext& context, std::string label, std::string shader);

/// Why such a kernel cannot take these forms, or nothing.
std::optional<std::string> affine_excludes(const ImplPoint& point);

}  // namespace assay::ops
