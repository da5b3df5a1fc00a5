#pragma once

#include "harness/chain/planner/elimination.h"
#include "harness/chain/planner/net.h"

namespace assay::chain {

/// Says how the form of a slot follows from the value of a variable.
struct SlotVariable {
  std::size_t variable = 0;
  std::vector<std::size_t> forms;  ///< per value
};

/// The choices of a node as variables. With many choices, as a convolution has that takes any forms on both
/// sides, a variable is the form of a slot: tables over 5 forms are far smaller than tables over 125 choices.
/// Slots whose forms follow from another slot's, as those of a node that keeps its input's form, share its
/// variable. Where few of the combinations of forms are choices, one variable is the number of the choice.
struct NodeVariables {
  std::vector<SlotVariable> slots;
  std::vector<std::size_t> variables;  ///< ascending
  std::vector<std::size_t>
      choice_of;  ///< per combination of their values, the last changing fastest; of the best
  Factor cost;    ///< of the choices; infinite where no choice has these forms
};

/// Returns the variables of a node, and adds their numbers of values to `domains`.
NodeVariables node_variables(const PlanProblem::Node& node, std::vector<std::size_t>& domains);

enum class Tables : bool {
  Without,  ///< Factors have their variables alone: enough to find an order of elimination.
  With
};

/// Adds what the copies of tensors cost, as factors over the variables of the nodes at their ends.
class TensorFactors {
 public:
  struct Options {
    double most_entries = 0;  ///< of one factor's table
    Tables tables = Tables::With;
  };
  /// `nodes` are those of the part. All references must stay valid.
  TensorFactors(const NetPart& part, const std::vector<NodeVariables>& nodes, const Options& options,
                FactorProblem& factors)
      : part_(part), nodes_(nodes), options_(options), factors_(factors) {}

  /// Adds the factors of a tensor: one, up to `most_entries`. Beyond, its table would be too large: a
  /// variable is added for the set of forms that are copied, one factor for the cost of that set, and one
  /// factor for each consumer, which is impossible where its form is missing. Returns false if that would be
  /// too large too: very many forms.
  bool add(std::size_t tensor);

 private:
  /// The ends of a tensor; those outside of the part have one form.
  struct Ends {
    SlotVariable producer;
    std::vector<SlotVariable> consumers;
  };

  SlotVariable variable_at(const Slot& end) const;
  Ends ends_of(std::size_t tensor) const;
  double entries_of(const std::vector<std::size_t>& variables) const;
  bool next_values(std::vector<std::size_t>& values, const std::vector<std::size_t>& variables) const;
  void add_one_factor(std::size_t tensor, const Ends& ends, const std::vector<std::size_t>& variables);
  void add_factors_of_set(std::size_t tensor, const Ends& ends, const std::vector<std::size_t>& forms);
  template <typename ScoreOf>
  void add_pair(const SlotVariable& end, std::size_t set_variable, const ScoreOf& score);

  const NetPart& part_;
  const std::vector<NodeVariables>& nodes_;
  Options options_;
  FactorProblem& factors_;
};

/// Returns the choices of all nodes that cost the least of those that differ in the part alone; nothing if
/// the tables of the variable elimination would exceed the limits.
std::optional<std::vector<std::size_t>> exact_choices(const NetPart& part, const EliminationLimits& limits);

}  // namespace assay::chain
