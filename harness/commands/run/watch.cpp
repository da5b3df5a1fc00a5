#include "harness/commands/run/watch.h"

#include "harness/base/clock.h"
#include "harness/base/file.h"
#include "harness/base/hash.h"
#include "harness/base/text.h"
#include "harness/commands/run/run_once.h"
#include "harness/report/console/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <ostream>
#include <system_error>

namespace assay::app {

namespace {

namespace fs = std::filesystem;

std::optional<std::string> hash_of_file(const fs::path& file) {
  const std::optional<std::string> text = whole_file(file);
  return text ? std::optional(hash_hex(*text)) : std::nullopt;
}

}  // namespace

void FileWatch::watch(std::span<const fs::path> files_or_folders) {
  roots_.assign(files_or_folders.begin(), files_or_folders.end());
  const Contents now = look();
  for (const auto& [file, content] : now) known_.try_emplace(file, content);
  std::erase_if(known_, [&](const auto& known) { return !now.contains(known.first); });
}

std::vector<fs::path> FileWatch::changed() {
  Contents now = look();
  std::vector<fs::path> files;
  for (const auto& [file, content] : now) {
    const auto before = known_.find(file);
    if (before == known_.end() || before->second.hash != content.hash) files.push_back(file);
  }
  for (const auto& [file, content] : known_) {
    if (!now.contains(file)) files.push_back(file);
  }
  known_ = std::move(now);
  return files;
}

FileWatch::Contents FileWatch::look() const {
  Contents seen;
  for (const fs::path& root : roots_) {
    std::error_code error;
    if (!fs::is_directory(root, error)) {
      add(root, seen);
      continue;
    }
    // Files may come and go while a folder is read: a file that is missed now is seen the next time.
    for (fs::recursive_directory_iterator at(root, error), end; !error && at != end; at.increment(error)) {
      if (at->path().filename() == "assay-out")
        at.disable_recursion_pending();  // runs themselves write there
      add(at->path(), seen);
    }
  }
  return seen;
}

void FileWatch::add(const fs::path& file, Contents& seen) const {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return;
  Content content{.time = fs::last_write_time(file, error)};
  if (!error) content.size = fs::file_size(file, error);
  if (error) return;
  const auto known = known_.find(file);
  const bool same =
      known != known_.end() && known->second.time == content.time && known->second.size == content.size;
  const std::optional<std::string> hash = same ? known->second.hash : hash_of_file(file);
  if (!hash) return;
  content.hash = *hash;
  seen.emplace(file, std::move(content));
}

namespace {

constexpr std::chrono::milliseconds look_every{200};
constexpr std::chrono::milliseconds settle_time{30};  // an editor may write a file in several steps
constexpr std::size_t named_files = 3;                // number of changed files that are named

/// A unique path of a file: relative if it is below the current folder, else absolute.
std::filesystem::path short_path(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
  if (error) return path;
  const std::filesystem::path from_here = std::filesystem::relative(whole, error);
  return error || from_here.empty() || *from_here.begin() == ".." ? whole : from_here;
}

std::string names_of(std::vector<std::filesystem::path> files) {
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return first_names({files.begin(), files.end()}, named_files);
}

class Watch {
 public:
  Watch(const RunOptions& options, const Context& context, const Terminal& terminal, StopSignal& stop)
      : options_(options), context_(context), terminal_(terminal), stop_(stop), session_(options) {}

  ExitCode run() {
    first_run();
    while (!is_lost_ && !interrupted_) {
      const std::vector<std::filesystem::path> changed = wait_for_change();
      if (changed.empty()) break;
      run_again(changed);
    }
    if (is_lost_) terminal_.out << "the device is lost: watching ends\n";
    return code_;
  }

 private:
  void first_run() {
    watch_files({});  // before the run, so that files saved during it are not missed
    take(run_once(options_, context_, session_, terminal_, stop_requested_));
    if (!interrupted_)
      terminal_.out << fmt::format("watching {}; Ctrl-C ends\n", printable(described_roots())) << std::flush;
  }

  void run_again(const std::vector<std::filesystem::path>& changed) {
    const Stopwatch stopwatch;
    std::ostream nowhere(nullptr);
    terminal_.out << "\nchanged: " << printable(names_of(changed)) << std::endl;
    try {
      RunOutcome outcome =
          run_once(options_, context_, session_, {nowhere, nowhere, terminal_.errors}, stop_requested_);
      if (outcome.reports.empty()) terminal_.out << "nothing was run: no case is left to run\n";
      if (!ends_watching(outcome)) print_changes(outcome);
      take(std::move(outcome));
    } catch (const Error& error) {
      terminal_.out << "assay: " << printable(error.what()) << '\n';
      code_ = error.code();
    }
    if (!interrupted_) terminal_.out << fmt::format("{} s\n", fixed(stopwatch.ms() / 1e3, 2)) << std::flush;
  }

  void print_changes(const RunOutcome& outcome) const {
    for (std::size_t i = 0; i < outcome.reports.size(); ++i) {
      if (outcome.reports.size() > 1) terminal_.out << printable(outcome.reports[i].run.device.name) << '\n';
      terminal_.out << change_lines(i < reports_.size() ? reports_[i] : RunReport(), outcome.reports[i],
                                    terminal_.console.color);
    }
  }

  /// A run that --max-failures stopped does not end watching.
  static bool ends_watching(const RunOutcome& outcome) {
    return outcome.interrupted && outcome.failure_limit == 0;
  }

  void take(RunOutcome outcome) {
    code_ = outcome.code;
    interrupted_ = ends_watching(outcome);
    if (outcome.interrupted) terminal_.out << interrupted_line(outcome) << std::flush;
    watch_files(outcome.files);
    is_lost_ = !interrupted_ && lost_device();
    // After a run without a report (a case file with a typo), the next one is compared with the last report.
    if (!outcome.reports.empty()) reports_ = std::move(outcome.reports);
  }

  std::vector<std::filesystem::path> shader_folders() const {
    std::vector<std::filesystem::path> folders;
    for (const std::filesystem::path& folder : {options_.shaders, options_.versus_shaders}) {
      if (!folder.empty()) folders.push_back(folder);
    }
    return folders;
  }

  bool lost_device() const {
    return session_.devices && std::ranges::any_of(session_.devices->opened(), [](const auto& opened) {
             return !opened.device->alive();
           });
  }

  void watch_files(const std::vector<std::filesystem::path>& files) {
    std::vector<std::filesystem::path> roots = options_.cases.paths();
    const std::vector<std::filesystem::path> shaders = shader_folders();
    roots.insert(roots.end(), shaders.begin(), shaders.end());
    roots.insert(roots.end(), options_.cases.op_folders.begin(), options_.cases.op_folders.end());
    roots.insert(roots.end(), files.begin(), files.end());
    for (std::filesystem::path& root : roots) root = short_path(root);
    watch_.watch(roots);
  }

  std::string described_roots() const {
    std::string text;
    for (const std::filesystem::path& path : options_.cases.paths())
      text += (text.empty() ? "" : ", ") + path.string();
    for (const std::filesystem::path& folder : shader_folders()) text += ", " + folder.string();
    const bool has_kernels = !options_.shaders.empty() || !options_.cases.op_folders.empty();
    return text + (has_kernels ? "" : " (no --shaders: the embedded ones cannot change)");
  }

  /// The files that were saved; none if a stop is requested.
  std::vector<std::filesystem::path> wait_for_change() {
    while (!stop_.requested_within(look_every)) {
      std::vector<std::filesystem::path> changed = watch_.changed();
      if (changed.empty()) continue;
      for (std::vector<std::filesystem::path> more = changed; !more.empty(); more = watch_.changed()) {
        changed.insert(changed.end(), more.begin(), more.end());
        if (stop_.requested_within(settle_time)) return {};
      }
      return changed;
    }
    return {};
  }

  const RunOptions& options_;
  const Context& context_;
  const Terminal& terminal_;
  StopSignal& stop_;
  const std::function<bool()> stop_requested_ = [this] { return stop_.requested(); };
  Session session_;
  FileWatch watch_;
  std::vector<RunReport> reports_;  ///< from the last run that had any, one per device
  ExitCode code_ = ExitCode::Fine;
  bool interrupted_ = false;
  bool is_lost_ = false;
};

}  // namespace

ExitCode watch(const RunOptions& options, const Context& context, const Terminal& terminal,
               StopSignal& stop) {
  return Watch(options, context, terminal, stop).run();
}

}  // namespace assay::app
