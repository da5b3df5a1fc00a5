#include "tests/faults/fault_ops.h"

#include <array>
#include <utility>

namespace assay::faults {
namespace {

constexpr Form form_of(Storage storage) {
  return {storage, Layout::WP};
}

std::vector<TensorSpec> flip_tensors(const Params& params, Storage storage) {
  TensorSpec x{.name = "x",
               .dtype = DType::I8,
               .shape = params.ints("shape"),
               .forms = {form_of(storage)},
               .domain = {FillRole::Data, -128, 127}};
  TensorSpec y = x;
  y.name = "y";
  y.role = TensorSpec::Role::Output;
  return {x, y};
}

std::vector<Expected> flip_reference(const Params&, std::span<const HostTensor> inputs) {
  Expected expected{.values = inputs[0]};
  for (std::int8_t& value : expected.values.as<std::int8_t>()) value = static_cast<std::int8_t>(~value);
  return {expected};
}

Program flip_program(const BuildContext& context, const std::string& fault) {
  const Physical x = context.physical(0);
  const bool is_3d = x.form().storage == Storage::Texture3D;
  Dispatch dispatch{.label = fault,
                    .shader = "texture_faults.comp",
                    .defines = {{"FAULT_" + fault, "1"},
                                {"IMAGE", is_3d ? "iimage3D" : "iimage2D"},
                                {"DIMS", is_3d ? "3" : "2"}},
                    .local_size = {4, 2, 2},
                    .bindings = {Resource::tensor(0), Resource::tensor(1)}};
  dispatch.push.add(x.dims().w);
  for (std::size_t i = 0; i < 3; ++i) {
    dispatch.workgroups[i] = (x.extent()[i] + dispatch.local_size[i] - 1) / dispatch.local_size[i];
  }
  return {.dispatches = {std::move(dispatch)}, .unchecked_because = seen_when_run};
}

}  // namespace

Op flip(Storage storage) {
  Op op;
  op.name = "flip_" + std::string(name_of(storage));
  op.params = {shape("shape")};
  op.tensors = [storage](const Params& params) { return flip_tensors(params, storage); };
  op.reference = flip_reference;
  op.work = [](const Params&, std::span<const TensorSpec> tensors) { return streaming_work(tensors); };
  for (const char* fault : {"correct", "rows_swapped", "one_texel_not_written", "one_texel_wrong",
                            "depends_on_padding", "keeps_old_bit", "input_overwritten"}) {
    op.impls.push_back({.name = fault, .build = [name = std::string(fault)](const BuildContext& context) {
                          return flip_program(context, name);
                        }});
  }
  return op;
}

Params flip_params(const Shape& shape) {
  Params params;
  params.set("shape", shape);
  return params;
}

}  // namespace assay::faults
