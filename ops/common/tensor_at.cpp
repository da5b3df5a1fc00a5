#include "ops/common/tensor_at.h"

#include "harness/base/error.h"
#include "ops/common/shader_values.h"

#include <fmt/format.h>

namespace assay::ops {
namespace {

constexpr std::int64_t most_elements = (std::int64_t{1} << 31) - 1;

std::string type_define(DType dtype) {
  return dtype == DType::I8 ? "TYPE_INT8" : dtype == DType::F16 ? "TYPE_F16" : "TYPE_F32";
}

std::string storage_define(Storage storage) {
  if (storage == Storage::Buffer) return "STORAGE_BUFFER";
  return storage == Storage::Texture3D ? "STORAGE_3D" : "STORAGE_2D";
}

}  // namespace

std::vector<Form> float_forms() {
  std::vector<Form> forms = all_forms();
  std::erase_if(forms, [](Form form) { return is_int8x4(form.layout); });
  return forms;
}

std::vector<Form> int8_forms(Layout first) {
  std::vector<Form> forms{{Storage::Buffer, first}};
  for (const LayoutInfo& info : all_layouts()) {
    if (info.is_int8x4() && info.layout != first) forms.push_back({Storage::Buffer, info.layout});
  }
  return forms;
}

void add(PushConstants& push, const Requantization& requantization) {
  push.add(std::int64_t{requantization.x.zero_point}).add(requantization.x.scale);
  push.add(1.0F / requantization.y.scale).add(std::int64_t{requantization.y.zero_point});
}

Define rounding_define(const DeviceInfo& device) {
  return {"ROUNDS_TO_EVEN", flag(device.has(Feature::RoundsToEven32))};
}

std::optional<std::string> scale_invalid_reason(const std::string& name, const QParams& qparams) {
  if (qparams.scale >= 0x1p-100F && qparams.scale <= 0x1p100F) return std::nullopt;
  return name + " is " + to_string(Value(qparams)) +
         ", whose scale is not between 2^-100 and 2^100: a step may be infinite, or below 2^-126, where "
         "devices may flush it to zero";
}

TensorAt tensor_at(const BuildContext& context, std::uint32_t index) {
  return {Resource::tensor(index), context.physical(index)};
}

Binding binding_of(const BuildContext& context, std::uint32_t index) {
  const Resource resource = Resource::tensor(index);
  const bool is_read = context.tensors[index].role == TensorSpec::Role::Input;
  return is_read && is_texture(context.forms[index]) ? sampled(resource) : Binding(resource);
}

Conversion quantizing(const QParams& to) {
  return {1.0f / to.scale, to.zero_point};
}

Conversion dequantizing(const QParams& from) {
  return {from.scale, from.zero_point};
}

Axis packed_axis(Layout layout) {
  return static_cast<Axis>(3 - info_of(layout).packed_dim());
}

std::array<Physical::Stride, 4> kernel_strides(const Physical& physical) {
  std::array<Physical::Stride, 4> strides = physical.strides();
  if (!is_int8x4(physical.form().layout)) return strides;
  for (Physical::Stride& stride : strides) stride = {stride.block / 4, stride.lane / 4};
  return strides;
}

void add_strides(PushConstants& push, const Physical& physical) {
  if (physical.form().storage != Storage::Buffer) {
    push.add(std::int64_t{physical.extent()[2]} / physical.dims().n);
    for (int i = 0; i < 6; ++i) push.add(std::int64_t{0});
    return;
  }
  const auto strides = kernel_strides(physical);
  push.add(strides[0].lane);
  for (const std::size_t dim : {3, 2, 1}) push.add(strides[dim].block).add(strides[dim].lane);
}

void add_form_defines(Dispatch& dispatch, const std::string& side, const Physical& physical) {
  dispatch.defines.push_back({side + "_TYPE", type_define(physical.dtype())});
  dispatch.defines.push_back({side + "_STORAGE", storage_define(physical.form().storage)});
}

std::optional<std::string> too_large(const Physical& physical) {
  if (physical.elements() <= most_elements) return std::nullopt;
  return std::to_string(physical.elements()) + " elements as " + to_string(physical.form()) +
         " exceed the 2^31 - 1 that this kernel can count";
}

std::optional<std::string> different_forms(const ImplPoint& point, std::size_t i, std::size_t k,
                                           std::string_view why) {
  if (point.forms[i] == point.forms[k]) return std::nullopt;
  return fmt::format("{} is {} and {} is {}: {}", point.tensors[i].name, to_string(point.forms[i]),
                     point.tensors[k].name, to_string(point.forms[k]), why);
}

std::optional<std::string> unequal_forms(const ImplPoint& point, std::size_t i, std::size_t k) {
  return different_forms(point, i, k, writes_where_it_reads);
}

std::optional<std::string> mixed_forms(const ImplPoint& point, std::string_view why) {
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < point.tensors.size(); ++i) {
    if (point.tensors[i].forms.size() == 1) continue;
    if (!first) first = i;
    if (auto reason = different_forms(point, *first, i, why)) return reason;
  }
  return std::nullopt;
}

std::optional<std::string> any_texture(const ImplPoint& point) {
  for (std::size_t i = 0; i < point.forms.size(); ++i) {
    if (!is_texture(point.forms[i])) continue;
    return point.tensors[i].name + " is " + to_string(point.forms[i]) +
           ": this impl reads and writes buffers only";
  }
  return std::nullopt;
}

std::optional<std::string> any_too_large(std::span<const TensorSpec> tensors, std::span<const Form> forms) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (auto reason = too_large({forms[i], tensors[i].dtype, tensors[i].shape})) {
      return tensors[i].name + ": " + *reason;
    }
  }
  return std::nullopt;
}

std::optional<std::string> excluded(const std::function<std::optional<std::string>()>& reason_of_derived) {
  try {
    return reason_of_derived();
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace assay::ops
