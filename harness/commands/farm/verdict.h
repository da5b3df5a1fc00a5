#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"

#include <filesystem>
#include <string>
#include <vector>

namespace assay::app {

struct VerdictOptions {
  std::filesystem::path night;        ///< folder that was the --out of the night's runs
  std::filesystem::path last_good;    ///< folder of links; empty: last-good next to the night
  std::vector<std::string> expected;  ///< slugs of devices that must have a report
  /// Whose regressions are accepted: slugs of devices, "all", and globs over ids of rows.
  std::vector<std::string> accepted;
  /// Folders or files with rules by which the stored rows are judged again; empty: the rows keep their
  /// statuses.
  std::vector<std::filesystem::path> expectations;
  std::string fail_on = "slower,broken,gone";  ///< names of verdicts, or "none"
  std::filesystem::path run_noise;       ///< file with the noise between runs of devices; empty: unknown
  bool strict = false;                   ///< expired, stale and too wide rules are failures
  std::vector<std::string> kept_links;   ///< slugs of devices whose links are not moved, or "all"
  std::filesystem::path github_summary;  ///< file to append to; empty: none
  std::string version;                   ///< version of this assay
};

/// Gives the night verdict: judges each device's report, and compares it with the device's last good night.
/// Prints verdict.txt, writes it and nightly.json into the night, and moves the links of devices that are
/// good. A problem of one device is reported and does not affect the others. Throws Error(Usage) for an
/// invalid command line.
ExitCode verdict(const VerdictOptions& options, const Terminal& terminal);

}  // namespace assay::app
