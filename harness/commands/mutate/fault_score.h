#pragma once

#include "harness/commands/mutate/fault_record.h"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace assay::app {

/// How many faults ended in each way.
struct FaultScore {
  std::size_t killed = 0;
  std::size_t fragile = 0;  ///< of the killed: by one row only
  std::size_t survived = 0;
  std::size_t equivalent = 0;
  std::size_t unchanged = 0;
  std::size_t does_not_compile = 0;
  std::size_t not_run = 0;

  void add(const FaultResult& result);
  std::size_t all() const;
  /// killed / (killed + survived) in percent; nothing if no fault counts.
  std::optional<double> percent() const;
};

FaultScore score_of(std::span<const FaultRecord> records);

/// "96.4 % (54 of 56)", "-" if no fault counts.
std::string score_text(const FaultScore& score);

/// The scores of groups of faults, by the name that `group` gives.
std::map<std::string, FaultScore> scores_by(std::span<const FaultRecord> records,
                                            const std::function<std::string(const FaultRecord&)>& group);

}  // namespace assay::app
