#include "harness/chain/planner/tensor_factors.h"

#include "harness/chain/planner/ascending.h"
#include "harness/chain/planner/plan_cost.h"

#include <algorithm>
#include <limits>

namespace assay::chain {
namespace {

constexpr std::size_t most_copied_forms = 12;  // a variable with 4096 values

std::size_t place_in(const std::vector<std::size_t>& ascending, std::size_t number) {
  return static_cast<std::size_t>(std::ranges::lower_bound(ascending, number) - ascending.begin());
}

/// Stands for the variable of an end that has one form. It is in no factor: as a variable it would only make
/// the graph larger. As the greatest number, it has the place after all variables in a combination of values.
constexpr auto no_variable = std::numeric_limits<std::size_t>::max();

SlotVariable fixed(std::size_t form) {
  return {.variable = no_variable, .forms = {form}};
}

/// The variables of ends, ascending, each once.
std::vector<std::size_t> scope_of(std::vector<std::size_t> variables) {
  sort_each_once(variables);
  std::erase(variables, no_variable);
  return variables;
}

/// The forms that a copy may be made into, ascending.
std::vector<std::size_t> forms_of(const std::vector<SlotVariable>& consumers) {
  std::vector<std::size_t> forms;
  for (const SlotVariable& consumer : consumers) {
    forms.insert(forms.end(), consumer.forms.begin(), consumer.forms.end());
  }
  sort_each_once(forms);
  return forms;
}

}  // namespace

SlotVariable TensorFactors::variable_at(const Slot& end) const {
  if (!part_.has(end.node)) return fixed(form_at(part_.net, end, part_.choices));
  const SlotVariable& slot = nodes_[end.node - part_.first].slots[end.slot];
  return slot.forms.size() == 1 ? fixed(slot.forms.front()) : slot;
}

TensorFactors::Ends TensorFactors::ends_of(std::size_t tensor) const {
  const PlanProblem::Tensor& declared = part_.net.problem.tensors[tensor];
  Ends ends;
  const std::optional<Slot>& producer = part_.net.producers[tensor];
  ends.producer = producer ? variable_at(*producer) : fixed(declared.given.value());
  for (const Slot& consumer : part_.net.consumers[tensor]) ends.consumers.push_back(variable_at(consumer));
  if (declared.wanted) ends.consumers.push_back(fixed(*declared.wanted));
  return ends;
}

double TensorFactors::entries_of(const std::vector<std::size_t>& variables) const {
  double entries = 1;
  for (const std::size_t variable : variables) entries *= static_cast<double>(factors_.domains[variable]);
  return entries;
}

/// Goes to the next combination of values, the last changing fastest; returns false after the last one.
bool TensorFactors::next_values(std::vector<std::size_t>& values,
                                const std::vector<std::size_t>& variables) const {
  for (std::size_t i = variables.size(); i-- > 0;) {
    if (++values[i] < factors_.domains[variables[i]]) return true;
    values[i] = 0;
  }
  return false;
}

void TensorFactors::add_one_factor(std::size_t tensor, const Ends& ends,
                                   const std::vector<std::size_t>& variables) {
  Factor& factor = factors_.factors.emplace_back(Factor{.variables = variables, .table = {}});
  if (options_.tables == Tables::Without) return;
  factor.table.reserve(static_cast<std::size_t>(entries_of(variables)));
  const std::size_t producer = place_in(variables, ends.producer.variable);
  std::vector<std::size_t> consumers;
  for (const SlotVariable& consumer : ends.consumers)
    consumers.push_back(place_in(variables, consumer.variable));
  std::vector<std::size_t> values(variables.size() + 1);
  std::vector<std::size_t> targets;
  do {
    const std::size_t from = ends.producer.forms[values[producer]];
    targets.clear();
    for (std::size_t i = 0; i < consumers.size(); ++i)
      targets.push_back(ends.consumers[i].forms[values[consumers[i]]]);
    keep_targets(targets, from);
    factor.table.push_back(score_of_copies(part_.net.problem.tensors[tensor], from, targets));
  } while (next_values(values, variables));
}

/// Adds the factor over an end and the set of copied forms with `score(value of the end, set)`.
template <typename ScoreOf>
void TensorFactors::add_pair(const SlotVariable& end, std::size_t set_variable, const ScoreOf& score) {
  Factor& factor =
      factors_.factors.emplace_back(Factor{.variables = scope_of({end.variable, set_variable}), .table = {}});
  if (options_.tables == Tables::Without) return;
  const std::size_t place = place_in(factor.variables, end.variable);
  const std::size_t set_place = place_in(factor.variables, set_variable);
  std::vector<std::size_t> values(factor.variables.size() + 1);
  do {
    factor.table.push_back(score(values[place], values[set_place]));
  } while (next_values(values, factor.variables));
}

/// Adds the factors through a variable for the set of copied forms: bit i of its value stands for forms[i].
void TensorFactors::add_factors_of_set(std::size_t tensor, const Ends& ends,
                                       const std::vector<std::size_t>& forms) {
  const std::size_t set_variable = factors_.domains.size();
  factors_.domains.push_back(std::size_t{1} << forms.size());
  const auto has = [&](std::size_t set, std::size_t form) {
    return (set >> place_in(forms, form) & 1U) != 0;
  };
  const auto cost_of_set = [&](std::size_t value, std::size_t set) {
    const std::size_t from = ends.producer.forms[value];
    std::vector<std::size_t> targets;
    for (const std::size_t form : forms) {
      if (form != from && has(set, form)) targets.push_back(form);
    }
    return score_of_copies(part_.net.problem.tensors[tensor], from, targets);
  };
  add_pair(ends.producer, set_variable, cost_of_set);
  for (const SlotVariable& consumer : ends.consumers) {
    add_pair(consumer, set_variable, [&](std::size_t value, std::size_t set) {
      return has(set, consumer.forms[value]) ? Score{} : impossible_score;
    });
  }
}

bool TensorFactors::add(std::size_t tensor) {
  const Ends ends = ends_of(tensor);
  if (ends.consumers.empty()) return true;
  std::vector<std::size_t> variables{ends.producer.variable};
  for (const SlotVariable& consumer : ends.consumers) variables.push_back(consumer.variable);
  variables = scope_of(std::move(variables));
  if (entries_of(variables) <= options_.most_entries) {
    add_one_factor(tensor, ends, variables);
    return true;
  }
  const std::vector<std::size_t> forms = forms_of(ends.consumers);
  if (forms.size() > most_copied_forms) return false;
  add_factors_of_set(tensor, ends, forms);
  return true;
}

}  // namespace assay::chain
