#pragma once

#include "harness/report/record/journal.h"

#include <filesystem>
#include <string>
#include <vector>

namespace assay::app {

/// The journals that a path given to a command stands for: a journal, the folder of a device, a run's folder
/// with one folder a device, or an output folder, which stands for the newest run of each device. Throws
/// Error(Usage) that says where to look when there is none.
std::vector<std::filesystem::path> journals_of(const std::filesystem::path& path);

/// The reports of all journals that these paths stand for, in their order. Throws Error as journals_of() and
/// read_journal() do.
std::vector<RunReport> read_reports(const std::vector<std::filesystem::path>& paths);

/// The one journal that a path stands for. Throws Error(Usage) that lists the folders when there are several.
std::filesystem::path only_journal(const std::filesystem::path& path);

/// The one id that `wanted` (an id, a glob over ids or a part of one) means. `place` is what it is looked for
/// in: "the report". Throws Error(Usage) that lists the ids that match, or those that come nearest.
std::string only_id(const RunReport& report, const std::string& wanted, const std::string& place);

}  // namespace assay::app
