#include "harness/commands/points/with_params.h"

#include "harness/base/error.h"

#include <algorithm>
#include <string>
#include <utility>

namespace assay::app {
namespace {

/// Derives anew each parameter that was derived before and that nobody has changed.
void derive_again(const Case& like, Params& params) {
  for (const ParamSpec& spec : like.op->params) {
    if (!spec.derive || !params.has(spec.name) || params.at(spec.name) != like.params->at(spec.name))
      continue;
    const std::optional<Value> before = spec.default_for(like.params);
    if (!before || *before != params.at(spec.name)) continue;
    if (const std::optional<Value> now = spec.default_for(params)) params.set(spec.name, *now);
  }
}

void check_params(const Op& op, const Params& params) {
  for (const ParamSpec& spec : op.params) spec.check(params.at(spec.name));
}

const TensorSpec* find_tensor(std::span<const TensorSpec> tensors, const std::string& name) {
  const auto found = std::ranges::find(tensors, name, &TensorSpec::name);
  return found == tensors.end() ? nullptr : &*found;
}

bool accepts(const TensorSpec& tensor, Form form) {
  return std::ranges::find(tensor.forms, form) != tensor.forms.end();
}

void drop_fills_of_absent_tensors(Case& made) {
  std::erase_if(made.fills.edit(), [&](const auto& entry) {
    const TensorSpec* const tensor = find_tensor(*made.tensors, entry.first);
    return tensor == nullptr || !tensor->is_input();
  });
}

}  // namespace

void take_forms(const Case& like, Case& made) {
  made.forms.clear();
  made.conv2d.tensors.clear();
  for (std::size_t i = 0; i < made.tensors->size(); ++i) {
    const TensorSpec& tensor = made.tensors[i];
    Form form = tensor.forms.front();
    for (std::size_t old = 0; old < like.tensors->size(); ++old) {
      if (like.tensors[old].name != tensor.name || !accepts(tensor, like.forms[old])) continue;
      form = like.forms[old];
      if (like.conv2d.covers(old)) made.conv2d.tensors.push_back(i);
    }
    made.forms.push_back(form);
  }
}

std::optional<Case> with_params(const Case& like, Params params) try {
  derive_again(like, params);
  check_params(*like.op, params);
  Case made = like;
  made.params = std::move(params);
  made.tensors = like.op->tensors(made.params);
  for (const TensorSpec& tensor : *made.tensors) numel(tensor.shape);  // throws if there are too many
  take_forms(like, made);
  drop_fills_of_absent_tensors(made);
  return made;
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace assay::app
