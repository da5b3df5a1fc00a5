#pragma once

#include "harness/cases/source_file.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace assay::cases {

/// Problems that do not hide each other: each step is tried, and what came of all of them is told at once,
/// each thing once, in the order in which it stands in the files.
class Problems {
 public:
  /// Whether the step came to its end; what it threw instead is kept.
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
  /// Throws all that was kept as one Problem; does nothing where nothing was.
  void settle() const;

 private:
  using Place = std::tuple<std::string, int, int, std::string>;  ///< file, line, column, message
  std::map<Place, Diagnostic> all_;
};

}  // namespace assay::cases
