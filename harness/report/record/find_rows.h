#pragma once

#include "harness/report/record/run_report.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The journal of a device's folder: as the run wrote it, else compressed (journal.jsonl.zst).
std::optional<std::filesystem::path> journal_in(const std::filesystem::path& folder);

/// The journals that a path stands for: a journal itself, that of a device's folder, or those of all device
/// folders right below it, in the order of their names, hidden ones left out. Throws Error(Usage) where there
/// is none.
std::vector<std::filesystem::path> find_journals(const std::filesystem::path& path);

/// Whether a glob matches a text.
using GlobMatch = std::function<bool(std::string_view pattern, std::string_view text)>;

/// The ids that `wanted` may mean, in the report's order, each once: the id itself when there is such a one,
/// else those that match it as a glob (with '*' or '?'), else those that it is a part of.
std::vector<std::string> matching_ids(const RunReport& report, const std::string& wanted,
                                      const GlobMatch& glob);

/// At most `count` ids, the ones that have a part most like `wanted` first.
std::vector<std::string> nearest_ids(const RunReport& report, std::string_view wanted, std::size_t count);

/// The rows of an id: accuracy, performance or both.
std::vector<const Record*> rows_of(const RunReport& report, std::string_view id);

}  // namespace assay
