#include "harness/report/journal/find_rows.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/report/journal/journal_text.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <system_error>
#include <utility>

namespace assay {
namespace {

// The ids of a report, each once, in its order.
std::vector<std::string> ids_of(const RunReport& report) {
  std::vector<std::string> ids;
  std::set<std::string_view> seen;
  for (const Record& record : report.records) {
    if (seen.insert(record.info.id).second) ids.push_back(record.info.id);
  }
  return ids;
}

bool same_letter(char a, char b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return lower(a) == lower(b);
}

// The smallest number of insertions, deletions and replacements that turn `wanted` into some part of `text`.
std::size_t distance_to_a_part(std::string_view wanted, std::string_view text) {
  // best[i]: distance of the first i letters of `wanted` to a part that ends at the current letter of `text`.
  std::vector<std::size_t> best(wanted.size() + 1);
  for (std::size_t i = 0; i < best.size(); ++i) best[i] = i;
  std::size_t least = best.back();
  for (const char letter : text) {
    std::size_t diagonal = 0;  // a part may begin anywhere
    for (std::size_t i = 1; i < best.size(); ++i) {
      const std::size_t replaced = diagonal + (same_letter(wanted[i - 1], letter) ? 0 : 1);
      diagonal = best[i];
      best[i] = std::min({replaced, best[i] + 1, best[i - 1] + 1});
    }
    least = std::min(least, best.back());
  }
  return least;
}

/// Refuses a place that the system does not let us look at: whether a journal is there is unknown.
void refuse_unreadable(const std::filesystem::path& path) {
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  if (exists || !error || error == std::errc::no_such_file_or_directory ||
      error == std::errc::not_a_directory)
    return;
  throw_file_error("read the report", path, error.value());
}

}  // namespace

std::optional<std::filesystem::path> journal_in(const std::filesystem::path& folder) {
  for (const char* name : {journal_name, compressed_journal_name}) {
    std::error_code error;
    if (std::filesystem::is_regular_file(folder / name, error)) return folder / name;
  }
  return std::nullopt;
}

std::vector<std::filesystem::path> find_journals(const std::filesystem::path& path) {
  refuse_unreadable(path);
  refuse_unreadable(path / journal_name);
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return {path};
  if (const auto journal = journal_in(path)) return {*journal};
  if (!std::filesystem::is_directory(path, error)) {
    throw Error("reading a report: there is no file or folder " + path.string() +
                "; give a device folder below the --out of a run, or its journal.jsonl");
  }
  std::vector<std::filesystem::path> journals;
  std::filesystem::directory_iterator at(path, error);
  for (const std::filesystem::directory_iterator end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with('.')) continue;  // a folder that is being removed
    refuse_unreadable(at->path() / journal_name);
    if (const auto journal = journal_in(at->path())) journals.push_back(*journal);
  }
  if (error) throw_file_error("read the report's folder", path, error.value());
  if (journals.empty()) {
    throw Error("reading a report: neither " + path.string() + " nor a folder right below it has a " +
                journal_name + " (or " + compressed_journal_name +
                "); `assay run --out` makes such folders, one per device");
  }
  std::ranges::sort(journals);
  return journals;
}

std::vector<std::string> matching_ids(const RunReport& report, const std::string& wanted,
                                      const GlobMatch& glob) {
  const std::vector<std::string> ids = ids_of(report);
  if (std::ranges::find(ids, wanted) != ids.end()) return {wanted};
  const bool is_glob = wanted.find_first_of("*?") != wanted.npos;
  std::vector<std::string> matching;
  for (const std::string& id : ids) {
    if (is_glob ? glob(wanted, id) : id.find(wanted) != id.npos) matching.push_back(id);
  }
  return matching;
}

std::vector<std::string> nearest_ids(const RunReport& report, std::string_view wanted, std::size_t count) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (std::string& id : ids_of(report)) ranked.emplace_back(distance_to_a_part(wanted, id), std::move(id));
  std::ranges::stable_sort(ranked, {}, &std::pair<std::size_t, std::string>::first);
  ranked.resize(std::min(count, ranked.size()));
  std::vector<std::string> nearest;
  for (auto& [distance, id] : ranked) nearest.push_back(std::move(id));
  return nearest;
}

std::vector<const Record*> rows_of(const RunReport& report, std::string_view id) {
  std::vector<const Record*> rows;
  for (const Record& record : report.records) {
    if (record.info.id == id) rows.push_back(&record);
  }
  return rows;
}

}  // namespace assay
