#pragma once

#include "ops/common/tensor_at.h"

#include <string>

namespace assay::ops {

/// y holds the values of x in row-major order, in another shape: a copy between width-packed buffers
/// (shaders/copy.comp), else each value is looked up (shaders/gather.comp).
Dispatch view_dispatch(const BuildContext& context, std::string label, const TensorAt& x, const TensorAt& y);

/// Dim i of y is dim dims[i] of x, ranks up to 4: between width-packed buffers shaders/permute.comp, else
/// shaders/gather.comp.
Dispatch permute_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                          const TensorAt& y, const Shape& dims);

/// The same for row-major tensors of up to five dims, which no Physical describes. `shape` is that of x;
/// elements are f32 or f16.
Dispatch permute_buffers(const BuildContext& context, std::string label, Resource x, Resource y, DType dtype,
                         const Shape& shape, const Shape& dims);

/// Moves x to y of equal shape, converting values where their types differ: a copy (shaders/copy.comp) where
/// nothing changes its place, else shaders/relayout.comp where it can, else shaders/gather.comp.
Dispatch move_dispatch(const BuildContext& context, std::string label, const TensorAt& x, const TensorAt& y,
                       const Conversion& conversion = {});

/// y is the pixel shuffle of x, floats in any form, each value looked up: shaders/gather.comp.
Dispatch shuffle_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                          const TensorAt& y, std::int64_t upscale_factor);

}  // namespace assay::ops
