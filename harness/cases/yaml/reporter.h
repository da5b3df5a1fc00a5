#pragma once

#include "harness/cases/yaml/source_file.h"
#include "harness/cases/yaml/yaml_tree.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace assay::cases {

/// Collects diagnostics without duplicates, and limits them per file to a number that a person can read.
class Reporter {
 public:
  static constexpr int most_per_file = 100;

  void add(Diagnostic diagnostic);
  void add(const Problem& problem) {
    for (const Diagnostic& diagnostic : problem.diagnostics()) add(diagnostic);
  }
  /// Adds every flaw at or below a node.
  void add_flaws(const Node& node);

  bool is_full(const std::string& file) const;
  std::size_t size() const { return diagnostics_.size(); }
  std::vector<Diagnostic> take() { return std::move(diagnostics_); }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::set<std::string> seen_;
  std::map<std::string, int> count_;
};

/// Collects problems so that none hides another: each step is attempted, and all problems are thrown
/// together, without duplicates and in the order of their places in the files.
class Problems {
 public:
  /// Runs the step and returns whether it succeeded. A Problem that it throws is kept.
  template <class Step>
  bool attempt(Step&& step) {
    try {
      std::forward<Step>(step)();
      return true;
    } catch (const Problem& problem) {
      add(problem);
      return false;
    }
  }

  void add(const Problem& problem);
  bool empty() const { return all_.empty(); }
  /// Throws everything that was kept as one Problem. Does nothing if there is none.
  void settle() const;

 private:
  using Place = std::tuple<std::string, int, int, std::string>;  ///< file, line, column, message
  std::map<Place, Diagnostic> all_;
};

}  // namespace assay::cases
