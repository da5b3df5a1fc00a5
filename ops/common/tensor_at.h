#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace assay::ops {

/// One side of a dispatch that moves a tensor: its resource, and how its elements lie there.
struct TensorAt {
  Resource resource;
  Physical physical;
};

/// The tensor at `index` of the context, in its form.
TensorAt tensor_at(const BuildContext& context, std::uint32_t index);

/// How values are converted on the way: int8 to float dequantizes, float to int8 quantizes.
struct Conversion {
  float scale = 1;              ///< scale of the integers; for quantizing its reciprocal, fl32(1 / scale)
  std::int32_t zero_point = 0;  ///< zero point of the integers
};
Conversion quantizing(const QParams& to);
Conversion dequantizing(const QParams& from);

/// The axes of a tensor, numbered as in shaders/common/forms.glslh.
enum class Axis : std::uint8_t { W, H, C };
Axis packed_axis(Layout layout);

/// Appends the `Strides` of shaders/common/forms.glslh.
void add_strides(PushConstants& push, const Physical& physical);

/// Strides of N, C, H, W in the units that kernels count: words for int8x4, else elements.
std::array<Physical::Stride, 4> kernel_strides(const Physical& physical);

/// Adds the #defines `<side>_TYPE` and `<side>_STORAGE`.
void add_form_defines(Dispatch& dispatch, const std::string& side, const Physical& physical);

/// Why kernels that count with 32-bit integers cannot take this tensor, or nothing.
std::optional<std::string> too_large(const Physical& physical);
/// Why such kernels cannot take one of a case's tensors in its form, or nothing; the reason begins with the
/// tensor's name.
std::optional<std::string> any_too_large(std::span<const TensorSpec> tensors, std::span<const Form> forms);

}  // namespace assay::ops
