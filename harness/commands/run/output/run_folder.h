#pragma once

#include "harness/commands/run_options.h"

#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>

namespace assay::app {

/// The folder of one run's reports: OUT/runs/<run id>/<device>/, with OUT/<device> a relative link to the
/// newest run on that device. No run changes the files of another one; nothing is deleted, only the links
/// move.
class RunFolder {
 public:
  /// Draws a new id for the run; nothing is created yet.
  explicit RunFolder(std::filesystem::path out);

  /// The folder OUT/runs/<run id> of a run to be resumed. Throws Error(Usage) for any other folder.
  static RunFolder of_run(const std::filesystem::path& folder);

  /// The run's id, which is the name of its folder.
  const std::string& run_id() const { return run_id_; }

  /// Creates OUT/runs/<run id>, unless an earlier round of this run did. `devices` are the folder names of
  /// all devices of the run. Throws Error(Usage) if a folder or file is in the place of one of their links,
  /// Error(Infrastructure) if the folder cannot be created.
  void make(std::span<const std::string> devices);

  std::filesystem::path of_device(const std::string& device) const;

  /// Makes OUT/<device> a link to this run. If the file system has no links, notes it on `log` and continues.
  void link(const std::string& device, std::ostream& log) const;

 private:
  RunFolder(std::filesystem::path out, std::string run_id);

  std::filesystem::path out_;
  std::string run_id_;
  bool is_made_ = false;
};

/// OUT: the folder of --out, else assay-out, or assay-out/scratch for runs of some cases only and runs that
/// watch, so that the link in assay-out stays on the newest whole run.
std::filesystem::path output_root(const RunOptions& options);

/// Throws Error(Usage) if the folder of --out holds the journal of a run and --overwrite is not given, and
/// always if it is itself a device folder, where a new run could not be found again.
void refuse_used_folder(const RunOptions& options);

}  // namespace assay::app
