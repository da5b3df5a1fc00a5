#pragma once

#include "harness/report/compare/compare.h"
#include "harness/report/night/night.h"
#include "harness/report/record/record.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
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

/// A device's night, compared with its last good one.
struct ComparedNight {
  std::filesystem::path night;  ///< its folder, links resolved
  std::string slug;             ///< the device
  std::string started_utc;      ///< when its run began
  std::string last_good_run;    ///< id of the run that it is compared with
};

/// The accepted changes that held in the newest night before this one that was compared with the same run.
/// Nights are searched in the folder that holds this one. Throws nothing.
std::map<RowKey, AcceptedChange> accepted_before(const ComparedNight& night);

/// Which worse rows are accepted alone.
struct RowAcceptance {
  std::string night;                        ///< name of tonight's folder
  std::vector<std::string> globs;           ///< --accept
  std::set<std::string> ids;                ///< of rows that an earlier verdict on this night accepted
  std::map<RowKey, AcceptedChange> before;  ///< accepted_before()
};

/// Accepts worse rows that are named, and those that are as they were when they were accepted in an earlier
/// night.
void accept_rows(DeviceNight& device, const RunComparison& comparison, const RowAcceptance& acceptance);

}  // namespace assay::app
