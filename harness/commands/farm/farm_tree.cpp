#include "harness/commands/farm/farm_tree.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/commands/farm/night_folder.h"
#include "harness/report/journal/journal.h"
#include "harness/report/journal/journal_text.h"
#include "harness/report/journal/recorded_runs.h"
#include "harness/report/writers/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

namespace assay::app {

namespace fs = std::filesystem;

std::uintmax_t bytes_below(const fs::path& folder) {
  std::error_code error;
  std::uintmax_t bytes = 0;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (!fs::is_regular_file(at->symlink_status(ignored))) continue;
    const std::uintmax_t size = at->file_size(ignored);
    if (!ignored) bytes += size;  // it may have been renamed or removed meanwhile
  }
  return bytes;
}

std::optional<std::uintmax_t> free_bytes(const fs::path& path) {
  std::error_code error;
  const fs::space_info space = fs::space(path, error);
  return error ? std::nullopt : std::optional(space.available);
}

namespace {

namespace fs = std::filesystem;
using NameSet = std::set<std::string>;

constexpr const char* folder_of_runs = "runs";
constexpr const char* scratch_name = "scratch";

std::string name_of(const fs::path& path) {
  return path.filename().string();
}

bool is_temporary(const std::string& name) {
  return name.ends_with(".tmp") || (name.starts_with('.') && name.ends_with(".link"));
}

bool is_report_file(const std::string& name) {
  static const NameSet names = {journal_name, compressed_journal_name,
                                "accu.csv",   "perf.csv",
                                history_name, "perf.json",
                                "junit.xml",  "run.json",
                                "index.html", "page.html",
                                "report.html"};
  return names.contains(name) || is_temporary(name);
}

/// Whether a night's scripts write a file of this name into its folder.
bool is_night_file(const std::string& name) {
  static const NameSet names = {
      nightly_json_name, verdict_text_name, "console.txt", "devices.tsv", plan_name, "jobs",
      "exit_code",       "exit_code.new",   "index.html",  "page.html"};
  return names.contains(name) || is_temporary(name);
}
bool is_night_folder(const std::string& name) {
  static const NameSet names = {"console", "ceilings"};
  return names.contains(name);
}

constexpr const char* fuzz_name = "fuzz";

/// "20260102T030405Z-1a2b3c"
bool is_run_id(const std::string& name) {
  constexpr std::string_view shape = "00000000T000000Z-";
  if (name.size() <= shape.size()) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool fits = i >= shape.size() ? std::isxdigit(c) != 0
                      : shape[i] == '0' ? std::isdigit(c) != 0
                                        : name[i] == shape[i];
    if (!fits) return false;
  }
  return true;
}

bool is_number(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Whether a journal's last complete line says that the run is done. Always false for compressed journals.
bool ends_as_done(const fs::path& journal) {
  constexpr std::streamoff most = 200;  // more than the length of that line
  std::ifstream in(journal, std::ios::binary | std::ios::ate);
  in.seekg(-std::min<std::streamoff>(most, in.tellg()), std::ios::end);
  const std::string end{std::istreambuf_iterator<char>(in), {}};
  return end.ends_with("{\"event\":\"done\"}\n");
}

/// The entries of a folder in the order of their names, links not followed, and whether all could be read.
struct Listing {
  std::vector<fs::directory_entry> entries;
  bool is_whole = true;
};
Listing listing_of(const fs::path& folder) {
  Listing listing;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (const fs::directory_iterator end; !error && at != end; at.increment(error))
    listing.entries.push_back(*at);
  listing.is_whole = !error;
  std::ranges::sort(listing.entries, {}, [](const fs::directory_entry& entry) { return entry.path(); });
  return listing;
}

fs::file_type type_of(const fs::directory_entry& entry) {
  std::error_code error;
  return entry.symlink_status(error).type();
}

class Scan {
 public:
  explicit Scan(fs::path top) : top_(std::move(top)) {}

  FarmTree tree() && {
    const Listing listing = listing_of(top_);
    if (!listing.is_whole) throw_file_error("read the folder", top_, EACCES);
    for (const fs::directory_entry& entry : listing.entries) add_top(entry);
    return std::move(tree_);
  }

 private:
  fs::path relative(const fs::path& path) const { return path.lexically_relative(top_); }

  void add_top(const fs::directory_entry& entry) {
    const std::string name = name_of(entry.path());
    switch (type_of(entry)) {
      case fs::file_type::symlink:
        add_link(entry.path(), {});
        break;
      case fs::file_type::directory:
        if (name.starts_with(deleting_prefix)) {
          tree_.half_deleted.push_back(relative(entry.path()));
        } else if (name == folder_of_runs) {
          scan_runs(entry.path(), "");
        } else if (name == scratch_name) {
          scan_output(entry.path(), scratch_name);
        } else if (name == last_good_name) {
          for (const fs::directory_entry& link : listing_of(entry.path()).entries)
            if (type_of(link) == fs::file_type::symlink) add_link(link.path(), {});
        } else {
          scan_night(entry.path());
        }
        break;
      default:
        break;
    }
  }

  /// Notes a link. A link of `night` into itself does not protect its target, as a night is removed as a
  /// whole.
  void add_link(const fs::path& link, const fs::path& night) {
    std::error_code error;
    const fs::path text = fs::read_symlink(link, error);
    if (std::distance(text.begin(), text.end()) == 3 && text.begin()->string() == folder_of_runs)
      tree_.own_links.push_back(relative(link));
    const fs::path target = relative(fs::canonical(link, error));
    if (error || target.empty() || target.begin()->string() == "..") return;
    if (!night.empty() && *target.begin() == night) return;
    tree_.links.push_back({relative(link), target});
  }

  /// Scans an output folder that is not a night.
  void scan_output(const fs::path& folder, const fs::path& root) {
    for (const fs::directory_entry& entry : listing_of(folder).entries) {
      if (type_of(entry) == fs::file_type::symlink) add_link(entry.path(), {});
      if (type_of(entry) == fs::file_type::directory && name_of(entry.path()) == folder_of_runs)
        scan_runs(entry.path(), root);
    }
  }

  /// Returns the path of an entry that no run makes; empty if there is none.
  std::string scan_runs(const fs::path& runs, const fs::path& root) {
    std::string foreign;
    const Listing listing = listing_of(runs);
    if (!listing.is_whole) return relative(runs).string() + ", which cannot be read";
    for (const fs::directory_entry& run : listing.entries) {
      const std::string name = name_of(run.path());
      if (type_of(run) == fs::file_type::directory && is_run_id(name)) {
        if (const std::string other = scan_run(run.path(), root); !other.empty()) foreign = other;
      } else {
        foreign = relative(run.path()).string();
      }
    }
    return foreign;
  }

  std::string scan_run(const fs::path& run, const fs::path& root) {
    std::string foreign;
    const Listing listing = listing_of(run);
    if (!listing.is_whole) return relative(run).string() + ", which cannot be read";
    for (const fs::directory_entry& entry : listing.entries) {
      const std::string name = name_of(entry.path());
      const fs::file_type type = type_of(entry);
      if (type == fs::file_type::directory && name.starts_with(deleting_prefix)) {
        tree_.half_deleted.push_back(relative(entry.path()));
      } else if (type == fs::file_type::directory && !name.starts_with('.') && journal_in(entry.path())) {
        tree_.reports.push_back(report_in(entry.path(), root));
      } else if (!is_temporary(name)) {
        foreign = relative(entry.path()).string();
      }
    }
    return foreign;
  }

  FarmReport report_in(const fs::path& folder, const fs::path& root) const {
    const fs::path journal = *journal_in(folder);
    FarmReport report{.path = relative(folder),
                      .root = root,
                      .run_id = name_of(folder.parent_path()),
                      .slug = name_of(folder),
                      .bytes = bytes_below(folder),
                      .is_complete = ends_as_done(journal),
                      .is_written = is_being_written(journal)};
    const Listing listing = listing_of(folder);
    if (!listing.is_whole) report.foreign = "what cannot be read";
    for (const fs::directory_entry& entry : listing.entries) {
      if (type_of(entry) != fs::file_type::regular || !is_report_file(name_of(entry.path())))
        report.foreign = name_of(entry.path());
    }
    return report;
  }

  void scan_night(const fs::path& folder) {
    const fs::path name = folder.filename();
    std::error_code error;
    const auto has = [&](const char* entry) { return fs::exists(fs::symlink_status(folder / entry, error)); };
    if (!has(folder_of_runs) && !has(nightly_json_name) && !has(shards_name)) return;
    FarmNight night{.path = name, .bytes = bytes_below(folder)};
    const Listing listing = listing_of(folder);
    if (!listing.is_whole) night.foreign = "what cannot be read";
    for (const fs::directory_entry& entry : listing.entries) {
      if (const std::string foreign = add_to_night(night, entry); !foreign.empty()) night.foreign = foreign;
    }
    tree_.nights.push_back(std::move(night));
  }

  /// Returns what is not of a night.
  std::string add_to_night(FarmNight& night, const fs::directory_entry& entry) {
    const std::string name = name_of(entry.path());
    switch (type_of(entry)) {
      case fs::file_type::symlink:
        add_link(entry.path(), night.path);
        return leads_out(entry.path()) ? name + ", a link that leads out of it" : "";
      case fs::file_type::regular:
        night.is_night = night.is_night || name == nightly_json_name || name == plan_name;
        return is_night_file(name) ? "" : name;
      case fs::file_type::directory:
        if (name == folder_of_runs) return scan_runs(entry.path(), night.path);
        if (name == shards_name) return scan_shards(entry.path(), night.path);
        if (name.starts_with(deleting_prefix)) tree_.half_deleted.push_back(relative(entry.path()));
        if (name == fuzz_name) return found_by_fuzz(entry.path());
        return name.starts_with(deleting_prefix) || is_night_folder(name) ? "" : name;
      default:
        return name;
    }
  }

  /// The cases that `assay fuzz` wrote are nowhere else; without one its folders are a night's own.
  static std::string found_by_fuzz(const fs::path& folder) {
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
      // Where `assay fuzz` runs points: left by one that was killed.
      if (entry.depth() == 2 && entry->path().filename() == folder_of_runs) entry.disable_recursion_pending();
      if (!entry->is_directory(error))
        return fmt::format("{}/{}", fuzz_name, entry->path().lexically_relative(folder).string());
    }
    return error ? std::string(fuzz_name) + ", which cannot be read" : "";
  }

  static bool leads_out(const fs::path& link) {
    std::error_code error;
    const fs::path text = fs::read_symlink(link, error).lexically_normal();
    return error || text.is_absolute() || text.empty() || text.begin()->string() == "..";
  }

  std::string scan_shards(const fs::path& folder, const fs::path& night) {
    std::string foreign;
    const Listing listing = listing_of(folder);
    if (!listing.is_whole) return relative(folder).string() + ", which cannot be read";
    for (const fs::directory_entry& entry : listing.entries) {
      if (type_of(entry) != fs::file_type::directory) {
        foreign = relative(entry.path()).string();
      } else if (name_of(entry.path()).starts_with(deleting_prefix)) {
        tree_.half_deleted.push_back(relative(entry.path()));
      } else {
        tree_.shards.push_back(shards_in(entry.path(), night));
      }
    }
    return foreign;
  }

  FarmShards shards_in(const fs::path& folder, const fs::path& night) const {
    FarmShards shards{.path = relative(folder),
                      .night = night,
                      .slug = name_of(folder),
                      .bytes = bytes_below(folder),
                      .is_written = any_written(folder)};
    for (const fs::directory_entry& entry : listing_of(folder).entries) {
      if (type_of(entry) != fs::file_type::directory || !is_number(name_of(entry.path())))
        shards.foreign = name_of(entry.path());
    }
    return shards;
  }

  static bool any_written(const fs::path& folder) {
    std::error_code error;
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
    for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
      if (name_of(at->path()) == journal_name && is_being_written(at->path())) return true;
    }
    return false;
  }

  fs::path top_;
  FarmTree tree_;
};

}  // namespace

FarmTree scan_farm(const fs::path& folder) {
  std::error_code error;
  const fs::path top = fs::canonical(folder, error);
  if (error || !fs::is_directory(top, error)) {
    throw Error("removing old runs: " + folder.string() +
                " is no folder; name an output folder, or the folder that holds the nights");
  }
  if (fs::exists(top / nightly_json_name, error)) {
    throw Error("removing old runs: " + folder.string() +
                " is one night; name the folder that holds the nights, whose links say what is needed");
  }
  FarmTree tree = Scan(top).tree();
  if (tree.reports.empty() && tree.nights.empty() && tree.half_deleted.empty()) {
    throw Error("removing old runs: " + folder.string() +
                " holds no run and no night; name an output folder, or the folder that holds the nights");
  }
  return tree;
}

}  // namespace assay::app
