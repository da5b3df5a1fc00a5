#pragma once

#include "ops/common/tensor_at.h"

#include <string>

namespace assay::ops {

/// Gives y the values of x in row-major order, in another shape: a copy between width-packed buffers
/// (shaders/relayout/copy.comp), else each value is looked up (shaders/relayout/gather.comp).
Dispatch view_dispatch(const BuildContext& context, std::string label, const TensorAt& x, const TensorAt& y);

/// Makes dim i of y dim dims[i] of x, for ranks up to 4: shaders/relayout/permute.comp between width-packed
/// buffers, else shaders/relayout/gather.comp.
Dispatch permute_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                          const TensorAt& y, const Shape& dims);

/// Permutes dims as permute_dispatch(), for row-major tensors of up to five dims, which no Physical
/// describes. `shape` is x's; elements are f32 or f16.
Dispatch permute_buffers(const BuildContext& context, std::string label, Resource x, Resource y, DType dtype,
                         const Shape& shape, const Shape& dims);

/// Moves x to y of equal shape and converts values where the types differ: a copy
/// (shaders/relayout/copy.comp) where no value changes its place, else shaders/relayout/relayout.comp where
/// it can, else shaders/relayout/gather.comp.
Dispatch move_dispatch(const BuildContext& context, std::string label, const TensorAt& x, const TensorAt& y,
                       const Conversion& conversion = {});

/// Gives y the pixel shuffle of x, floats in any form; each value is looked up
/// (shaders/relayout/gather.comp).
Dispatch shuffle_dispatch(const BuildContext& context, std::string label, const TensorAt& x,
                          const TensorAt& y, std::int64_t upscale_factor);

}  // namespace assay::ops
