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

}  // namespace

Work streaming_work(std::span<const TensorSpec> tensors) {
  Work work;
  for (const TensorSpec& tensor : tensors) {
    const std::int64_t bytes = numel(tensor.shape) * static_cast<std::int64_t>(size_of(tensor.dtype));
    (tensor.is_input() ? work.bytes_read : work.bytes_written) += bytes;
  }
  return work;
}

std::int64_t BuildContext::tuned(std::string_view name, std::int64_t fallback) const {
  const auto found = tune.find(std::string(name));
  return found == tune.end() ? fallback : found->second;
}

const Impl* Op::find_impl(std::string_view impl) const {
  return find_by_name(impls, impl);
}

const ParamSpec* Op::find_param(std::string_view param) const {
  return find_by_name(params, param);
}

const Impl& chosen_impl(const Op& op, const Impl& impl, const BuildContext& context) {
  if (!impl.choose) return impl;
  const std::string name = impl.choose(context);
  const Impl* chosen = op.find_impl(name);
  if (chosen != nullptr && !chosen->choose) return *chosen;
  throw std::logic_error("op '" + op.name + "': impl '" + impl.name + "' chooses '" + name +
                         "', which is not an impl with a program");
}

Registry::Registry(std::vector<Op> ops) : ops_(std::move(ops)) {
  std::set<std::string_view> names;
  for (const Op& op : ops_) {
    if (!names.insert(op.name).second) throw std::logic_error("two ops have the name " + op.name);
  }
}

const Op* Registry::find(std::string_view name) const {
  return find_by_name(ops_, name);
}

}  // namespace assay
