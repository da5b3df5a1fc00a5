#include "harness/report/journal/recorded_runs.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/report/journal/codec.h"
#include "harness/report/journal/journal.h"
#include "harness/report/journal/journal_text.h"
#include "harness/report/record/events.h"
#include "harness/report/record/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

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

/// The state of a row that the checks need. It is kept small, as a journal may have many rows.
struct RowSoFar {
  std::string id;
  std::string mode;
  std::string mode_words;
  bool begun = false;
  bool ended = false;
  bool goes_on = false;               ///< its end was an interruption: it is resumed if it begins again
  std::optional<std::string> metric;  ///< once judged
  std::string output_hash;
  int blocks = 0;
  std::int64_t next_round = 0;
  int batch = 0;

  /// Same rules as RowEvents::begin().
  void begin() {
    if (ended && !goes_on) *this = {.id = id, .mode = mode, .mode_words = mode_words};
    ended = false;
    begun = true;
  }
  void judge(const AccuracyResult& accuracy) {
    metric = accuracy.metric;
    if (!blocks_still_count(output_hash, accuracy.output_hash)) {
      blocks = 0;
      next_round = 0;
    }
    output_hash = accuracy.output_hash;
  }
};

void check_block(const RowSoFar& row, const Block& block) {
  if (row.ended || !row.begun) throw Contradiction("it has a block while it does not run");
  if (block.skipped < 0 || block.round != row.next_round + block.skipped) {
    throw Contradiction(
        fmt::format("its block {} stands where block {} should", block.round, row.next_round));
  }
  if (row.blocks > 0 && row.batch != block.batch) {
    throw Contradiction(fmt::format("'batch' is {} and was {} in the block before", block.batch, row.batch));
  }
  if (block.samples_ns.empty()) throw Contradiction("'samples_ns' is empty: a block has a sample");
  for (const double ns : block.samples_ns) {
    if (!(ns > 0) || !std::isfinite(ns))
      throw Contradiction("'samples_ns' holds " + shortest(ns) + ", which is not a time");
  }
}

void check_end(const RowSoFar& row, const RowEnd& end) {
  if (row.ended) throw Contradiction("it ends twice");
  const bool passed = end.status == Status::Pass;
  if (passed && !row.begun) throw Contradiction("it passed without having begun");
  if (passed && row.mode == "perf" && !end.perf)
    throw Contradiction("a row of mode perf passed and has no time");
  if (passed && row.mode == "accu" && !row.metric)
    throw Contradiction("a row of mode accu passed and was not judged");
  if (passed && row.metric && !row.metric->empty())
    throw Contradiction("the row passed, but its accuracy says '" + printable(*row.metric) + "'");
  if (end.perf && row.blocks == 0) throw Contradiction("it has a time but no sample");
}

/// Throws at the first event that contradicts those before it.
class Checker final : public RunListener {
 public:
  void run(const RunInfo&) override {}
  void plan(std::span<const RowInfo> rows) override {
    for (const RowInfo& info : rows) {
      if (!keys_.insert(key_of(info)).second) {
        throw Contradiction(
            fmt::format("{} ({}) is planned twice", printable(info.id), printable(mode_words(info))));
      }
      rows_.push_back({.id = info.id, .mode = info.mode, .mode_words = mode_words(info)});
    }
  }
  void begin(RowIndex index) override { rows_[index].begin(); }
  void judged(RowIndex index, const AccuracyResult& accuracy) override { rows_[index].judge(accuracy); }
  void block(RowIndex index, const Block& block) override {
    about(index, [&](const RowSoFar& row) { check_block(row, block); });
    rows_[index].batch = block.batch;
    ++rows_[index].blocks;
    rows_[index].next_round = std::int64_t{block.round} + 1;
  }
  void end(RowIndex index, const RowEnd& end) override {
    about(index, [&](const RowSoFar& row) { check_end(row, end); });
    rows_[index].ended = true;
    rows_[index].goes_on = goes_on_after(end.status);
  }
  void done() override {
    for (const RowSoFar& row : rows_) {
      if (row.ended) continue;
      throw Contradiction("the run is complete, but " + printable(row.id) + " (" + printable(row.mode_words) +
                          ") has no end: lines are missing");
    }
  }

 private:
  void about(RowIndex index, const std::function<void(const RowSoFar&)>& check) const {
    const RowSoFar& row = rows_[index];
    try {
      check(row);
    } catch (const Contradiction& error) {
      throw Contradiction("the record of " + printable(row.id) + " (" + printable(row.mode_words) +
                          ") contradicts itself: " + error.what() + "; no run writes such a record");
    }
  }

  std::deque<RowSoFar> rows_;
  std::set<RowKey> keys_;
};

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

RunReport read_checked_journal(const std::filesystem::path& path) {
  Checker checker;
  return read_journal(path, checker);
}

}  // namespace assay
