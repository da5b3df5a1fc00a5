#include "harness/op/op.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay {
namespace {

using Reason = std::optional<std::string>;

template <class T>
const T* find_by_name(const std::vector<T>& items, std::string_view name) {
  const auto found =
      std::find_if(items.begin(), items.end(), [name](const T& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

/// Checks that all impls define CONV2D or none does. An alias that only some impls define would make `impl:
/// all` an error.
void check_conv2d(const Op& op) {
  if (conv2d_layouts(op).empty()) return;
  for (const Impl& impl : op.impls) {
    if (impl.conv2d_layout.has_value() != static_cast<bool>(impl.choose)) continue;
    throw std::logic_error("op '" + op.name + "': impl '" + impl.name +
                           (impl.choose ? "' has a conv2d_layout, but takes that of the impl that it chooses"
                                        : "' has no conv2d_layout, but others have one"));
  }
}

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
      "'op', or declare {} if '{}' is a weight, a scale or a bias",
      dispatch.label, spec.name, dispatch.external ? "`constant: true`" : "TensorSpec::constant", spec.name);
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

enum class Presence : std::uint8_t { Needed, Optional, Refused };

/// Reports what is wrong with one output of one op's reference.
class Checker {
 public:
  Checker(std::string_view op, const TensorSpec& output) : op_(op), output_(output) {}

  [[noreturn]] void refuse(const std::string& what) const {
    throw std::logic_error("the reference of " + op_ + ", output '" + output_.name + "' (" +
                           std::string(name_of(output_.output_class)) + "): " + what);
  }

  template <class T>
  void check_list(const std::string& list, const std::vector<T>& values, Presence presence) const {
    if (values.empty()) {
      if (presence == Presence::Needed) refuse("it has no " + list);
      return;
    }
    if (presence == Presence::Refused) refuse("it has " + list + ", which the class does not use");
    const auto wanted = static_cast<std::size_t>(numel(output_.shape));
    if (values.size() != wanted) {
      refuse(list + " has " + std::to_string(values.size()) + " entries for " + std::to_string(wanted) +
             " elements");
    }
  }

  /// Checks errors and bounds: an entry that is negative or NaN would accept or reject everything.
  void check_not_negative(const std::string& list, const std::vector<float>& values) const {
    for (const float value : values) {
      if (!(value >= 0)) refuse(list + " has the entry " + std::to_string(value));
    }
  }

 private:
  std::string op_;
  const TensorSpec& output_;
};

void check_values(const Checker& checker, const TensorSpec& output, const HostTensor& values) {
  const bool is_double = output.output_class == OutputClass::Bounded && values.dtype() == DType::F64;
  if ((values.dtype() == output.dtype || is_double) && values.shape() == output.shape) return;
  checker.refuse("it gave " + std::string(name_of(values.dtype())) + " [" + to_string(values.shape()) +
                 "], but the op declares " + std::string(name_of(output.dtype)) + " [" +
                 to_string(output.shape) + "]");
}

}  // namespace

bool is_updated_in_place(std::span<const TensorSpec> tensors) {
  return std::ranges::any_of(
      tensors, [](const TensorSpec& spec) { return spec.starts_as.has_value() && !spec.written_in_part; });
}

bool is_written_in_part(std::span<const TensorSpec> tensors) {
  return std::ranges::any_of(tensors, [](const TensorSpec& spec) { return spec.written_in_part; });
}

bool is_data_before(std::span<const TensorSpec> tensors, std::size_t tensor) {
  return std::ranges::any_of(tensors, [&](const TensorSpec& spec) { return spec.starts_as == tensor; });
}

bool is_data_before_part(std::span<const TensorSpec> tensors, std::size_t tensor) {
  return std::ranges::any_of(
      tensors, [&](const TensorSpec& spec) { return spec.starts_as == tensor && spec.written_in_part; });
}

Work streaming_work(std::span<const TensorSpec> tensors) {
  Work work;
  for (const TensorSpec& tensor : tensors) {
    const std::int64_t bytes = numel(tensor.shape) * static_cast<std::int64_t>(size_of(tensor.dtype));
    (tensor.is_input() ? work.bytes_read : work.bytes_written) += bytes;
  }
  return work;
}

bool Tunable::allows(std::int64_t value) const {
  if (allowed.empty()) return value >= min && value <= max;
  return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

std::string Tunable::range_text() const {
  if (allowed.empty()) return std::to_string(min) + ".." + std::to_string(max);
  std::string text;
  for (const std::int64_t value : allowed) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return text;
}

std::int64_t ImplPoint::tuned(std::string_view name, std::int64_t fallback) const {
  const auto found = tune.find(std::string(name));
  return found == tune.end() ? fallback : found->second;
}

const Impl* Op::find_impl(std::string_view impl) const {
  return find_by_name(impls, impl);
}

const Impl* Op::default_impl() const {
  if (const Impl* chosen = find_impl("auto")) return chosen;
  return impls.empty() ? nullptr : &impls.front();
}

const ParamSpec* Op::find_param(std::string_view param) const {
  return find_by_name(params, param);
}

Ceiling ceiling_of(const Impl& impl, const BuildContext& context) {
  return impl.ceiling_here ? impl.ceiling_here(context) : impl.ceiling;
}

std::optional<std::string> missing_for(const Impl& impl, const BuildContext& context) {
  for (const Feature feature : impl.needs) {
    if (!context.device.has(feature)) return std::string(name_of(feature)) + " is missing";
  }
  return impl.unsupported_reason ? impl.unsupported_reason(context) : std::nullopt;
}

bool can_run(const Impl& impl, const BuildContext& context) {
  return !(impl.invalid_reason && impl.invalid_reason(context)) && !missing_for(impl, context);
}

std::vector<const Impl*> candidates(const Op& op, const Impl& impl, const BuildContext& context) {
  if (!impl.choose) return {&impl};
  std::vector<const Impl*> all;
  for (const std::string& name : impl.choose(context)) {
    all.push_back(op.find_impl(name));
    if (all.back() == nullptr || all.back()->choose) {
      throw std::logic_error("op '" + op.name + "': impl '" + impl.name + "' chooses '" + name +
                             "', which is not an impl with a program");
    }
  }
  if (all.empty()) {
    throw std::logic_error("op '" + op.name + "': impl '" + impl.name + "' chooses no impl at all");
  }
  return all;
}

const Impl& chosen_impl(const Op& op, const Impl& impl, const BuildContext& context) {
  const std::vector<const Impl*> all = candidates(op, impl, context);
  const auto first = std::ranges::find_if(all, [&](const Impl* one) { return can_run(*one, context); });
  return first == all.end() ? *all.front() : **first;
}

std::vector<Layout> conv2d_layouts(const Op& op) {
  std::vector<Layout> layouts;
  for (const Impl& impl : op.impls) {
    if (!impl.conv2d_layout || std::ranges::find(layouts, *impl.conv2d_layout) != layouts.end()) continue;
    layouts.push_back(*impl.conv2d_layout);
  }
  return layouts;
}

Registry::Registry(std::vector<Op> ops) : ops_(std::move(ops)) {
  std::set<std::string_view> names;
  for (const Op& op : ops_) {
    if (!names.insert(op.name).second) throw std::logic_error("two ops have the name " + op.name);
    check_conv2d(op);
  }
}

const Op* Registry::find(std::string_view name) const {
  return find_by_name(ops_, name);
}

std::vector<Resource> constant_scratch(const Program& program) {
  std::vector<Resource> found = zero_scratch(program);
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

void check_expected(std::string_view op, const TensorSpec& output, const Expected& expected) {
  const Checker checker(op, output);
  check_values(checker, output, expected.values);
  const bool is_banded = output.output_class == OutputClass::Banded;
  const bool is_bounded = output.output_class == OutputClass::Bounded;
  if (is_banded && !is_integer(output.dtype)) checker.refuse("only integers can be banded");
  if (is_bounded && expected.bound.empty() && expected.magnitude.empty())
    checker.refuse("it has no bound or magnitude");
  checker.check_list("bound", expected.bound, is_bounded ? Presence::Optional : Presence::Refused);
  checker.check_list("magnitude", expected.magnitude,
                     is_banded    ? Presence::Needed
                     : is_bounded ? Presence::Optional
                                  : Presence::Refused);
  checker.check_list("sums", expected.sums,
                     is_bounded && !expected.magnitude.empty() ? Presence::Optional : Presence::Refused);
  checker.check_list("unrounded", expected.unrounded, is_banded ? Presence::Needed : Presence::Refused);
  checker.check_list("kept", expected.kept, output.written_in_part ? Presence::Needed : Presence::Refused);
  if (output.written_in_part && expected.values.dtype() != output.dtype)
    checker.refuse("what it leaves as it was has bits, so that its values must have the output's dtype");
  checker.check_not_negative("bound", expected.bound);
  checker.check_not_negative("magnitude", expected.magnitude);
  checker.check_not_negative("sums", expected.sums);
}

}  // namespace assay
