#pragma once

#include "harness/report/journal/journal.h"

#include <filesystem>
#include <string>
#include <vector>

namespace assay::app {

/// The journals that a path on the command line stands for: a journal, a device folder, a run's folder with
/// one folder per device, or an output folder, which stands for the newest run of each device. Throws
/// Error(Usage) that says where to look if there is none.
std::vector<std::filesystem::path> journals_of(const std::filesystem::path& path);

/// The reports of all journals that these paths stand for, in their order. Throws Error as journals_of() and
/// read_journal() do.
std::vector<RunReport> read_reports(const std::vector<std::filesystem::path>& paths);

/// The only journal that a path stands for. Throws Error(Usage) that lists the folders if there are several.
std::filesystem::path only_journal(const std::filesystem::path& path);

/// The circumstances in a journal's first line: those of an empty run if there is none. Throws Error as
/// for_each_line() does.
RunInfo run_of_journal(const std::filesystem::path& journal);

/// The only id that `wanted` (an id, a glob over ids or a part of an id) matches. `place` names the place
/// that is searched, for messages: "the report". Throws Error(Usage) that lists the matching ids, or the
/// nearest ones.
std::string only_id(const RunReport& report, const std::string& wanted, const std::string& place);

}  // namespace assay::app
