#pragma once

#include "harness/report/night/night.h"
#include "harness/report/record/record.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {

/// What a device's report of tonight is compared with.
struct Baseline {
  std::optional<RunReport> report;    ///< absent: there is nothing to compare with
  std::filesystem::path folder;       ///< folder of the report, links resolved
  std::string note;                   ///< why there is none, if nothing is wrong
  std::vector<std::string> warnings;  ///< reports that should have been it, and why they cannot be read
  bool is_of_later = false;           ///< a later night is the base of the nights after it, so its link stays
};

/// The question for a baseline.
struct BaselineQuestion {
  std::filesystem::path night;  ///< tonight's folder, links resolved
  std::filesystem::path link;   ///< the link to the device's last good night
  std::string slug;             ///< the device
  std::string started_utc;      ///< when tonight's run of it began
  EarlierVerdict earlier;       ///< an earlier verdict on tonight
};

/// Finds it: the report behind the link or, if that is of this night or a later one, the report of the
/// earlier verdict. If that cannot be read, it is the newest report before tonight's that can be, among those
/// that became a last good night according to the nightly.json of nights in the same folder. Throws nothing.
Baseline find_baseline(const BaselineQuestion& question);

}  // namespace assay::app
