#include "harness/chain/planner/node_variables.h"

#include "harness/chain/planner/ascending.h"

#include <algorithm>
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

}  // namespace assay::chain
