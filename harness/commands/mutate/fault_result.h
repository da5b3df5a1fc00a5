#pragma once

#include "harness/mutation/faults.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::app {

/// What became of a fault.
enum class FaultEnd : std::uint8_t {
  Killed,          ///< a row failed, crashed or hung because of it
  Survived,        ///< no row that ran showed it
  Equivalent,      ///< it survived, and shaders/equivalent.yaml says why no row can show it
  Unchanged,       ///< the optimized SPIR-V is that without the fault, for every row
  DoesNotCompile,  ///< it is no program
  NotRun           ///< no row on this device uses the code, or the run ended before
};

/// A row that showed a fault.
struct Kill {
  std::string row;  ///< id
  /// A metric ("wrong_value", ...), or a status and its reason: "FAIL ...", "TIMEOUT", "CRASH",
  /// "DEVICE_LOST".
  std::string how;
  std::string word;  ///< of the diagnosis; empty: it had none
};

/// How the rows took a fault.
struct FaultResult {
  std::string id;  ///< of the fault
  FaultEnd end = FaultEnd::NotRun;
  std::vector<Kill> kills;   ///< at most two: then no further row runs
  std::size_t rows_ran = 0;  ///< rows whose SPIR-V the fault changed, and that were run
  /// Rows that use the file and were not looked at, because of --rows or because two had killed the fault.
  std::size_t rows_left = 0;
  double cpu_s = 0;
  std::string why;  ///< of DoesNotCompile and NotRun; the reason of Equivalent

  /// How it ends if the shader of a further row does not compile: that does not take back what the rows
  /// before showed.
  FaultEnd end_without_shader() const {
    if (!kills.empty()) return FaultEnd::Killed;
    return rows_ran > 0 ? FaultEnd::Survived : FaultEnd::DoesNotCompile;
  }
  /// Whether its process crashed or hung, which ends a trial.
  bool ended_process() const {
    if (kills.empty()) return false;
    const std::string& how = kills.back().how;
    return how.starts_with("CRASH") || how.starts_with("TIMEOUT") || how.starts_with("DEVICE_LOST");
  }
  /// One row showed it, or none, and more rows may.
  bool is_open() const {
    const bool is_short = end == FaultEnd::Survived || (end == FaultEnd::Killed && kills.size() == 1);
    return is_short && rows_left > 0 && !ended_process();
  }
  /// Only one row showed it, although all ran.
  bool is_fragile() const {
    return end == FaultEnd::Killed && kills.size() == 1 && rows_left == 0 && !ended_process();
  }
};

std::string_view name_of(FaultEnd end);  ///< "killed", "does not compile", ...
/// Throws Error for another name.
FaultEnd parse_fault_end(std::string_view name);

/// A fault and what became of it.
struct FaultRecord {
  mutation::Fault fault;
  FaultResult result;
};

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
