#pragma once

#include "harness/op/op.h"
#include "ops/common/tensor_at.h"
#include "references/convolution/conv1d.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

// What the convolutions along one axis share: x is [N, C, L], real, with real weights. x and y are both in
// buffers or both in width-packed 3D textures.

namespace assay::ops {

/// The op of this name. Its parameters are N, C, L, OC where it is not depthwise, kernel, stride, padding,
/// dilation, bias and dtype.
Op conv1d_op(std::string name, std::string summary, bool depthwise, std::vector<Impl> impls);

/// An impl whose kernel counts places with signed 32-bit integers and sums in float32.
Impl conv1d_impl(std::string name, std::string summary, std::vector<Tunable> tunables,
                 Program (*build)(const BuildContext&),
                 std::optional<std::string> (*unsupported_reason)(const BuildContext&));

/// Why kernels that count places with signed 32-bit integers and take x and y alike cannot take this point,
/// or nothing.
std::optional<std::string> conv1d_invalid_reason(const ImplPoint& point);

}  // namespace assay::ops
