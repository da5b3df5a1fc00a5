#pragma once

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/file_sync.h"
#include "harness/report/record/codec.h"
#include "harness/report/record/run_report.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

/// journal.jsonl, the only truth of a run: an event a line, {"event": "run" | "plan" | "begin" | "judged" |
/// "block" | "end" | "done", ...}. A line is one write(2), nothing is buffered: whatever kills the process,
/// what has been told stays told. It is brought to the disk at most every half second and at the end: what a
/// power failure costs.
///
/// Every method throws Error(Infrastructure) that names the file and the system's reason (no space left,
/// permission denied, ...); a line that could only be written in part is taken back.
class Journal final : public EventLines {
 public:
  /// Creates the file, and the folders above it. An old journal is emptied, or with `append` gone on with;
  /// a last line that a kill cut off is removed then. A journal that another process writes is refused, and
  /// so is a link in its place: what it names is not ours.
  explicit Journal(std::filesystem::path path, bool append = false);

  void line(std::string_view line) override;

  const std::filesystem::path& path() const { return path_; }

 private:
  void lock() const;
  void cut_to_whole_lines(bool append);

  std::filesystem::path path_;
  FileDescriptor file_;
  FileSync sync_;  ///< of file_, so after it
};

/// Whether a process writes this journal now. Where the file system has no locks, nobody is seen to.
bool is_being_written(const std::filesystem::path& path);

/// Reads a journal back, compressed or not. A last line without its line end, as a kill leaves it, is left
/// out and reported as `cut_off`. Throws Error with file:line and what is wrong for any other damaged line,
/// for a journal of a newer schema, for one that does not say which run it is of, and for one without a plan.
RunReport read_journal(const std::filesystem::path& path);

/// What a listener throws of an event that can be read and cannot be: the line is not damaged.
class Contradiction : public Error {
 public:
  using Error::Error;
};

/// The same; `also` is told every event, and `stored_record` as Decoder tells it.
RunReport read_journal(const std::filesystem::path& path, RunListener& also,
                       Decoder::StoredRecord stored_record);

/// A line of a journal that could not be read.
struct LeftOutLine {
  std::size_t number = 0;  ///< from 1
  std::string why;
};
struct SalvagedJournal {
  RunReport report;
  std::vector<LeftOutLine> left_out;
};

/// What a damaged journal still tells: lines that cannot be read are left out, and rows of which something is
/// missing are MISSING. The report is complete only if nothing was left out. Throws Error where no row is
/// left.
SalvagedJournal salvage_journal(const std::filesystem::path& path);

/// The same of a journal's text; messages call it `path`.
RunReport report_of_journal(const std::filesystem::path& path, std::string_view text);

/// The text of a journal written anew, event by event: what an older schema holds, in this one. Throws Error
/// as read_journal does.
std::string rewritten_journal(const std::filesystem::path& path);

}  // namespace assay
