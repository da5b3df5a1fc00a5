#pragma once

#include "harness/commands/mutate/trial_rows.h"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// The order in which a file's faults meet the rows that use it: first the rows that killed faults nearby,
/// then the cheapest row of each variant of the shaders, then one more of each, as long as there are some
/// with other specialization constants, and so on.
class RowOrder {
 public:
  /// `users` are indices of the rows that use the file.
  RowOrder(std::span<const TrialRow> rows, const std::vector<std::size_t>& users);

  std::vector<std::size_t> rows_for(int line) const;
  void note_kill(int line, std::size_t row);
  std::size_t size() const { return order_.size(); }

 private:
  struct Seen {
    int line = 0;
    std::size_t row = 0;
  };

  std::vector<std::size_t> order_;
  std::vector<Seen> kills_;
};

}  // namespace assay::app
