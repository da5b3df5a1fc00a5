#include "tests/faults/fault_ops.h"

#include <utility>

namespace assay::faults {
namespace {

constexpr std::uint32_t local_size = 16;
const Resource x = Resource::tensor(0), w = Resource::tensor(1), y = Resource::tensor(2);

Op matmul_with(std::vector<Impl> impls) {
  Op op = matmul();
  op.impls = std::move(impls);
  return op;
}

Dispatch asking_for(const std::string& fault) {
  Dispatch dispatch{.label = fault, .shader = "interface_faults.comp"};
  dispatch.defines = {{"FAULT_" + fault, "1"}};
  dispatch.bindings = {x, w, y};
  if (fault == "huge_shared_memory") dispatch.constants = {{"size", 1U << 28}};
  return dispatch;
}

/// Copies an input into the program's scratch before anything is timed.
Dispatch pack(const BuildContext& context, Resource from) {
  const std::int64_t words = context.physical(from.index).bytes() / 4;
  Dispatch dispatch{.label = "pack", .shader = "copy_words.comp", .local_size = {local_size, 1, 1}};
  dispatch.push.add(words);
  dispatch.workgroups = fold_grid(words, local_size);
  dispatch.bindings = {from, Resource::scratch(0)};
  dispatch.role = DispatchRole::Setup;
  return dispatch;
}

/// The matmul of what `packed` was packed from and the other input.
Program packed_program(const BuildContext& context, const std::string& define, Resource packed) {
  const TensorSpec& spec = context.tensors[packed.index];
  Dispatch product{.label = "product", .shader = "matmul_faults.comp", .local_size = {local_size, 1, 1}};
  product.defines = {{define, "1"}};
  product.push.add(context.params.integer("k")).add(context.params.integer("n"));
  product.workgroups = {static_cast<std::uint32_t>(context.params.integer("m")), 1, 1};
  product.bindings = {x, w, y};
  product.bindings[packed.index] = Resource::scratch(0);
  return {.scratch = {{"packed", spec.dtype, spec.shape, {Storage::Buffer, Layout::WP}}},
          .dispatches = {pack(context, packed), std::move(product)}};
}

Impl packing(const std::string& name, const std::string& define, Resource packed) {
  return {.name = name, .build = [define, packed](const BuildContext& context) {
            return packed_program(context, define, packed);
          }};
}

}  // namespace

Op asking_matmul() {
  std::vector<Impl> impls;
  for (const char* fault :
       {"constant_not_pushed", "set_seven", "binding_nine", "other_workgroup", "huge_shared_memory"}) {
    impls.push_back({.name = fault, .build = [name = std::string(fault)](const BuildContext&) {
                       return Program{.dispatches = {asking_for(name)}};
                     }});
  }
  return matmul_with(std::move(impls));
}

Op packing_matmul() {
  return matmul_with({packing("weights", "FAULT_none", w), packing("activations", "FAULT_none", x),
                      packing("weights_written_later", "FAULT_weights_writable", w)});
}

}  // namespace assay::faults
