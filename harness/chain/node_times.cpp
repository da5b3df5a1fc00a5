#include "harness/chain/node_times.h"

#include "harness/chain/op_point.h"
#include "harness/device/driver_name.h"
#include "harness/op/data_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace assay::chain {
namespace {

bool runs_somewhere(const OpPoint& point, std::span<const Form> forms) {
  if (!can_hold(point, forms)) return false;
  const Tune tune;
  return !point.impl->invalid_reason ||
         !point.impl->invalid_reason(ImplPoint{point.params, point.specs, forms, tune});
}

/// The forms of each tensor that a plan could gain from: those that a node which computes something declares,
/// and those in which the tensor enters or leaves. A node that only copies adds none, but passes them on.
class FormsThatMatter {
 public:
  FormsThatMatter(const ResolvedChain& chain, std::span<const Form> outer) : forms_(chain.tensors.size()) {
    std::set<std::size_t> planned;
    for (const ResolvedNode& node : chain.nodes) {
      for (const std::size_t slot : planned_slots(node)) {
        planned.insert(node.tensors[slot]);
        if (!only_copies(node)) add(node.specs[slot].forms, forms_[node.tensors[slot]]);
      }
    }
    for (std::size_t i = 0; i < outer.size(); ++i) {
      if (planned.contains(chain.outer[i])) add(outer.subspan(i, 1), forms_[chain.outer[i]]);
    }
    while (pass_on(chain)) {
    }
  }

  const std::vector<Form>& of(std::size_t tensor) const { return forms_[tensor]; }

  bool matter_to(const ResolvedNode& node, std::span<const Form> taken) const {
    return std::ranges::all_of(
        planned_slots(node), [&](std::size_t slot) { return has(forms_[node.tensors[slot]], taken[slot]); });
  }

 private:
  static bool has(const std::vector<Form>& known, Form form) {
    return std::ranges::find(known, form) != known.end();
  }

  /// Returns whether one of them is new.
  static bool add(std::span<const Form> forms, std::vector<Form>& known) {
    const std::size_t before = known.size();
    for (const Form form : forms) {
      if (!has(known, form)) known.push_back(form);
    }
    return known.size() > before;
  }

  /// From one side of the nodes that only copy to the other. Returns whether anything is new.
  bool pass_on(const ResolvedChain& chain) {
    bool is_new = false;
    for (const ResolvedNode& node : chain.nodes) {
      if (!only_copies(node)) continue;
      std::vector<Form>& one = forms_[node.tensors[0]];
      std::vector<Form>& other = forms_[node.tensors[1]];
      is_new = add(other, one) || is_new;
      is_new = add(one, other) || is_new;
    }
    return is_new;
  }

  std::vector<std::vector<Form>> forms_;
};

}  // namespace

std::string forms_text(std::span<const TensorSpec> specs, std::span<const Form> forms) {
  std::string text;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (is_data_before(specs, i)) continue;  // told by the output of its name
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", specs[i].name, to_string(forms[i]));
  }
  return text;
}

NodeTimes::NodeTimes(std::string run_id, const DeviceInfo& device)
    : run_id_(std::move(run_id)), device_(device.name), driver_(driver_of(device)) {}

void NodeTimes::add(const Row& row, double us) {
  const auto [known, is_new] = times_.emplace(row, us);
  if (!is_new) known->second = std::min(known->second, us);
}

std::optional<double> NodeTimes::find(const OpPoint& point, std::span<const Form> forms) const {
  const auto found = times_.find({.op = point.op->name,
                                  .impl = point.impl->name,
                                  .params = data_text(*point.op, point.params),
                                  .forms = forms_text(point.specs, forms)});
  return found == times_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> NodeTimes::refuse(const DeviceInfo& device) const {
  if (device.name == device_ && driver_of(device) == driver_) return std::nullopt;
  return fmt::format("the times of run {} are of '{}' with driver '{}', this is '{}' with driver '{}'",
                     run_id_, device_, driver_, device.name, driver_of(device));
}

std::vector<TimedPoint> points_to_time(const Chain& chain, const ResolvedChain& resolved,
                                       std::span<const Form> outer) {
  std::vector<TimedPoint> points;
  const FormsThatMatter forms(resolved, outer);
  for (const ResolvedNode& node : resolved.nodes) {
    const OpPoint point = point_of(node);
    for (std::vector<Form>& taken : combinations_of(node, forms_of_constants(resolved, node, outer))) {
      if (forms.matter_to(node, taken) && runs_somewhere(point, taken))
        points.push_back({node.name, point, std::move(taken)});
    }
  }
  for (std::size_t tensor = 0; tensor < resolved.tensors.size(); ++tensor) {
    const std::optional<OpPoint> copy = copy_of(chain, resolved.tensors[tensor].spec);
    if (!copy) continue;
    for (const Form from : forms.of(tensor)) {
      for (const Form to : forms.of(tensor)) {
        const std::vector<Form> both{from, to};
        if (from != to && runs_somewhere(*copy, both))
          points.push_back({resolved.tensors[tensor].name, *copy, both});
      }
    }
  }
  return points;
}

}  // namespace assay::chain
