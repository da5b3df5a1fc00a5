#include "harness/chain/planner/exact_choices.h"

#include "harness/chain/planner/ascending.h"
#include "harness/chain/planner/tensor_factors.h"

#include <algorithm>

namespace assay::chain {
namespace {

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

std::optional<std::vector<std::size_t>> exact_choices(const NetPart& part, const EliminationLimits& limits) {
  for (const double most_entries : {few_entries, many_entries}) {
    if (auto choices = exact_choices_with(part, limits, most_entries)) return choices;
  }
  return std::nullopt;
}

}  // namespace assay::chain
