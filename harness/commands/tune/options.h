#pragma once

#include "harness/commands/run_options.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::app {

/// The options of `assay tune`.
struct TuneOptions {
  CaseOptions cases;                  ///< which timed cases: files, --ops, --filter, --op, --impl, --tier
  double seconds = 600;               ///< --budget: for the search; confirming takes up to half as long again
  double row_seconds = 0.1;           ///< sampling budget of a candidate; three times as much to confirm it
  std::uint64_t seed = 1;             ///< of the coordinate search
  std::size_t exhaustive_up_to = 32;  ///< candidates of a point, all of which are then timed
  std::vector<std::string> tunables;  ///< only these are searched, the others keep their defaults; empty: all
  std::string device;                 ///< see `assay run --device`
  std::string ceilings = "stored";    ///< see `assay run --ceilings`
  std::filesystem::path out;          ///< the tuning file; empty: tuning/<device>.yaml
  bool overwrite = false;             ///< `out` may exist; entries are kept, see is_replaced()
  std::filesystem::path csv;  ///< file for every candidate that was timed, or with `table` for what it shows
  std::filesystem::path table;  ///< such a file: only show how the searches do on it; empty: tune
  double hang_limit_s = 60;     ///< silence of a worker that counts as hanging
  std::vector<std::string> injected_faults;  ///< see `assay run --inject-fault`
  bool verbose = false;
};

}  // namespace assay::app
