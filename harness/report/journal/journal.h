#pragma once

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/report/journal/codec.h"
#include "harness/report/record/record.h"
#include "harness/report/record/run_listener.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace assay {

/// Whether a file that is being written is still where it was opened: someone may move or remove it, or a
/// folder above it, meanwhile.
class FilePlace {
 public:
  /// `fd` is the open file, which must be readable; it stays the caller's. A file that is not a regular one,
  /// and a file system on which an open file cannot be recognized by its path, are not checked.
  FilePlace(std::filesystem::path path, int fd);

  /// Whether the path still names the open file.
  bool has_file() const { return !is_checked_ || names_the_file(path_); }

  /// To be called when it does not. If the file is gone for good, writes its content to its path again, or
  /// next to it if another file is there. Returns what happened and what to do, for a sentence that begins
  /// with the file's name.
  std::string rescue() const;

 private:
  bool names_the_file(const std::filesystem::path& path) const;
  std::filesystem::path path_now() const;
  void copy_to(const std::filesystem::path& path) const;

  std::filesystem::path path_;
  int fd_;
  dev_t device_ = 0;
  ino_t number_ = 0;  ///< of the open file, on its device
  bool is_checked_ = false;
};

/// journal.jsonl, the only source of a run's reports: one event per line, {"event": "run" | "plan" | "begin"
/// | "judged" | "block" | "end" | "done", ...}. A line is one write(2) and nothing is buffered: whatever
/// kills the process, events that were written are kept. The file is synced to disk at the end and at most
/// every half second, which is what a power failure can cost.
///
/// Every method throws Error(Infrastructure) that names the file and the system's reason (no space left,
/// permission denied, ...); a line that could only be written in part is removed. If the file was moved or
/// removed since the last event, the next one throws; the content of a removed file is written to its place
/// again, or next to a file that is there now.
class Journal final : public EventLines {
 public:
  /// Creates the file, and the folders above it. An old journal is emptied; with `append` it is continued,
  /// and a last line that a kill cut off is removed. Refuses a journal that another process is writing, and a
  /// link in the journal's place, as its target is not ours.
  explicit Journal(std::filesystem::path path, bool append = false);

  void line(std::string_view line) override;

  const std::filesystem::path& path() const { return path_; }

 private:
  void lock() const;
  void cut_to_whole_lines(bool append);
  void check_place();

  std::filesystem::path path_;
  FileDescriptor file_;
  FilePlace place_;
  std::string lost_because_;  ///< empty: the file is in its place
  FileSync sync_;             ///< uses file_, so it is declared after it
};

/// Whether a process is writing this journal now. Always false on a file system without locks.
bool is_being_written(const std::filesystem::path& path);

/// Reads a journal back, compressed or not. A last line without its line end, as a kill leaves it, is left
/// out and reported as `cut_off`. Throws Error with file:line and the cause for any other damaged line, for a
/// journal of another schema, for one that does not name its run, and for one without a plan.
RunReport read_journal(const std::filesystem::path& path);

/// Thrown by a listener for an event that is readable but impossible: the line is not damaged.
class Contradiction : public Error {
 public:
  using Error::Error;
};

/// Reads a journal likewise, and sends every event to `also`.
RunReport read_journal(const std::filesystem::path& path, RunListener& also);

/// A line of a journal that could not be read.
struct LeftOutLine {
  std::size_t number = 0;  ///< from 1
  std::string why;
};
struct SalvagedJournal {
  RunReport report;
  std::vector<LeftOutLine> left_out;  ///< the first most_left_out_named of them
  std::size_t left_out_count = 0;
};
inline constexpr std::size_t most_left_out_named = 20;

/// Reads what is intact in a damaged journal: lines that cannot be read are left out, and rows with missing
/// lines are MISSING. The report is complete only if nothing was left out. Throws Error if no row is left, or
/// if it has another schema.
SalvagedJournal salvage_journal(const std::filesystem::path& path);

/// The text of a journal, compressed or not, written anew event by event. Throws Error as read_journal does.
std::string rewritten_journal(const std::filesystem::path& path);

}  // namespace assay
