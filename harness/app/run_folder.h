#pragma once

#include "harness/app/run_options.h"

#include <filesystem>
#include <iosfwd>
#include <span>
#include <string>

namespace assay::app {

/// Where the reports of one run go: OUT/runs/<run id>/<device>/, with OUT/<device> a relative link to the
/// newest run of that device. No run changes what another one wrote; nothing is deleted, only the links move.
class RunFolder {
 public:
  /// Gives the run an id of its own; nothing is made yet.
  explicit RunFolder(std::filesystem::path out);

  /// The folder OUT/runs/<run id> of a run that is gone on with. Throws Error(Usage) for any other folder.
  static RunFolder of_run(const std::filesystem::path& folder);

  /// The run's id, which is the name of its folder.
  const std::string& run_id() const { return run_id_; }

  /// Makes OUT/runs/<run id>, unless an earlier round of this run did. `devices` are the folder names of all
  /// devices of the run. Throws Error(Usage) where a folder or file stands in the place of one of their
  /// links, Error(Infrastructure) when the folder cannot be made.
  void make(std::span<const std::string> devices);

  std::filesystem::path of_device(const std::string& device) const;

  /// Lets OUT/<device> name this run. Where the file system has no links, `log` is told and the run goes on.
  void link(const std::string& device, std::ostream& log) const;

 private:
  RunFolder(std::filesystem::path out, std::string run_id);

  std::filesystem::path out_;
  std::string run_id_;
  bool is_made_ = false;
};

/// OUT: what --out says, else assay-out; runs of some cases only, and runs that watch, go to
/// assay-out/scratch then, so that the link in assay-out stays on the newest whole run.
std::filesystem::path output_root(const RunOptions& options);

/// Throws Error(Usage) when the folder that --out names holds the journal of a run, unless --overwrite is
/// given; always when it is itself the folder of a device, where a new run could not be found again.
void refuse_used_folder(const RunOptions& options);

}  // namespace assay::app
