#pragma once

#include "harness/report/record/record.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// The journal in a device folder: as the run wrote it, else compressed (journal.jsonl.zst).
std::optional<std::filesystem::path> journal_in(const std::filesystem::path& folder);

/// The journals that a path stands for: the path itself if it is a journal, the journal of a device folder,
/// or the journals of all device folders right below it, in the order of their names, without hidden ones.
/// Throws Error(Usage) if there is none, and Error(Infrastructure) with the system's reason if a place cannot
/// be read.
std::vector<std::filesystem::path> find_journals(const std::filesystem::path& path);

/// Whether a glob matches a text.
using GlobMatch = std::function<bool(std::string_view pattern, std::string_view text)>;

/// The ids that `wanted` may mean, in the report's order, each once: the id itself if it exists, else the ids
/// that match it as a glob (with '*' or '?'), else the ids that contain it.
std::vector<std::string> matching_ids(const RunReport& report, const std::string& wanted,
                                      const GlobMatch& glob);

/// At most `count` ids, those with the part most similar to `wanted` first.
std::vector<std::string> nearest_ids(const RunReport& report, std::string_view wanted, std::size_t count);

/// The rows with an id: accuracy, performance or both.
std::vector<const Record*> rows_of(const RunReport& report, std::string_view id);

/// read_journal, which also checks that the journal is consistent: in a complete run every planned row has
/// an end, a row that passed has all that such a row needs, and blocks are numbered without unexplained gaps
/// and contain times. A journal that was edited by hand, or lost a line, is an Error with file:line.
RunReport read_checked_journal(const std::filesystem::path& path);

}  // namespace assay
