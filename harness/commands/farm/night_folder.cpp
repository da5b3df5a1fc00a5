#include "harness/commands/farm/night_folder.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/report/journal/recorded_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <unistd.h>

namespace assay::app {
namespace {

namespace fs = std::filesystem;
using Devices = std::map<std::string, DeviceFolder>;

constexpr const char* runs_name = "runs";

/// Whether a name in an output folder does not belong to a device.
bool is_other(const std::string& name) {
  static const std::set<std::string> others = {runs_name, "scratch", shards_name};
  return name.starts_with('.') || others.contains(name);
}

/// The subfolders of a folder, including links to folders.
std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (fs::is_directory(at->path(), ignored)) folders.push_back(at->path());
  }
  return folders;
}

DeviceFolder behind_link(const fs::path& link) {
  std::error_code error;
  const fs::path folder = fs::canonical(link, error);
  if (!error && fs::is_directory(folder, error)) return {folder, ""};
  return {{},
          fmt::format("its link is dangling ({} -> {}): the report was moved or removed",
                      link.filename().string(), fs::read_symlink(link, error).string())};
}

void add_entry(Devices& devices, const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  if (is_other(name)) return;
  std::error_code error;
  if (entry.is_symlink(error)) {
    if (!fs::is_regular_file(entry.path(), error)) devices[name] = behind_link(entry.path());
  } else if (entry.is_directory(error)) {
    fs::directory_iterator(entry.path(), error);  // NOLINT(bugprone-unused-raii): whether it can be read
    if (error) {
      devices[name] = {{}, "its folder cannot be read: " + error.message()};
    } else if (journal_in(entry.path())) {
      devices[name] = {entry.path(), ""};
    }
  }
}

/// Adds devices without a link: it could not be made, or was not made yet.
void add_runs(Devices& devices, const fs::path& night) {
  std::vector<fs::path> runs = folders_in(night / runs_name);
  std::ranges::sort(runs, std::greater{});  // their names start with the time: the newest first
  for (const fs::path& run : runs) {
    for (const fs::path& device : folders_in(run)) {
      if (!is_other(device.filename().string()) && journal_in(device))
        devices.try_emplace(device.filename().string(), DeviceFolder{device, ""});
    }
  }
}

void add_shards(Devices& devices, const fs::path& night) {
  for (const fs::path& device : folders_in(night / shards_name)) {
    const std::string why = "its shards are in " + (fs::path(shards_name) / device.filename()).string() +
                            ", but no report was merged from them (`assay merge`)";
    devices.try_emplace(device.filename().string(), DeviceFolder{{}, why});
  }
}

}  // namespace

Devices devices_of_night(const fs::path& night) {
  std::error_code error;
  if (!fs::is_directory(night, error)) {
    throw Error("judging a night: " + night.string() +
                " is not a folder; give the folder that was the --out of the night's runs");
  }
  Devices devices;
  fs::directory_iterator at(night, error);
  for (const fs::directory_iterator end; !error && at != end; at.increment(error)) add_entry(devices, *at);
  if (error) throw_file_error("read the night's folder", night, error.value());
  add_runs(devices, night);
  add_shards(devices, night);
  return devices;
}

std::string night_json_in(const fs::path& night) {
  constexpr std::uintmax_t most_bytes = std::uintmax_t{256} << 20;
  return whole_regular_file(night / nightly_json_name, most_bytes).value_or("");
}

std::map<std::string, fs::path> links_in(const fs::path& folder) {
  std::map<std::string, fs::path> links;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const std::string name = at->path().filename().string();
    if (!at->is_symlink(ignored) || name.starts_with('.')) continue;
    const fs::path target = fs::canonical(at->path(), ignored);
    links[name] = ignored ? fs::path() : target;
  }
  return links;
}

void move_link(const fs::path& link, const fs::path& folder) {
  make_directories(link.parent_path());
  std::error_code error;
  const fs::file_status there = fs::symlink_status(link, error);
  if (fs::exists(there) && !fs::is_symlink(there)) {
    throw Error("cannot make " + link.string() + " a link to " + folder.string() +
                    ": something else with that name is there; move it away",
                ExitCode::Infrastructure);
  }
  const fs::path fresh =
      link.parent_path() / fmt::format(".{}.{}.link", link.filename().string(), ::getpid());
  fs::remove(fresh, error);  // left by a process with our number that was killed right here
  fs::create_symlink(fs::relative(folder, link.parent_path()), fresh, error);
  if (!error) fs::rename(fresh, link, error);  // readers see the old link or the new one
  if (!error) return;
  std::error_code ignored;
  fs::remove(fresh, ignored);
  throw_file_error("move the link", link, error.value());
}

}  // namespace assay::app
