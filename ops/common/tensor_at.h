#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "harness/tensor/form.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::ops {

/// Every form of a float tensor: buffers first, then 3D and 2D textures, each width-, height- and
/// channels-packed.
std::vector<Form> float_forms();

/// Every form of an int8x4 tensor, `first` (the default) before the others.
std::vector<Form> int8_forms(Layout first = Layout::P4W4C);

/// The scales and zero points of the two int8 tensors between which values are requantized, from x to y.
struct Requantization {
  QParams x, y;
};

/// Appends the `Requantization` of shaders/common/requantize.glslh.
void add(PushConstants& push, const Requantization& requantization);

/// The #define ROUNDS_TO_EVEN of shaders/common/rounding.glslh for this device.
Define rounding_define(const DeviceInfo& device);

/// Why a kernel cannot requantize from or to this scale exactly on every device, or nothing. With scales
/// between 2^-100 and 2^100 no step is a NaN, and no value that a device may flush to zero affects an
/// integer: below 2^-126 it is less than 2^-26 of a scale.
std::optional<std::string> scale_invalid_reason(const std::string& name, const QParams& qparams);

/// One side of a dispatch that moves a tensor: its resource, and how its elements lie there.
struct TensorAt {
  Resource resource;
  Physical physical;
};

/// The tensor at `index` of the context, in its form.
TensorAt tensor_at(const BuildContext& context, std::uint32_t index);

/// The tensor at `index` of the context as a kernel finds it that reads textures through samplers.
Binding binding_of(const BuildContext& context, std::uint32_t index);

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

/// Why a kernel needs two tensors in one form.
inline constexpr std::string_view needs_one_form = "this kernel needs both in the same storage and layout";
inline constexpr std::string_view writes_where_it_reads =
    "an invocation writes where it reads, so both need the same storage and layout";

/// Why a kernel whose invocations write where they read cannot take the tensors at `i` and `k` in their
/// forms, which must be equal, or nothing.
std::optional<std::string> unequal_forms(const ImplPoint& point, std::size_t i, std::size_t k);

/// Why a kernel that takes two tensors in one form cannot take tensors i and k, or nothing; `why` it needs
/// that.
std::optional<std::string> different_forms(const ImplPoint& point, std::size_t i, std::size_t k,
                                           std::string_view why = needs_one_form);
/// Why a kernel that takes all tensors with a choice of forms in one of them cannot take these, or nothing.
std::optional<std::string> mixed_forms(const ImplPoint& point, std::string_view why = needs_one_form);
/// Why a kernel that takes buffers alone cannot take these, or nothing.
std::optional<std::string> any_texture(const ImplPoint& point);

/// Why kernels that count with 32-bit integers cannot take this tensor, or nothing.
std::optional<std::string> too_large(const Physical& physical);
/// Why such kernels cannot take one of a case's tensors in its form, or nothing; the reason begins with the
/// tensor's name.
std::optional<std::string> any_too_large(std::span<const TensorSpec> tensors, std::span<const Form> forms);
/// The reason that `reason_of_derived` returns, or the message of the Error that it throws: tensors that an
/// impl derives from a point may be larger than any shape can be where the point's own are not.
std::optional<std::string> excluded(const std::function<std::optional<std::string>()>& reason_of_derived);

}  // namespace assay::ops
