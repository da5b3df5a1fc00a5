#include "harness/chain/op_point.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>

namespace assay::chain {
namespace {

/// Tensors that nodes which only copy make of others: each in the group of the tensor that it is a copy of.
std::vector<std::size_t> groups_of_copies(const ResolvedChain& chain) {
  std::vector<std::size_t> group(chain.tensors.size());
  std::iota(group.begin(), group.end(), std::size_t{0});
  for (const ResolvedNode& node : chain.nodes) {
    if (only_copies(node)) group[node.tensors[1]] = group[node.tensors[0]];
  }
  return group;
}

bool can_hold(const TensorSpec& spec, Form form) try {
  const Physical physical(form, spec.dtype, spec.shape);
  return physical.bytes() >= 0;
} catch (const Error&) {
  return false;
}

}  // namespace

bool only_copies(const ResolvedNode& node) {
  return node.op->name == "clone" || node.op->name == "q8ta_clone" || node.op->name == "view";
}

bool is_identity(const ResolvedNode& node, std::span<const Form> forms) {
  if (!only_copies(node) || forms.size() != 2 || forms[0] != forms[1]) return false;
  if (node.specs[0].shape == node.specs[1].shape) return true;
  return std::ranges::all_of(std::array{0, 1}, [&](int i) {
    const auto at = static_cast<std::size_t>(i);
    return !is_texture(forms[at]) &&
           Physical(forms[at], node.specs[at].dtype, node.specs[at].shape).is_contiguous();
  });
}

std::vector<bool> read_beside_their_copies(const ResolvedChain& chain) {
  const std::vector<std::size_t> group = groups_of_copies(chain);
  std::vector<std::size_t> place(chain.tensors.size(), 0);  // of the node that makes it, from 1
  for (std::size_t i = 0; i < chain.nodes.size(); ++i) {
    for (std::size_t slot = 0; slot < chain.nodes[i].specs.size(); ++slot) {
      if (!chain.nodes[i].specs[slot].is_input()) place[chain.nodes[i].tensors[slot]] = i + 1;
    }
  }
  std::vector<bool> is_own(chain.tensors.size(), false);
  for (const ResolvedNode& node : chain.nodes) {
    for (std::size_t i = 0; i < node.specs.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        const std::size_t one = node.tensors[i], other = node.tensors[k];
        const bool are_inputs = node.specs[i].is_input() && node.specs[k].is_input();
        if (are_inputs && one != other && group[one] == group[other])
          is_own[place[one] > place[other] ? one : other] = true;
      }
    }
  }
  return is_own;
}

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
