#include "harness/commands/run/output/run_folder.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/engine/run/run_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>
#include <system_error>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* default_out = "assay-out";
constexpr const char* runs = "runs";

/// Whether the folder holds a journal, compressed or not.
bool has_journal(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().string().starts_with("journal.jsonl")) return true;
  }
  return false;
}

/// A folder with a journal, at most `levels` levels below `root`; empty if there is none.
fs::path folder_with_journal(const fs::path& root, int levels) {
  std::error_code error;
  for (fs::directory_iterator at(root, error), end; !error && at != end; at.increment(error)) {
    if (!fs::is_directory(at->path(), error)) continue;
    if (has_journal(at->path())) return at->path();
    if (levels == 1) continue;
    if (const fs::path found = folder_with_journal(at->path(), levels - 1); !found.empty()) return found;
  }
  return {};
}

/// Only a link may be replaced by a link: a folder may be the only copy of a run.
void refuse_folder_in_place_of_link(const fs::path& place) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(place, error);
  if (!fs::exists(status) || fs::is_symlink(status)) return;
  throw Error(
      fmt::format("preparing the output folder: '{0}' should be a link to the newest run, but a {1} with "
                  "that name is there, perhaps from an older version of assay; move it away (mv '{0}' "
                  "'{0}.old') or choose another folder with --out",
                  place.string(), fs::is_directory(status) ? "folder" : "file"));
}

/// Throws if the resumed run has a device that is not chosen now, as its rows would never be run.
void refuse_other_devices(const fs::path& run, std::span<const std::string> devices) {
  std::error_code error;
  for (fs::directory_iterator at(run, error), end; !error && at != end; at.increment(error)) {
    const std::string device = at->path().filename().string();
    if (!has_journal(at->path()) || std::ranges::find(devices, device) != devices.end()) continue;
    throw Error(fmt::format("resuming run {}: it ran on '{}', but the devices here are now: {}",
                            run.filename().string(), device, fmt::join(devices, ", ")));
  }
}

}  // namespace

RunFolder::RunFolder(fs::path out) : out_(std::move(out)), run_id_(new_run_id()) {}

RunFolder::RunFolder(fs::path out, std::string run_id)
    : out_(std::move(out)), run_id_(std::move(run_id)), is_made_(true) {}

RunFolder RunFolder::of_run(const fs::path& folder) {
  const fs::path run = folder.filename().empty() ? folder.parent_path() : folder;
  if (run.parent_path().filename() != runs) {
    throw Error(
        fmt::format("resuming a run: '{}' is not a folder OUT/runs/<run> that `assay run` wrote; a published "
                    "or moved report cannot be resumed",
                    folder.string()));
  }
  const fs::path out = run.parent_path().parent_path();
  return {out.empty() ? "." : out, run.filename().string()};
}

void RunFolder::make(std::span<const std::string> devices) {
  for (const std::string& device : devices) refuse_folder_in_place_of_link(out_ / device);
  if (is_made_) return refuse_other_devices(out_ / runs / run_id_, devices);
  make_directories(out_ / runs);
  std::error_code error;
  while (!fs::create_directory(out_ / runs / run_id_, error)) {
    if (error) throw_file_error("create the folder", out_ / runs / run_id_, error.value());
    run_id_ = new_run_id();  // another run that started in the same second drew the same number
  }
  is_made_ = true;
}

fs::path RunFolder::of_device(const std::string& device) const {
  return out_ / runs / run_id_ / device;
}

void RunFolder::link(const std::string& device, std::ostream& log) const {
  const fs::path target = fs::path(runs) / run_id_ / device;
  const fs::path fresh = out_ / runs / run_id_ / ("." + device + ".link");
  std::error_code error;
  fs::remove(fresh, error);  // left by a run that was killed right here
  fs::create_symlink(target, fresh, error);
  if (!error) fs::rename(fresh, out_ / device, error);  // readers see the old link or the new one
  if (!error) return;
  std::error_code ignored;
  fs::remove(fresh, ignored);
  log << fmt::format("note: '{}' could not be made a link to the newest run ({}); its reports are in {}\n",
                     printable((out_ / device).string()), error.message(),
                     printable((out_ / target).string()));
}

fs::path output_root(const RunOptions& options) {
  if (!options.out.empty()) return options.out;
  const bool is_scratch = options.watch || options.shard || options.cases.is_partial();
  return is_scratch ? fs::path(default_out) / "scratch" : fs::path(default_out);
}

void refuse_used_folder(const RunOptions& options) {
  if (options.out.empty()) return;
  if (has_journal(options.out)) {
    throw Error(
        fmt::format("preparing the output folder: '{}' is itself the folder of a run on one device; choose "
                    "another folder with --out",
                    options.out.string()));
  }
  if (options.overwrite) return;
  fs::path used = folder_with_journal(options.out, 1);
  if (used.empty()) used = folder_with_journal(options.out / runs, 2);
  if (used.empty()) return;
  throw Error(
      fmt::format("preparing the output folder: --out '{}' already holds a run, in '{}'; choose another "
                  "folder, or add --overwrite: the new run is then written next to the old one, and the "
                  "links to the newest run move to it",
                  options.out.string(), used.string()));
}

}  // namespace assay::app
