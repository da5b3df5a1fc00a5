#pragma once

#include "harness/report/record/record.h"

#include <cstddef>
#include <string>
#include <vector>

namespace assay {

/// Traits of a row that other rows of its op may not share, in words that follow "with": "y in a buffer",
/// "impl fused". Those most likely to matter come first.
std::vector<std::string> traits_of(const RowInfo& row);

/// Failures of one kind, and the traits that they share and passing rows do not.
struct FailureGroup {
  std::string kind;                 ///< "zero point", "wrong value"; the reason, if the rows were not judged
  std::vector<const Record*> rows;  ///< all with one status, in the report's order
  std::string op;                   ///< the op of all rows; empty: they have several
  std::string shared;             ///< "with y in a buffer and impl fused"; empty: nothing distinguishes them
  std::size_t alike = 0;          ///< judged rows of these ops that have the shared traits, failures included
  std::size_t passing = 0;        ///< rows of these ops that pass
  std::size_t passing_alike = 0;  ///< passing rows that have the shared traits
};

/// The key that failures of one group share: status and diagnosis, else the metric, else the reason without
/// its numbers.
std::string failure_key(const Record& record);

/// The failures of a report grouped by key, the largest groups first, MISSING rows last.
std::vector<FailureGroup> failure_groups(const RunReport& report);

/// "202 of 202 rows of q8ta_clone with y in a buffer: never written; of the rest, 119 pass"
std::string group_text(const FailureGroup& group);

}  // namespace assay
