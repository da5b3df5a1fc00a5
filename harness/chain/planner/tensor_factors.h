#pragma once

#include "harness/chain/planner/net_part.h"
#include "harness/chain/planner/node_variables.h"

namespace assay::chain {

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

}  // namespace assay::chain
