#pragma once

#include "harness/base/error.h"
#include "harness/commands/context.h"
#include "harness/commands/run_options.h"
#include "harness/commands/stop_signal.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// Detects changed files: by their time and size, then by their content, so that saving without a change does
/// not count. It polls, and needs no service of the system.
class FileWatch {
 public:
  /// Watches these files, and all files below these folders, including new ones.
  void watch(std::span<const std::filesystem::path> files_or_folders);

  /// The files that were changed, added or removed since the last call (or since they are watched). A file
  /// that cannot be read counts as removed.
  std::vector<std::filesystem::path> changed();

 private:
  struct Content {
    std::filesystem::file_time_type time;
    std::uintmax_t size = 0;
    std::string hash;
  };
  using Contents = std::map<std::filesystem::path, Content>;

  Contents look() const;
  void add(const std::filesystem::path& file, Contents& seen) const;

  std::vector<std::filesystem::path> roots_;
  Contents known_;
};

/// Runs, then watches the case files and the folders of shaders, runs again whenever a file is saved, and
/// prints what changed; all rounds write into one run folder. Ends on a stop request, or if the device is
/// lost; returns the exit code of the last run.
ExitCode watch(const RunOptions& options, const Context& context, const Terminal& terminal, StopSignal& stop);

}  // namespace assay::app
