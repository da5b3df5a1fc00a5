#pragma once

#include "harness/base/file.h"
#include "harness/report/record/codec.h"
#include "harness/report/record/events.h"
#include "harness/report/record/record.h"
#include "harness/report/record/row_key.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay {

/// journal.jsonl, the only truth of a run: one JSON object a line, {"event": "run" | "plan" | "begin" |
/// "record" | "end", ...}. A line is one write(2), nothing is buffered: whatever kills the process, what
/// has been recorded stays recorded.
///
/// Every method throws Error(Infrastructure) that names the file and the system's reason (no space left,
/// permission denied, ...); a line that could only be written in part is taken back.
class Journal final : public RunListener {
 public:
  /// Creates the file, and the folders above it. An old journal is emptied, or with `append` gone on with;
  /// a last line that a kill cut off is removed then. A journal that another process writes is refused.
  explicit Journal(std::filesystem::path path, bool append = false);

  void run(const RunInfo& info) override;
  void plan(std::span<const RowInfo> cases) override;
  void begin(const RowInfo& info) override;
  void record(const Record& record) override;
  void end() override;

  const std::filesystem::path& path() const { return path_; }

 private:
  void write_line(std::string line);
  void lock() const;
  void cut_to_whole_lines(bool append);

  std::filesystem::path path_;
  FileDescriptor file_;
};

/// What a journal tells of a run so far: all that any report is made of.
struct RunReport {
  RunInfo run;
  /// One a planned case, in the plan's order; then those that nobody planned, in the order they came.
  std::vector<Record> records;
  bool complete = false;  ///< the run came to its end
  bool cut_off = false;   ///< the journal's last line was cut off by a kill
};

/// Builds the report from events, live or read back. Both ways pass through the journal's own encoding, so
/// that a report written live and one rebuilt from the journal are equal byte for byte.
class ReportBuilder final : public RunListener {
 public:
  void run(const RunInfo& info) override;
  void plan(std::span<const RowInfo> cases) override;
  void begin(const RowInfo& info) override;
  void record(const Record& record) override;
  void end() override;

  /// The same event as a line of the journal. Throws Error that says what is wrong with the line.
  void line(std::string_view line);
  /// Notes that the journal's last line was cut off.
  void cut_off() { cut_off_ = true; }

  /// The report as it would be if the run ended now: the case that was begun last is a CRASH when it is not
  /// recorded ("the run ended while this case was running"); one that was begun before it and waits for its
  /// next turn is MISSING, and so is one that was planned and never begun ("not reached: the run ended before
  /// it"). Of several records of one case the newest counts.
  RunReport report() const;
  /// Whether the run's circumstances are known yet.
  bool has_run() const { return run_.has_value(); }

 private:
  class Store;

  struct Entry {
    RowInfo info;
    bool begun = false;
    bool planned = false;
    std::optional<Record> record;
  };
  Entry& entry(const RowInfo& info);

  Decoder decoder_;
  std::optional<RunInfo> run_;
  std::vector<Entry> entries_;
  std::map<RowKey, std::size_t> index_;  ///< to the entries
  std::optional<std::size_t> running_;   ///< the entry that was begun last
  bool ended_ = false;
  bool cut_off_ = false;
};

/// Reads a journal back. A last line without its line end, as a kill leaves it, is left out and reported as
/// `cut_off`. Throws Error with file:line and what is wrong for any other damaged line, for a journal of
/// a newer schema, and for one that does not say which run it is of.
RunReport read_journal(const std::filesystem::path& path);

}  // namespace assay
