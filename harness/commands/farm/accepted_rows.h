#pragma once

#include "harness/report/compare/compare.h"
#include "harness/report/night/night.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay::app {

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
