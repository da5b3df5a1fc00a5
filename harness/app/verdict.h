#pragma once

#include "harness/app/context.h"
#include "harness/base/error.h"

#include <filesystem>
#include <string>
#include <vector>

namespace assay::app {

struct VerdictOptions {
  std::filesystem::path night;                 ///< what was the --out of the night's runs
  std::filesystem::path last_good;             ///< folder of links; empty: last-good beside the night
  std::vector<std::string> expected;           ///< slugs of devices that must have a report
  std::vector<std::string> accepted;           ///< slugs, or "all": what is worse there is meant
  std::string fail_on = "slower,broken,gone";  ///< names of verdicts, or "none"
  std::filesystem::path run_noise;             ///< what runs of devices differ by; empty: nothing is known
  bool strict = false;                         ///< rules that are expired or stale are failures
  bool keep_last_good = false;                 ///< no link is moved
  std::filesystem::path github_summary;        ///< file to append to; empty: none
  std::string version;                         ///< of this assay
};

/// Says of a night whether it is fine: judges each device's report, and holds it against the device's last
/// good night. Prints verdict.txt, writes it and nightly.json into the night, and moves the links of devices
/// that are good. What is wrong with one device is told, and hides no other. Throws Error(Usage) for a
/// command line that cannot be meant.
ExitCode verdict(const VerdictOptions& options, const Terminal& terminal);

}  // namespace assay::app
