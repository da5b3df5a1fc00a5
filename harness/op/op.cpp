#include "harness/op/op.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace assay {
namespace {

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

}  // namespace

bool is_updated_in_place(std::span<const TensorSpec> tensors) {
  return std::ranges::any_of(tensors, [](const TensorSpec& spec) { return spec.starts_as.has_value(); });
}

bool is_data_before(std::span<const TensorSpec> tensors, std::size_t tensor) {
  return std::ranges::any_of(tensors, [&](const TensorSpec& spec) { return spec.starts_as == tensor; });
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

}  // namespace assay
