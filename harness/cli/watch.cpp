#include "harness/app/file_watch.h"
#include "harness/base/clock.h"
#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/cli/run_once.h"
#include "harness/report/console/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <functional>
#include <iostream>

namespace assay::cli {
namespace {

constexpr long look_every_ms = 200;
constexpr long settle_ms = 30;          // an editor may write a file in several steps
constexpr std::size_t named_files = 3;  // of those that changed

/// Thrown between two rows when somebody wants an end.
struct Interrupted {};

/// Ctrl-C as something to look for, not something that kills: a row comes to its end, its journal too. Made
/// before any other thread is, so that all of them leave the signal to this one.
class CtrlC {
 public:
  CtrlC() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }

  /// Waits so long; true when somebody wants an end.
  bool came_within(long ms) const {
    const timespec time{.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    return sigtimedwait(&signals_, nullptr, &time) > 0;
  }

 private:
  sigset_t signals_{};
};

/// One spelling a file: as it is called from here when it lies below, else from the root.
std::filesystem::path short_path(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
  if (error) return path;
  const std::filesystem::path from_here = std::filesystem::relative(whole, error);
  return error || from_here.empty() || *from_here.begin() == ".." ? whole : from_here;
}

class Watch {
 public:
  Watch(const RunOptions& options, const Context& context) : options_(options), context_(context) {}

  int run() try {
    first_run();
    while (!is_lost_) {
      const std::vector<std::filesystem::path> changed = wait_for_change();
      if (changed.empty()) break;
      run_again(changed);
    }
    if (is_lost_) std::cout << "the device is lost: watching ends\n";
    return static_cast<int>(code_);
  } catch (const Interrupted&) {
    return static_cast<int>(reports_.empty() ? ExitCode::Infrastructure : code_);
  }

 private:
  void first_run() {
    watch_files({});  // before the run: what is saved while it runs is not missed
    take(run_once(options_, context_, devices_, {std::cout, std::cerr, end_if_asked_}));
    std::cout << fmt::format("watching {}; Ctrl-C ends\n", described_roots()) << std::flush;
  }

  void run_again(const std::vector<std::filesystem::path>& changed) {
    const Stopwatch stopwatch;
    std::ostream nowhere(nullptr);
    std::cout << "\nchanged: " << names_of(changed) << std::endl;
    try {
      RunOutcome outcome = run_once(options_, context_, devices_, {nowhere, nowhere, end_if_asked_});
      if (outcome.reports.empty()) std::cout << "nothing was run: no case is left that can be\n";
      print_changes(outcome);
      take(std::move(outcome));
    } catch (const Error& error) {
      std::cout << "assay: " << error.what() << '\n';
      code_ = error.code();
    }
    std::cout << fmt::format("{} s\n", fixed(stopwatch.ms() / 1e3, 2)) << std::flush;
  }

  void print_changes(const RunOutcome& outcome) const {
    const bool color = console_options(false).color;
    for (std::size_t i = 0; i < outcome.reports.size(); ++i) {
      if (outcome.reports.size() > 1) std::cout << printable(outcome.reports[i].run.device.name) << '\n';
      std::cout << change_lines(i < reports_.size() ? reports_[i] : RunReport(), outcome.reports[i], color);
    }
  }

  void take(RunOutcome outcome) {
    code_ = outcome.code;
    watch_files(outcome.files);
    // A run without a report (a case file with a typo) leaves the last one to compare with.
    if (!outcome.reports.empty()) reports_ = std::move(outcome.reports);
    is_lost_ = std::ranges::any_of(reports_, [](const RunReport& report) {
      return std::ranges::any_of(report.records, [](const Record& record) {
        return record.status == Status::DeviceLost || record.status == Status::Timeout;
      });
    });
  }

  void watch_files(const std::vector<std::filesystem::path>& files) {
    std::vector<std::filesystem::path> roots = options_.cases.paths();
    for (const std::filesystem::path& folder : {options_.shaders, options_.versus_shaders}) {
      if (!folder.empty()) roots.push_back(folder);
    }
    roots.insert(roots.end(), files.begin(), files.end());
    for (std::filesystem::path& root : roots) root = short_path(root);
    watch_.watch(roots);
  }

  std::string described_roots() const {
    std::string text;
    for (const std::filesystem::path& path : options_.cases.paths())
      text += (text.empty() ? "" : ", ") + path.string();
    for (const std::filesystem::path& folder : {options_.shaders, options_.versus_shaders}) {
      if (!folder.empty()) text += ", " + folder.string();
    }
    return text + (options_.shaders.empty() ? " (no --shaders: the embedded ones cannot change)" : "");
  }

  /// The files that were saved; none when somebody wants an end.
  std::vector<std::filesystem::path> wait_for_change() {
    while (!ctrl_c_.came_within(look_every_ms)) {
      std::vector<std::filesystem::path> changed = watch_.changed();
      if (changed.empty()) continue;
      for (std::vector<std::filesystem::path> more = changed; !more.empty(); more = watch_.changed()) {
        changed.insert(changed.end(), more.begin(), more.end());
        if (ctrl_c_.came_within(settle_ms)) return {};
      }
      return changed;
    }
    return {};
  }

  static std::string names_of(std::vector<std::filesystem::path> files) {
    std::ranges::sort(files);
    files.erase(std::unique(files.begin(), files.end()), files.end());
    std::string names;
    for (std::size_t i = 0; i < std::min(files.size(), named_files); ++i)
      names += (names.empty() ? "" : ", ") + files[i].string();
    if (files.size() > named_files) names += fmt::format(" and {} more", files.size() - named_files);
    return names;
  }

  const RunOptions& options_;
  const Context& context_;
  CtrlC ctrl_c_;
  std::function<void()> end_if_asked_ = [this] {
    if (ctrl_c_.came_within(0)) throw Interrupted();
  };
  FileWatch watch_;
  std::unique_ptr<RunDevices> devices_;
  std::vector<RunReport> reports_;  ///< of the last run that had one, a device each
  ExitCode code_ = ExitCode::Fine;
  bool is_lost_ = false;
};

}  // namespace

int watch(const RunOptions& options, const Context& context) {
  return Watch(options, context).run();
}

}  // namespace assay::cli
