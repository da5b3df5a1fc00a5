#pragma once

#include "harness/base/file.h"
#include "harness/commands/mutate/fault_result.h"
#include "harness/commands/mutate/options.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// What a run of `assay mutate` is about.
struct FaultRun {
  MutateOptions::Choice choice;
  std::string version;  ///< of the binary
  std::string device;
  std::string driver;
  std::string rows;     ///< TrialRows::fingerprint()
  std::string sources;  ///< hash of the faults of all files
};

/// The file in a run's folder that holds each result as soon as it is known: a line for the run, and a line
/// for each fault that was tried.
std::filesystem::path fault_journal_in(const std::filesystem::path& folder);

struct FaultJournalContent {
  FaultRun run;
  std::vector<FaultResult> results;
};

/// Reads a journal; a last line that is not whole is left out. Throws Error if it cannot be read.
FaultJournalContent read_fault_journal(const std::filesystem::path& file);

/// Throws Error if a run cannot be resumed because its results were for something else.
void check_same_run(const FaultRun& before, const FaultRun& now);

class FaultJournal {
 public:
  /// Begins the file anew, with what is known already. Throws Error(Infrastructure).
  FaultJournal(const std::filesystem::path& file, const FaultJournalContent& known);
  /// Throws Error(Infrastructure).
  void add(const FaultResult& result);

 private:
  std::filesystem::path path_;
  FileDescriptor file_;
};

/// The matrix as RFC 4180: one row per fault (docs/faults.md has the columns).
std::string kill_matrix_csv(std::span<const FaultRecord> records);

/// The summary for people: the score, per file and per operator, and the faults that survived or are fragile.
std::string faults_markdown(const FaultRun& run, std::span<const FaultRecord> records);

/// "common/quads.glslh:12:5  bound_off_by_one  '<' -> '<='"
std::string fault_text(const mutation::Fault& fault);

}  // namespace assay::app
