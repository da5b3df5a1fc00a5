#pragma once

#include "harness/report/record/record.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// Compares exact outputs, whose hashes must not depend on the device, between several reports.
struct HashComparison {
  struct Difference {
    std::string id;
    bool inputs_differ = false;       ///< the input data already differed
    std::vector<std::string> hashes;  ///< one per report; empty if it has none
  };

  std::size_t reports = 0;
  std::size_t equal = 0;                ///< cases with equal hashes in all reports
  std::size_t partial = 0;              ///< cases with equal hashes in some reports, and none in the others
  std::size_t single = 0;               ///< cases in one report only: nothing to compare with
  std::vector<Difference> differences;  ///< in the order of the first report that has them

  /// Whether anything was compared at all.
  bool compared_any() const { return equal + partial + differences.size() > 0; }
};

/// Compares outputs by id. If a case ran in both modes, its accuracy row counts.
HashComparison compare_hashes(std::span<const RunReport> reports);

/// One line of totals, "405 exact outputs equal on 2 devices", with the count of outputs that were not
/// compared.
std::string hash_totals(const HashComparison& comparison);

/// Each difference with the hashes on all devices, which are called `devices`; empty if there is none.
std::string hash_differences(const HashComparison& comparison, std::span<const std::string> devices);

}  // namespace assay
