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

}  // namespace assay::chain
