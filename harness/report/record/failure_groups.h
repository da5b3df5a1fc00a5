#pragma once

#include "harness/report/record/run_report.h"

#include <cstddef>
#include <string>
#include <vector>

namespace assay {

/// Failures of one kind, and what they have in common that rows which pass have not.
struct FailureGroup {
  std::string kind;                 ///< "zero point", "wrong value"; of what was not judged, the reason
  std::vector<const Record*> rows;  ///< all of one status, in the report's order
  std::string op;                   ///< the op of all of them; empty: of several
  std::string shared;               ///< "with y in a buffer, impl fused"; empty: nothing sets them apart
  std::size_t alike = 0;    ///< rows of their ops that were judged and share that too, failures included
  std::size_t passing = 0;  ///< rows of their ops that pass
  std::size_t passing_alike = 0;  ///< those among them that share it
};

/// What failures of one group have in common: status and diagnosis, else the metric, else the reason but for
/// its numbers.
std::string failure_key(const Record& record);

/// The failures of a report by their keys, the largest groups first, MISSING rows last.
std::vector<FailureGroup> failure_groups(const RunReport& report);

/// "202 of 202 rows of q8ta_clone with y in a buffer: never written; 119 without pass"
std::string group_text(const FailureGroup& group);

}  // namespace assay
