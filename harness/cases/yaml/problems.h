#pragma once

#include "harness/cases/yaml/source_file.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace assay::cases {

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
