#pragma once

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/commands/context.h"
#include "harness/report/trend/nights.h"
#include "harness/report/trend/trend_report.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace assay::app {

/// Notes what is left out of many runs, as one lost night must not prevent the page of a farm.
class LeftOut {
 public:
  /// `purpose` begins the message of throw_none_readable(): "writing a page".
  LeftOut(std::ostream& log, std::string purpose) : log_(log), purpose_(std::move(purpose)) {}

  /// The Error has the exit code of the first error; Usage: there was none.
  [[noreturn]] void throw_none_readable() const {
    throw Error(purpose_ + ": none of the reports can be read",
                code_ == ExitCode::Fine ? ExitCode::Usage : code_);
  }
  void warn(const std::string& what) { log_ << printable_line("warning: " + what) << '\n'; }

  /// The result of `body`; if it throws, a warning that `what` is left out.
  template <class Body>
  auto or_left_out(const std::filesystem::path& what, Body body) -> std::optional<decltype(body())> {
    try {
      return body();
    } catch (const Error& error) {
      warn(fmt::format("{} is left out: {}", what.string(), error.what()));
      if (code_ == ExitCode::Fine) code_ = error.code();
      return std::nullopt;
    }
  }

 private:
  std::ostream& log_;
  std::string purpose_;
  ExitCode code_ = ExitCode::Fine;
};

/// Runs over time, and their journals.
struct KnownRuns {
  NightSummaries nights;
  std::vector<std::filesystem::path> journals;  ///< one per night
};

/// The journals of all runs that paths stand for, without duplicates: those of journals_of(), all others in
/// an output folder, and all nights in the folder of a farm. A path without any, or with none that paths
/// before it do not have, is left out with a warning.
std::vector<std::filesystem::path> all_journals(const std::vector<std::filesystem::path>& paths,
                                                LeftOut& left_out);

/// Reads the runs of all_journals(). A run is read from the summary that it wrote (history.csv); if that is
/// missing or damaged, from its journal. What cannot be read is left out. Throws Error if nothing is left.
KnownRuns read_runs(const std::vector<std::filesystem::path>& paths, LeftOut& left_out);

struct TrendOptions {
  std::vector<std::filesystem::path> reports;  ///< paths as for read_runs()
  TrendQuestion question;
  std::filesystem::path csv;  ///< file to write; "-": stdout; empty: none
  bool all = false;           ///< list every change
};

/// Prints what became slower or faster over the nights of each device, and since when. Unreadable reports are
/// left out with a warning. Throws Error(Usage) if none is left, or a date is none.
ExitCode trend(const TrendOptions& options, const Terminal& terminal);

}  // namespace assay::app
