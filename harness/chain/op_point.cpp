#include "harness/chain/op_point.h"

#include <algorithm>

namespace assay::chain {
namespace {

bool can_hold(const TensorSpec& spec, Form form) try {
  const Physical physical(form, spec.dtype, spec.shape);
  return physical.bytes() >= 0;
} catch (const Error&) {
  return false;
}

}  // namespace

OpPoint point_of(const ResolvedNode& node) {
  return {node.op, node.impl, node.params, node.specs};
}

std::optional<OpPoint> copy_of(const Chain& chain, const TensorSpec& spec) {
  const bool is_float = spec.dtype == DType::F32 || spec.dtype == DType::F16;
  const Op* op = spec.dtype == DType::I8 ? chain.q8ta_clone : is_float ? chain.clone : nullptr;
  if (op == nullptr) return std::nullopt;
  OpPoint point{.op = op, .impl = &op->impls.front(), .params = {}, .specs = {}};
  for (const ParamSpec& param : op->params) {
    if (param.name == "shape") {
      point.params.set("shape", spec.shape);
    } else if (param.name == "dtype") {
      point.params.set("dtype", std::string(name_of(spec.dtype)));
    } else if (const auto fallback = param.default_for(point.params)) {
      point.params.set(param.name, *fallback);
    }
  }
  point.specs = op->tensors(point.params);
  return point;
}

bool can_hold(const OpPoint& point, std::span<const Form> forms) {
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (!can_hold(point.specs[i], forms[i])) return false;
  }
  return true;
}

const Impl* impl_for(const OpPoint& point, std::span<const Form> forms, const DeviceInfo& device) {
  if (!can_hold(point, forms)) return nullptr;
  const Tune tune;
  const BuildContext context(point.params, point.specs, forms, device, tune);
  for (const Impl* impl : candidates(*point.op, *point.impl, context)) {
    if (can_run(*impl, context)) return impl;
  }
  return nullptr;
}

std::vector<std::size_t> planned_slots(const ResolvedNode& node) {
  std::vector<std::size_t> slots;
  for (const bool inputs : {true, false}) {
    for (std::size_t i = 0; i < node.specs.size(); ++i) {
      if (node.specs[i].is_input() == inputs && !node.specs[i].constant) slots.push_back(i);
    }
  }
  return slots;
}

std::vector<std::vector<Form>> combinations_of(const ResolvedNode& node, std::span<const Form> fixed) {
  const std::vector<std::size_t> slots = planned_slots(node);
  std::vector<Form> forms(fixed.begin(), fixed.end());
  std::vector<std::vector<Form>> all;
  std::vector<std::size_t> at(slots.size());
  for (bool is_done = false; !is_done;) {
    for (std::size_t i = 0; i < slots.size(); ++i) forms[slots[i]] = node.specs[slots[i]].forms[at[i]];
    all.push_back(forms);
    is_done = true;
    for (std::size_t i = slots.size(); i-- > 0 && is_done;) {
      is_done = ++at[i] == node.specs[slots[i]].forms.size();
      if (is_done) at[i] = 0;
    }
  }
  return all;
}

FormsOfTensors::FormsOfTensors(const ResolvedChain& chain, std::span<const Form> outer)
    : forms_(chain.tensors.size()) {
  for (std::size_t i = 0; i < outer.size(); ++i) add(chain.outer[i], outer[i]);
  for (const ResolvedNode& node : chain.nodes) {
    for (std::size_t i = 0; i < node.specs.size(); ++i) {
      if (node.specs[i].constant) continue;
      for (const Form form : node.specs[i].forms) add(node.tensors[i], form);
    }
  }
}

std::size_t FormsOfTensors::index(std::size_t tensor, Form form) const {
  return static_cast<std::size_t>(std::ranges::find(forms_[tensor], form) - forms_[tensor].begin());
}

void FormsOfTensors::add(std::size_t tensor, Form form) {
  std::vector<Form>& known = forms_[tensor];
  if (std::ranges::find(known, form) == known.end()) known.push_back(form);
}

std::vector<Form> forms_of_constants(const ResolvedChain& chain, const ResolvedNode& node,
                                     std::span<const Form> outer) {
  std::vector<Form> forms(node.specs.size());
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (!node.specs[i].constant) continue;
    const auto found = std::ranges::find(chain.outer, node.tensors[i]);
    forms[i] = outer[static_cast<std::size_t>(found - chain.outer.begin())];
  }
  return forms;
}

}  // namespace assay::chain
