#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"
#include "harness/commands/mutate/fault_result.h"
#include "harness/commands/mutate/trial.h"

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::app {

// What `assay mutate` and the processes that try faults say to each other: a JSON object per line.

/// The first line to a worker: what it needs before faults come.
struct TrialSetup {
  std::vector<std::filesystem::path> cases;
  std::filesystem::path shaders;                    ///< sources before the embedded ones; empty: none
  std::vector<std::filesystem::path> op_folders{};  ///< of ops that manifests declare
  std::size_t device = 0;                           ///< index
  std::filesystem::path scratch;                    ///< folder for files of the worker
};

std::string line_of(const TrialSetup& setup);
TrialSetup parse_setup(std::string_view line);

std::string line_of(const TrialRequest& request);
TrialRequest parse_request(std::string_view line);

inline constexpr std::size_t no_row = std::numeric_limits<std::size_t>::max();

/// A line from a worker; exactly one member is set.
struct TrialNews {
  std::optional<std::string> ready;  ///< TrialRows::fingerprint()
  std::optional<std::size_t> row;    ///< begins; no_row: the one before has ended
  struct RowKill {
    std::size_t row = 0;
    Kill kill;
  };
  std::optional<RowKill> kill;
  struct End {
    FaultResult result;
    bool retires = false;  ///< the process ends now, as its memory has grown
  };
  std::optional<End> end;
  std::optional<std::string> damaged;  ///< the process ends now; the row that shows it
  std::optional<std::string> error;    ///< the process ends now: something failed that is no row's answer
  ExitCode error_code = ExitCode::Infrastructure;
};

std::string line_of(const TrialNews& news);
/// Throws std::exception for a line that no worker writes.
TrialNews parse_news(std::string_view line);

/// A result as an object of JSON: also a line of the journal.
std::string result_json(const FaultResult& result);
FaultResult parse_result(std::string_view json);

/// The process that `assay mutate` starts to try faults: reads a TrialSetup and TrialRequests from stdin and
/// writes TrialNews to stdout, until stdin ends. A fault may crash or hang it.
ExitCode serve_trials(const Context& context);

}  // namespace assay::app
