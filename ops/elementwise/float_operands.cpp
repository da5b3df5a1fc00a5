#include "ops/elementwise/float_operands.h"

#include "ops/common/grid.h"
#include "ops/common/shader_values.h"
#include "ops/common/tensor_at.h"

#include <utility>

namespace assay::ops {
namespace {

constexpr std::int64_t bytes_of_float_vector = 16;

std::int64_t add_words(Dispatch& dispatch, const Physical& y) {
  const bool whole =
      y.elements() * static_cast<std::int64_t>(size_of(y.dtype())) % bytes_of_float_vector == 0;
  const std::int64_t vectors = y.bytes() / (whole ? bytes_of_float_vector : 4);
  dispatch.defines.push_back({"WHOLE_QUADS", flag(whole)});
  dispatch.push.add(vectors);
  return vectors;
}

std::int64_t add_texels(Dispatch& dispatch, const Physical& y) {
  const auto [width, height, depth] = y.extent();
  const std::int64_t texels = std::int64_t{width} * height * depth;
  dispatch.defines.push_back({"WHOLE_QUADS", "1"});
  dispatch.push.add(texels).add(std::int64_t{width}).add(std::int64_t{height});
  add(dispatch.push, divider(width));
  add(dispatch.push, divider(height));
  return texels;
}

Program elementwise(const BuildContext& context, const std::string& name) {
  const Physical y = context.physical(2);
  Dispatch dispatch{.label = name, .shader = name + ".comp"};
  dispatch.defines = {{"F16", flag(y.dtype() == DType::F16)}, texture_define(y.form())};
  const std::int64_t vectors = is_texture(y.form()) ? add_texels(dispatch, y) : add_words(dispatch, y);
  dispatch.bindings = {Resource::tensor(0), Resource::tensor(1), Resource::tensor(2)};
  set_vector_grid(dispatch, context, vectors, 1);
  return {.dispatches = {std::move(dispatch)}};
}

std::optional<std::string> invalid_reason(const ImplPoint& point) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (auto reason = unequal_forms(point, i, 2)) return reason;
  }
  return any_too_large(point.tensors, point.forms);
}

}  // namespace

std::vector<TensorSpec> float_operands(const Params& params, std::string first, std::string second) {
  const DType dtype = parse_dtype(params.choice("dtype")).value();
  TensorSpec a{.name = std::move(first),
               .dtype = dtype,
               .shape = params.ints("shape"),
               .forms = {{Storage::Buffer, Layout::WP},
                         {Storage::Texture3D, Layout::WP},
                         {Storage::Texture3D, Layout::HP},
                         {Storage::Texture3D, Layout::CP}}};
  TensorSpec b = a;
  b.name = std::move(second);
  TensorSpec y = a;
  y.name = "y";
  y.role = TensorSpec::Role::Output;
  y.output_class = OutputClass::Bounded;
  return {std::move(a), std::move(b), std::move(y)};
}

std::vector<ParamSpec> float_operand_params(const std::string& tensors) {
  return {shape("shape", rank(1, 4)).says("of " + tensors),
          choice("dtype", {"f32", "f16"}).by_default(std::string("f32")).says("type of " + tensors)};
}

Impl elementwise_floats(const std::string& name, double unit_error) {
  return {.name = "elementwise",
          .summary = "one dispatch: 16 bytes or a texel at a time",
          .tunables = {local_size_tunable(), vectors_tunable()},
          .build = [name](const BuildContext& context) { return elementwise(context, name); },
          .invalid_reason = invalid_reason,
          .unit_error = [unit_error](const BuildContext&) { return unit_error; }};
}

}  // namespace assay::ops
