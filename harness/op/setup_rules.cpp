#include "harness/op/setup_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace assay {
namespace {

using Reason = std::optional<std::string>;

const TensorSpec& at(std::span<const TensorSpec> tensors, Resource tensor) {
  if (tensor.index < tensors.size()) return tensors[tensor.index];
  throw std::logic_error(
      fmt::format("a dispatch binds tensor {}, but the op has {}", tensor.index, tensors.size()));
}

/// Returns why a setup dispatch must not bind that tensor.
Reason against_tensor(const Dispatch& dispatch, const TensorSpec& spec) {
  if (!spec.is_input()) {
    return fmt::format(
        "setup dispatch '{}' binds the output '{}', but setup is not timed: give it the role 'op'",
        dispatch.label, spec.name);
  }
  if (spec.constant) return std::nullopt;
  return fmt::format(
      "setup dispatch '{}' binds the input '{}', which differs from run to run, but setup runs once, "
      "untimed: it may read only constant inputs. Give the dispatch the role "
      "'op', or declare TensorSpec::constant if '{}' is a weight, a scale or a bias",
      dispatch.label, spec.name, spec.name);
}

bool binds(const Dispatch& dispatch, Resource resource) {
  return std::ranges::any_of(dispatch.bindings,
                             [&](const Binding& binding) { return binding.resource == resource; });
}

/// Returns why the setup dispatch with that index must not bind that scratch.
Reason against_scratch(const Program& program, std::size_t index, Resource scratch) {
  const std::span<const Dispatch> before = std::span(program.dispatches).first(index);
  const auto found = std::ranges::find_if(before, [&](const Dispatch& earlier) {
    return earlier.role != DispatchRole::Setup && binds(earlier, scratch);
  });
  if (found == before.end()) return std::nullopt;
  return fmt::format(
      "setup dispatch '{}' binds the scratch '{}', which '{}' of the role '{}' binds before it, but setup "
      "runs once, before everything else: put it first, or give it its own scratch",
      program.dispatches[index].label, program.scratch.at(scratch.index).name, found->label,
      name_of(found->role));
}

Reason against_dispatch(const Program& program, std::size_t index, std::span<const TensorSpec> tensors) {
  const Dispatch& dispatch = program.dispatches[index];
  for (const Binding& binding : dispatch.bindings) {
    const bool is_tensor = binding.resource.kind == Resource::Kind::Tensor;
    Reason reason = is_tensor ? against_tensor(dispatch, at(tensors, binding.resource))
                              : against_scratch(program, index, binding.resource);
    if (reason) return reason;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Resource> setup_scratch(const Program& program) {
  std::vector<Resource> found;
  for (const Dispatch& dispatch : program.dispatches) {
    if (dispatch.role != DispatchRole::Setup) continue;
    for (const Binding& binding : dispatch.bindings) {
      const bool is_new = std::ranges::find(found, binding.resource) == found.end();
      if (binding.resource.kind == Resource::Kind::Scratch && is_new) found.push_back(binding.resource);
    }
  }
  return found;
}

std::optional<std::string> broken_setup_rule(const Program& program, std::span<const TensorSpec> tensors) {
  for (std::size_t i = 0; i < program.dispatches.size(); ++i) {
    if (program.dispatches[i].role != DispatchRole::Setup) continue;
    if (auto reason = against_dispatch(program, i, tensors)) return reason;
  }
  return std::nullopt;
}

}  // namespace assay
