#include "harness/chain/tensor_factors.h"

#include "harness/chain/plan_cost.h"

#include <algorithm>

namespace assay::chain {
namespace {

constexpr double small_table = 1024;  ///< entries up to which one factor is made
constexpr double most_entries = 1 << 16;
constexpr std::size_t most_copied_forms = 12;

/// The ends of a tensor as variables; the outside is a variable with one value.
struct Ends {
  SlotVariable producer;
  std::vector<SlotVariable> consumers;
};

SlotVariable of_the_outside(std::size_t form, FactorProblem& factors) {
  factors.domains.push_back(1);
  return {.variable = factors.domains.size() - 1, .forms = {form}};
}

Ends ends_of(const Net& net, std::size_t tensor, const std::vector<NodeVariables>& nodes,
             FactorProblem& factors) {
  const PlanProblem::Tensor& declared = net.problem.tensors[tensor];
  Ends ends;
  const std::optional<Slot>& producer = net.producers[tensor];
  ends.producer = producer ? nodes[producer->node].slots[producer->slot]
                           : of_the_outside(declared.given.value(), factors);
  for (const Slot& slot : net.consumers[tensor]) ends.consumers.push_back(nodes[slot.node].slots[slot.slot]);
  if (declared.wanted) ends.consumers.push_back(of_the_outside(*declared.wanted, factors));
  return ends;
}

std::vector<std::size_t> variables_of(const Ends& ends) {
  std::vector<std::size_t> variables{ends.producer.variable};
  for (const SlotVariable& consumer : ends.consumers) variables.push_back(consumer.variable);
  std::ranges::sort(variables);
  variables.erase(std::ranges::unique(variables).begin(), variables.end());
  return variables;
}

double entries_of(const std::vector<std::size_t>& variables, const FactorProblem& factors) {
  double entries = 1;
  for (const std::size_t variable : variables) entries *= static_cast<double>(factors.domains[variable]);
  return entries;
}

/// Goes to the next combination of values, the last changing fastest; returns false after the last one.
bool next_values(std::vector<std::size_t>& values, const std::vector<std::size_t>& variables,
                 const FactorProblem& factors) {
  for (std::size_t i = values.size(); i-- > 0;) {
    if (++values[i] < factors.domains[variables[i]]) return true;
    values[i] = 0;
  }
  return false;
}

void add_one_factor(const PlanProblem::Tensor& tensor, const Ends& ends,
                    const std::vector<std::size_t>& variables, FactorProblem& factors) {
  const auto place_of = [&](const SlotVariable& end) {
    return static_cast<std::size_t>(std::ranges::lower_bound(variables, end.variable) - variables.begin());
  };
  const std::size_t producer = place_of(ends.producer);
  std::vector<std::size_t> consumers;
  for (const SlotVariable& consumer : ends.consumers) consumers.push_back(place_of(consumer));
  Factor factor{.variables = variables};
  std::vector<std::size_t> values(variables.size());
  std::vector<std::size_t> targets;
  do {
    const std::size_t from = ends.producer.forms[values[producer]];
    targets.clear();
    for (std::size_t i = 0; i < consumers.size(); ++i)
      targets.push_back(ends.consumers[i].forms[values[consumers[i]]]);
    keep_targets(targets, from);
    factor.table.push_back(score_of_copies(tensor, from, targets));
  } while (next_values(values, variables, factors));
  factors.factors.push_back(std::move(factor));
}

/// Adds the factor over two variables with `score(value of a, value of b)`.
template <typename ScoreOf>
void add_pair(std::size_t a, std::size_t b, const ScoreOf& score, FactorProblem& factors) {
  Factor factor{.variables = {std::min(a, b), std::max(a, b)}};
  for (std::size_t first = 0; first < factors.domains[factor.variables[0]]; ++first) {
    for (std::size_t second = 0; second < factors.domains[factor.variables[1]]; ++second) {
      factor.table.push_back(a < b ? score(first, second) : score(second, first));
    }
  }
  factors.factors.push_back(std::move(factor));
}

/// Adds the factors through a variable for the set of copied forms: bit i of its value stands for forms[i].
void add_factors_of_set(const PlanProblem::Tensor& tensor, const Ends& ends,
                        const std::vector<std::size_t>& forms, FactorProblem& factors) {
  const std::size_t set_variable = factors.domains.size();
  factors.domains.push_back(std::size_t{1} << forms.size());
  const auto has = [&](std::size_t set, std::size_t form) {
    return (set >> (std::ranges::lower_bound(forms, form) - forms.begin()) & 1U) != 0;
  };
  add_pair(
      ends.producer.variable, set_variable,
      [&](std::size_t value, std::size_t set) {
        const std::size_t from = ends.producer.forms[value];
        std::vector<std::size_t> targets;
        for (const std::size_t form : forms) {
          if (form != from && has(set, form)) targets.push_back(form);
        }
        return score_of_copies(tensor, from, targets);
      },
      factors);
  for (const SlotVariable& consumer : ends.consumers) {
    add_pair(
        consumer.variable, set_variable,
        [&](std::size_t value, std::size_t set) {
          return has(set, consumer.forms[value]) ? Score{} : impossible_score;
        },
        factors);
  }
}

}  // namespace

bool add_tensor_factors(const Net& net, std::size_t tensor, const std::vector<NodeVariables>& nodes,
                        FactorProblem& factors) {
  const Ends ends = ends_of(net, tensor, nodes, factors);
  if (ends.consumers.empty()) return true;
  const std::vector<std::size_t> variables = variables_of(ends);
  const double entries = entries_of(variables, factors);
  std::vector<std::size_t> forms;
  for (const SlotVariable& consumer : ends.consumers) {
    forms.insert(forms.end(), consumer.forms.begin(), consumer.forms.end());
  }
  std::ranges::sort(forms);
  forms.erase(std::ranges::unique(forms).begin(), forms.end());
  if (entries > small_table && forms.size() <= most_copied_forms) {
    add_factors_of_set(net.problem.tensors[tensor], ends, forms, factors);
    return true;
  }
  if (entries > most_entries) return false;
  add_one_factor(net.problem.tensors[tensor], ends, variables, factors);
  return true;
}

}  // namespace assay::chain
