#include "harness/chain/planner/exact_choices.h"

#include "harness/chain/planner/net.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace assay::chain {
namespace {

using Forms = std::vector<std::size_t>;
using Choices = std::vector<PlanProblem::Choice>;

/// The forms that the choices name for each slot, ascending.
std::vector<Forms> forms_of_slots(const PlanProblem::Node& node) {
  std::vector<Forms> forms(slots_of(node));
  for (std::size_t slot = 0; slot < forms.size(); ++slot) {
    for (const PlanProblem::Choice& choice : node.choices) forms[slot].push_back(choice.forms[slot]);
    sort_each_once(forms[slot]);
  }
  return forms;
}

std::size_t index_in(const Forms& forms, std::size_t form) {
  return static_cast<std::size_t>(std::ranges::lower_bound(forms, form) - forms.begin());
}

/// Returns the form of a slot for each form of another one, if it follows from that.
std::optional<Forms> following_forms(const Choices& choices, std::size_t slot, std::size_t leader,
                                     const Forms& leading) {
  std::vector<std::optional<std::size_t>> found(leading.size());
  for (const PlanProblem::Choice& choice : choices) {
    std::optional<std::size_t>& form = found[index_in(leading, choice.forms[leader])];
    if (form.value_or(choice.forms[slot]) != choice.forms[slot]) return std::nullopt;
    form = choice.forms[slot];
  }
  Forms forms;
  for (const std::optional<std::size_t>& form : found) forms.push_back(form.value());
  return forms;
}

/// For each slot, the slot from whose form its own follows, and how.
struct Leader {
  std::size_t slot = 0;
  Forms forms;  ///< per form of the leader
};

std::vector<Leader> leaders_of(const PlanProblem::Node& node, const std::vector<Forms>& forms) {
  std::vector<std::size_t> slots(forms.size());
  std::iota(slots.begin(), slots.end(), std::size_t{0});
  // A slot can follow only from one with as many forms or more.
  std::ranges::stable_sort(slots,
                           [&](std::size_t a, std::size_t b) { return forms[a].size() > forms[b].size(); });
  std::vector<Leader> leaders(forms.size());
  std::vector<std::size_t> leading;
  for (const std::size_t slot : slots) {
    leaders[slot] = {.slot = slot, .forms = forms[slot]};
    bool follows = false;
    for (const std::size_t leader : leading) {
      if (auto following = following_forms(node.choices, slot, leader, forms[leader])) {
        leaders[slot] = {.slot = leader, .forms = std::move(*following)};
        follows = true;
        break;
      }
    }
    if (!follows) leading.push_back(slot);
  }
  return leaders;
}

/// Returns the variables of a node in which each of `leading` has one.
NodeVariables by_forms(const PlanProblem::Node& node, const std::vector<Forms>& forms,
                       const std::vector<Leader>& leaders, const std::vector<std::size_t>& leading,
                       std::vector<std::size_t>& domains) {
  NodeVariables made{.slots = std::vector<SlotVariable>(leaders.size())};
  std::map<std::size_t, std::size_t> variable_of;
  std::size_t combinations = 1;
  for (const std::size_t leader : leading) {
    variable_of[leader] = domains.size();
    made.variables.push_back(domains.size());
    domains.push_back(forms[leader].size());
    combinations *= forms[leader].size();
  }
  for (std::size_t slot = 0; slot < leaders.size(); ++slot) {
    made.slots[slot] = {.variable = variable_of.at(leaders[slot].slot), .forms = leaders[slot].forms};
  }
  made.choice_of.resize(combinations);
  made.cost = {.variables = made.variables, .table = std::vector(combinations, impossible_score)};
  for (std::size_t number = 0; number < node.choices.size(); ++number) {
    const PlanProblem::Choice& choice = node.choices[number];
    std::size_t index = 0;
    for (const std::size_t leader : leading) {
      index = index * forms[leader].size() + index_in(forms[leader], choice.forms[leader]);
    }
    const Score score = score_of_choice(choice.cost, number);
    if (!(score < made.cost.table[index])) continue;
    made.cost.table[index] = score;
    made.choice_of[index] = number;
  }
  return made;
}

/// Returns one variable for the whole node: its values are the choices, of those with the same forms the
/// best.
NodeVariables by_choices(const PlanProblem::Node& node, std::vector<std::size_t>& domains) {
  std::map<Forms, std::size_t> best;
  for (std::size_t number = 0; number < node.choices.size(); ++number) {
    const auto [found, is_new] = best.emplace(node.choices[number].forms, number);
    if (!is_new && node.choices[number].cost < node.choices[found->second].cost) found->second = number;
  }
  NodeVariables made{.slots = std::vector<SlotVariable>(slots_of(node)), .variables = {domains.size()}};
  for (const auto& [forms, number] : best) made.choice_of.push_back(number);
  std::ranges::sort(made.choice_of);  // of values that tie, the elimination takes the first
  made.cost.variables = made.variables;
  for (const std::size_t number : made.choice_of) {
    made.cost.table.push_back(score_of_choice(node.choices[number].cost, number));
  }
  for (std::size_t slot = 0; slot < made.slots.size(); ++slot) {
    made.slots[slot].variable = domains.size();
    for (const std::size_t number : made.choice_of)
      made.slots[slot].forms.push_back(node.choices[number].forms[slot]);
  }
  domains.push_back(made.choice_of.size());
  return made;
}

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

/// Entries up to which a tensor is one factor. Which of both forms makes smaller tables depends on the net:
/// sets of copied forms suit tensors with consumers that have little else in common, one factor suits dense
/// blocks.
constexpr double few_entries = 1 << 10;
constexpr double many_entries = 1 << 19;

/// The tensors at which the part's nodes are, ascending.
std::vector<std::size_t> tensors_of(const NetPart& part) {
  std::vector<std::size_t> tensors;
  for (std::size_t node = part.first; node < part.end; ++node) {
    const PlanProblem::Node& declared = part.net.problem.nodes[node];
    for (std::size_t slot = 0; slot < slots_of(declared); ++slot)
      tensors.push_back(tensor_at(declared, slot));
  }
  sort_each_once(tensors);
  return tensors;
}

std::size_t choice_at(const NodeVariables& node, const std::vector<std::size_t>& domains,
                      const std::vector<std::size_t>& values) {
  std::size_t index = 0;
  for (const std::size_t variable : node.variables) index = index * domains[variable] + values[variable];
  return node.choice_of[index];
}

/// The part as variables and factors.
struct Model {
  FactorProblem factors;
  std::vector<NodeVariables> nodes;  ///< of the part
};

/// Returns the model of the part; nothing if a tensor has too many forms.
std::optional<Model> model_of(const NetPart& part, double most_entries, Tables tables) {
  Model model;
  for (std::size_t node = part.first; node < part.end; ++node) {
    model.nodes.push_back(node_variables(part.net.problem.nodes[node], model.factors.domains));
    model.factors.factors.push_back(std::move(model.nodes.back().cost));
  }
  TensorFactors tensors(part, model.nodes, {.most_entries = most_entries, .tables = tables}, model.factors);
  for (const std::size_t tensor : tensors_of(part)) {
    if (!tensors.add(tensor)) return std::nullopt;
  }
  return model;
}

std::optional<std::vector<std::size_t>> exact_choices_with(const NetPart& part,
                                                           const EliminationLimits& limits,
                                                           double most_entries) {
  // Most tables of a model that is too large need not be made to see that it is.
  std::optional<Model> model = model_of(part, most_entries, Tables::Without);
  if (!model) return std::nullopt;
  const auto order = elimination_order(model->factors, limits);
  if (!order) return std::nullopt;
  model = model_of(part, most_entries, Tables::With);
  const std::vector<std::size_t> domains = model->factors.domains;
  const std::vector<std::size_t> values = least_sum(std::move(model->factors), *order);
  std::vector<std::size_t> choices = part.choices;
  for (std::size_t i = 0; i < model->nodes.size(); ++i) {
    choices[part.first + i] = choice_at(model->nodes[i], domains, values);
  }
  return choices;
}

}  // namespace

NodeVariables node_variables(const PlanProblem::Node& node, std::vector<std::size_t>& domains) {
  const std::vector<Forms> forms = forms_of_slots(node);
  const std::vector<Leader> leaders = leaders_of(node, forms);
  std::vector<std::size_t> leading;
  double combinations = 1;
  for (std::size_t slot = 0; slot < leaders.size(); ++slot) {
    if (leaders[slot].slot != slot) continue;
    leading.push_back(slot);
    combinations *= static_cast<double>(forms[slot].size());
  }
  // A table with more gaps than that costs more than it saves.
  const double most = 16 * static_cast<double>(node.choices.size());
  if (leading.empty() || combinations > most) return by_choices(node, domains);
  return by_forms(node, forms, leaders, leading, domains);
}

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

std::optional<std::vector<std::size_t>> exact_choices(const NetPart& part, const EliminationLimits& limits) {
  for (const double most_entries : {few_entries, many_entries}) {
    if (auto choices = exact_choices_with(part, limits, most_entries)) return choices;
  }
  return std::nullopt;
}

}  // namespace assay::chain
