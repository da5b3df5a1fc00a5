#include "harness/chain/layout_plan.h"

#include "harness/chain/node_times.h"
#include "harness/chain/op_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace assay::chain {
namespace {

constexpr double impossible = std::numeric_limits<double>::infinity();

/// Copies of one tensor from form to form.
class Copies {
 public:
  Copies(const Chain& chain, const TensorSpec& spec) : spec_(&spec), point_(copy_of(chain, spec)) {}

  /// The step without its values; nothing if there is no such copy on the device.
  std::optional<Step> step(Form from, Form to, const DeviceInfo& device) const {
    if (!point_) return std::nullopt;
    const std::vector<Form> forms{from, to};
    const Impl* impl = impl_for(*point_, forms, device);
    if (impl == nullptr) return std::nullopt;
    return Step{.name = {},
                .op = point_->op,
                .impl = impl,
                .params = point_->params,
                .specs = point_->specs,
                .forms = forms,
                .values = {},
                .is_transition = true};
  }

  std::int64_t bytes(Form from, Form to) const {
    return Physical(from, spec_->dtype, spec_->shape).bytes() +
           Physical(to, spec_->dtype, spec_->shape).bytes();
  }

  /// Infinite if there is no such copy on the device, or its time is unknown. `times`: null for bytes.
  double cost(Form from, Form to, const DeviceInfo& device, const NodeTimes* times) const {
    if (!point_ || impl_for(*point_, std::array{from, to}, device) == nullptr) return impossible;
    if (times == nullptr) return static_cast<double>(bytes(from, to));
    return times->find(*point_, std::vector<Form>{from, to}).value_or(impossible);
  }

 private:
  const TensorSpec* spec_;
  std::optional<OpPoint> point_;
};

/// Plans one chain.
class Planner {
 public:
  Planner(const Chain& chain, const ResolvedChain& resolved, std::span<const Form> outer,
          const DeviceInfo& device, const NodeTimes* times)
      : resolved_(resolved),
        outer_(outer),
        device_(device),
        times_(times),
        forms_(resolved, outer),
        place_in_outer_(resolved.tensors.size()),
        is_own_resource_(read_beside_their_copies(resolved)),
        values_of_(resolved.tensors.size()) {
    for (std::size_t i = 0; i < resolved.outer.size(); ++i) place_in_outer_[resolved.outer[i]] = i;
    for (const ResolvedTensor& tensor : resolved.tensors) copies_.emplace_back(chain, tensor.spec);
  }

  LayoutPlan plan(PlanMode mode) {
    const PlanProblem problem = make_problem();
    const Plan plan = finite_plan(problem, mode);
    made_.is_exact = plan.is_exact;
    for (std::size_t i = 0; i < resolved_.outer.size(); ++i) {
      if (resolved_.tensors[resolved_.outer[i]].enters()) value_of(resolved_.outer[i], outer_[i]);
    }
    for (std::size_t i = 0; i < resolved_.nodes.size(); ++i) add_node(i, possible_[i][plan.choices[i]]);
    for (std::size_t i = 0; i < resolved_.outer.size(); ++i)
      made_.outer.push_back(in_form(resolved_.outer[i], outer_[i]));
    return std::move(made_);
  }

 private:
  /// Throws Error with the names of the chain if there is no such plan.
  Plan finite_plan(const PlanProblem& problem, PlanMode mode) const try {
    return make_plan(problem, mode);
  } catch (const NoFinitePlan& error) {
    if (!error.copy()) throw;
    for (std::size_t tensor = 0; tensor < number_.size(); ++tensor) {
      if (number_[tensor] != error.copy()->tensor || !is_planned_[tensor]) continue;
      throw_no_copy(tensor, forms_.of(tensor)[error.copy()->from], forms_.of(tensor)[error.copy()->to]);
    }
    throw;
  }

  [[noreturn]] void throw_no_copy(std::size_t tensor, Form from, Form to) const {
    const char* why = times_ != nullptr && copies_[tensor].step(from, to, device_)
                          ? ": the report given as --times has no time of that"
                          : " on this device";
    throw Error(fmt::format("the tensor '{}' cannot be copied from {} to {}{}",
                            resolved_.tensors[tensor].name, to_string(from), to_string(to), why));
  }

  Form outer_form(std::size_t tensor) const { return outer_[place_in_outer_[tensor]]; }

  /// The forms of all of a node's tensors that the device can run, the op's default first. If times are
  /// known, only those with a time.
  std::vector<std::vector<Form>> possible_forms(const ResolvedNode& node) const {
    const OpPoint point = point_of(node);
    std::vector<std::vector<Form>> possible;
    bool has_run = false;
    for (const std::vector<Form>& forms :
         combinations_of(node, forms_of_constants(resolved_, node, outer_))) {
      if (impl_for(point, forms, device_) == nullptr) continue;
      has_run = true;
      if (times_ == nullptr || is_folded(node, forms) || times_->find(point, forms))
        possible.push_back(forms);
    }
    if (!has_run)
      throw Error(fmt::format("node '{}': {} can run in no form on this device", node.name, node.op->name));
    if (possible.empty()) {
      throw Error(
          fmt::format("node '{}': the report given as --times has no time of {} in a form that this "
                      "device can run",
                      node.name, node.op->name));
    }
    return possible;
  }

  PlanProblem make_problem() {
    PlanProblem problem;
    add_tensors(problem);
    for (const ResolvedNode& node : resolved_.nodes) {
      const std::vector<std::size_t> slots = planned_slots(node);
      PlanProblem::Node& made = problem.nodes.emplace_back();
      for (const std::size_t slot : slots)
        (node.specs[slot].is_input() ? made.inputs : made.outputs).push_back(number_[node.tensors[slot]]);
      possible_.push_back(possible_forms(node));
      for (const std::vector<Form>& forms : possible_.back()) {
        PlanProblem::Choice& choice = made.choices.emplace_back();
        for (const std::size_t slot : slots)
          choice.forms.push_back(forms_.index(node.tensors[slot], forms[slot]));
        choice.cost = cost_of(node, forms);
      }
    }
    return problem;
  }

  bool is_folded(const ResolvedNode& node, std::span<const Form> forms) const {
    return is_identity(node, forms) && !resolved_.tensors[node.tensors[1]].leaves &&
           !is_own_resource_[node.tensors[1]];
  }

  /// A node's time; if times are unknown, the bytes of a node that only copies, so that it is no cheaper than
  /// a copy between other nodes.
  double cost_of(const ResolvedNode& node, std::span<const Form> forms) const {
    if (is_folded(node, forms)) return 0;
    if (times_ != nullptr) return times_->find(point_of(node), forms).value();
    if (!only_copies(node)) return 0;
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < forms.size(); ++i)
      bytes += Physical(forms[i], node.specs[i].dtype, node.specs[i].shape).bytes();
    return static_cast<double>(bytes);
  }

  /// Tensors that only constants of nodes read are not planned.
  void add_tensors(PlanProblem& problem) {
    number_.assign(resolved_.tensors.size(), 0);
    is_planned_.assign(resolved_.tensors.size(), false);
    std::set<std::size_t> planned;
    for (const ResolvedNode& node : resolved_.nodes) {
      for (const std::size_t slot : planned_slots(node)) planned.insert(node.tensors[slot]);
    }
    for (const std::size_t tensor : planned) {
      number_[tensor] = problem.tensors.size();
      is_planned_[tensor] = true;
      PlanProblem::Tensor& made = problem.tensors.emplace_back();
      const ResolvedTensor& one = resolved_.tensors[tensor];
      if (one.enters()) made.given = forms_.index(tensor, outer_form(tensor));
      if (one.leaves) made.wanted = forms_.index(tensor, outer_form(tensor));
      made.copy_cost = copy_costs(tensor);
    }
  }

  std::vector<std::vector<double>> copy_costs(std::size_t tensor) const {
    const std::vector<Form>& forms = forms_.of(tensor);
    std::vector<std::vector<double>> costs(forms.size(), std::vector<double>(forms.size(), impossible));
    for (std::size_t from = 0; from < forms.size(); ++from) {
      for (std::size_t to = 0; to < forms.size(); ++to) {
        if (from != to) costs[from][to] = copies_[tensor].cost(forms[from], forms[to], device_, times_);
      }
    }
    return costs;
  }

  std::size_t value_of(std::size_t tensor, Form form) {
    const std::optional<std::size_t> known = known_value(tensor, form);
    if (!known) return add_value(tensor, form);
    return alias_.contains(*known) ? alias_.at(*known) : *known;
  }

  std::size_t add_value(std::size_t tensor, Form form) {
    made_.values.push_back({tensor, form});
    values_of_[tensor].push_back(made_.values.size() - 1);
    return made_.values.size() - 1;
  }

  std::optional<std::size_t> known_value(std::size_t tensor, Form form) const {
    for (const std::size_t value : values_of_[tensor]) {
      if (made_.values[value].form == form) return value;
    }
    return std::nullopt;
  }

  /// The tensor in that form; copies it if it is not there yet.
  std::size_t in_form(std::size_t tensor, Form form) {
    if (known_value(tensor, form)) return value_of(tensor, form);
    const Form from = made_.values[values_of_[tensor].front()].form;
    std::optional<Step> step = copies_[tensor].step(from, form, device_);
    if (!step) throw_no_copy(tensor, from, form);
    step->name = fmt::format("{} to {}", resolved_.tensors[tensor].name, to_string(form));
    step->values = {value_of(tensor, from), value_of(tensor, form)};
    made_.transitions += 1;
    made_.transition_bytes += copies_[tensor].bytes(from, form);
    made_.steps.push_back(*std::move(step));
    return made_.steps.back().values[1];
  }

  void add_node(std::size_t index, const std::vector<Form>& forms) {
    const ResolvedNode& node = resolved_.nodes[index];
    Step step{.name = node.name,
              .op = node.op,
              .impl = impl_for(point_of(node), forms, device_),
              .params = node.params,
              .specs = node.specs,
              .forms = forms,
              .values = std::vector<std::size_t>(node.specs.size()),
              .is_transition = false};
    for (std::size_t i = 0; i < forms.size(); ++i) {
      if (node.specs[i].is_input()) step.values[i] = in_form(node.tensors[i], forms[i]);
    }
    if (is_folded(node, forms)) {
      alias_[add_value(node.tensors[1], forms[1])] = step.values[0];
      made_.folded.push_back(node.name);
      return;
    }
    for (std::size_t i = 0; i < forms.size(); ++i) {
      if (!node.specs[i].is_input()) step.values[i] = value_of(node.tensors[i], forms[i]);
    }
    made_.steps.push_back(std::move(step));
  }

  const ResolvedChain& resolved_;
  std::span<const Form> outer_;
  const DeviceInfo& device_;
  const NodeTimes* times_;  ///< null: costs are bytes
  FormsOfTensors forms_;
  std::vector<std::size_t> place_in_outer_;  ///< of a tensor that enters or leaves, in ResolvedChain::outer
  std::vector<bool> is_own_resource_;        ///< of tensors, see read_beside_their_copies()
  std::vector<Copies> copies_;
  std::vector<std::size_t> number_;  ///< of a tensor in the planner's problem
  std::vector<bool> is_planned_;     ///< the tensor has a number
  std::vector<std::vector<std::vector<Form>>> possible_;
  LayoutPlan made_;
  std::vector<std::vector<std::size_t>>
      values_of_;                             ///< per tensor: in LayoutPlan::values, as made, then copies
  std::map<std::size_t, std::size_t> alias_;  ///< value of a folded node's output -> of its input
};

}  // namespace

std::string name_of(const LayoutPlan& plan, const ResolvedChain& resolved, std::size_t value) {
  const ChainValue& one = plan.values[value];
  return fmt::format("{} as {}", resolved.tensors[one.tensor].name, to_string(one.form));
}

LayoutPlan plan_layouts(const Chain& chain, const ResolvedChain& resolved, std::span<const Form> outer,
                        const DeviceInfo& device, PlanMode mode, const NodeTimes* times) {
  return Planner(chain, resolved, outer, device, times).plan(mode);
}

}  // namespace assay::chain
