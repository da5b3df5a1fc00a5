#pragma once

#include "harness/report/record/run_report.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// Whether exact outputs, whose hashes must not depend on the device, are equal in several reports.
struct HashComparison {
  struct Difference {
    std::string id;
    bool inputs_differ = false;       ///< the data were not the same to begin with
    std::vector<std::string> hashes;  ///< one a report; empty where it has none
  };

  std::size_t reports = 0;
  std::size_t equal = 0;                ///< cases with equal hashes in all reports
  std::size_t partial = 0;              ///< equal in the several reports that have one, but not all do
  std::size_t single = 0;               ///< in one report only: nothing to compare with
  std::vector<Difference> differences;  ///< in the order of the first report that has them

  /// Whether anything was compared at all.
  bool compared_any() const { return equal + partial + differences.size() > 0; }
};

/// Compares by id. Of a case that ran in both modes the accuracy row speaks.
HashComparison compare_hashes(std::span<const RunReport> reports);

/// One line of totals, "405 exact outputs equal on 2 devices", and what was not compared.
std::string hash_totals(const HashComparison& comparison);

/// Each difference with the hashes of all devices, whose names are `devices`; empty when there is none.
std::string hash_differences(const HashComparison& comparison, std::span<const std::string> devices);

}  // namespace assay
