#include "harness/commands/farm/prune.h"

#include "harness/base/text.h"
#include "harness/commands/farm/farm_tree.h"
#include "harness/report/journal/journal.h"
#include "harness/report/journal/recorded_runs.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <ostream>
#include <set>
#include <span>
#include <system_error>
#include <utility>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* scratch = "scratch";

/// Whether `path` is `folder` or inside it.
bool is_in(const fs::path& path, const fs::path& folder) {
  const auto [rest, end] = std::mismatch(path.begin(), path.end(), folder.begin(), folder.end());
  return end == folder.end();
}

class Planner {
 public:
  Planner(const FarmTree& tree, const PruneRules& rules) : tree_(tree), rules_(rules) {
    for (const FarmNight& night : tree.nights) {
      if (!night.foreign.empty()) foreign_[night.path] = night.foreign;
      if (!night.is_night) no_nights_.insert(night.path);
    }
    for (const FarmReport& report : tree.reports) {
      if (report.is_written) written_.insert(report.root);
    }
    for (const FarmShards& shards : tree.shards) {
      if (shards.is_written) written_.insert(shards.night);
    }
  }

  PrunePlan plan() && {
    for (auto& [device, reports] : by_device()) {
      add_reports(reports);
    }
    remove_whole_nights();
    for (const PruneItem& report : plan_.reports) {
      if (report.is_removed && !is_removed_already(report.path)) remove(report.path, report.bytes);
    }
    for (const FarmShards& shards : tree_.shards) add_shards(shards);
    return std::move(plan_);
  }

 private:
  using Reports = std::vector<const FarmReport*>;

  /// The reports of each device, the newest first. Runs of a selection (scratch) are counted separately.
  std::map<std::pair<bool, std::string>, Reports> by_device() const {
    std::map<std::pair<bool, std::string>, Reports> devices;
    for (const FarmReport& report : tree_.reports)
      devices[{report.root == scratch, report.slug}].push_back(&report);
    for (auto& [device, reports] : devices) {
      std::ranges::sort(reports, [](const FarmReport* a, const FarmReport* b) {
        return std::pair(a->run_id, a->path) > std::pair(b->run_id, b->path);
      });
    }
    return devices;
  }

  /// A link that points to a folder, into it, or to a folder that contains it; empty: none.
  std::string link_to(const fs::path& path) const {
    for (const FarmLink& link : tree_.links) {
      if (is_in(link.target, path) || is_in(path, link.target)) return link.path.string();
    }
    return "";
  }

  /// Nothing says that such a folder is a night: it may be any output folder.
  static std::string no_night(const fs::path& folder) {
    return folder.string() + " is no night: it has neither nightly.json nor plan";
  }

  /// Why a report is kept; empty: it is removed. `age`: number of newer reports of the device.
  std::string why_kept(const FarmReport& report, std::size_t age) const {
    if (report.is_written) return "a run is writing it";
    if (age == 0) return "the newest of its device";
    if (const std::string link = link_to(report.path); !link.empty())
      return "the link " + link + " points to it";
    if (!report.foreign.empty()) return "it holds " + report.foreign;
    if (!report.root.empty() && written_.contains(report.root)) return "runs of its night have not ended";
    if (no_nights_.contains(report.root)) return no_night(report.root);
    if (const auto night = foreign_.find(report.root); night != foreign_.end())
      return "its night holds " + night->second;
    if (!rules_.keep && rules_.begun_before.empty()) return "only shards are removed";
    if (rules_.keep && age < *rules_.keep) return fmt::format("one of the newest {}", *rules_.keep);
    if (!rules_.begun_before.empty() && report.run_id >= rules_.begun_before) return "young enough";
    return "";
  }

  /// Reports of one night count as one, as a night may be concluded more than once.
  void add_reports(const Reports& reports) {
    std::map<fs::path, std::size_t> nights;
    std::size_t newer = 0;
    for (const FarmReport* report : reports) {
      const bool is_of_night = !report->root.empty() && report->root != scratch;
      const auto [night, is_new] = nights.try_emplace(is_of_night ? report->root : report->path, newer);
      newer += is_new ? 1 : 0;
      add_report(*report, night->second);
    }
  }

  void add_report(const FarmReport& report, std::size_t age) {
    const std::string why = why_kept(report, age);
    plan_.reports.push_back({.path = report.path,
                             .device = report.slug,
                             .bytes = report.bytes,
                             .is_removed = why.empty(),
                             .why = why.empty() ? fmt::format("{} newer", age) : why});
    if (!why.empty()) kept_roots_.insert(report.root);
    newest_root_ = std::max(newest_root_, std::pair(report.run_id, report.root));
  }

  void remove_whole_nights() {
    for (const FarmNight& night : tree_.nights) {
      const bool has_reports = std::ranges::any_of(
          tree_.reports, [&](const FarmReport& report) { return report.root == night.path; });
      if (!has_reports || kept_roots_.contains(night.path)) continue;
      if (!link_to(night.path).empty()) continue;
      remove(night.path, night.bytes);
    }
  }

  bool is_removed_already(const fs::path& path) const {
    return std::ranges::any_of(plan_.removals, [&](const fs::path& removed) { return is_in(path, removed); });
  }

  void remove(const fs::path& path, std::uintmax_t bytes) {
    plan_.removals.push_back(path);
    plan_.removed_bytes += bytes;
  }

  bool is_merged(const FarmShards& shards) const {
    return std::ranges::any_of(tree_.reports, [&](const FarmReport& report) {
      return report.root == shards.night && report.slug == shards.slug && report.is_complete &&
             !report.is_written;
    });
  }

  std::string why_kept(const FarmShards& shards) const {
    if (shards.is_written) return "a run is writing them";
    if (const std::string link = link_to(shards.path); !link.empty())
      return "the link " + link + " points to them";
    if (no_nights_.contains(shards.night)) return no_night(shards.night);
    if (!shards.foreign.empty()) return "they hold " + shards.foreign;
    if (!is_merged(shards)) return "no complete report was merged from them";
    if (!rules_.shards) return "--shards removes merged ones";
    if (newest_root_.second == shards.night) return "from the newest night";
    return "";
  }

  void add_shards(const FarmShards& shards) {
    const bool with_night = is_removed_already(shards.path);
    const std::string why = with_night ? "" : why_kept(shards);
    plan_.shards.push_back({.path = shards.path,
                            .device = shards.slug,
                            .bytes = shards.bytes,
                            .is_removed = why.empty(),
                            .why = !why.empty() ? why
                                   : with_night ? "with their night"
                                                : "merged"});
    if (why.empty() && !with_night) remove(shards.path, shards.bytes);
  }

  const FarmTree& tree_;
  const PruneRules& rules_;
  PrunePlan plan_;
  std::map<fs::path, std::string> foreign_;       ///< by night
  std::set<fs::path> no_nights_;                  ///< folders in the place of nights
  std::set<fs::path> written_;                    ///< nights with a run that has not ended
  std::set<fs::path> kept_roots_;                 ///< roots of reports that are kept
  std::pair<std::string, fs::path> newest_root_;  ///< id of the newest run, and its root
};

struct Totals {
  std::size_t kept = 0, removed = 0;
  std::uintmax_t kept_bytes = 0, removed_bytes = 0;

  void add(const PruneItem& item) {
    ++(item.is_removed ? removed : kept);
    (item.is_removed ? removed_bytes : kept_bytes) += item.bytes;
  }
};

std::string lines_of(std::span<const PruneItem> items) {
  std::string text;
  for (const PruneItem& item : items) {
    text += fmt::format("{}  {:>10}  {}  {}\n", item.is_removed ? "remove" : "keep  ", bytes_text(item.bytes),
                        printable(item.path.string()), printable(item.why));
  }
  return text;
}

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string totals_line(const std::string& of, const char* what, const Totals& totals, bool will) {
  return fmt::format("{}: {}, {}, {}; {}, {}, kept\n", printable(of), counted(totals.removed, what),
                     bytes_text(totals.removed_bytes), will ? "would be removed" : "removed", totals.kept,
                     bytes_text(totals.kept_bytes));
}

PruneRules rules_of(const PruneOptions& options) {
  if (!options.keep && !options.older_than_days && !options.shards) {
    throw Error(
        "removing old runs: say which: --keep N (all but the newest N reports of each device), --older-than "
        "DAYS, both (reports that are neither among the newest nor young), or --shards; --dry-run shows what "
        "would be removed");
  }
  PruneRules rules{.keep = options.keep, .shards = options.shards};
  if (options.older_than_days) {
    constexpr double seconds_per_day = 86400;
    const auto age =
        std::chrono::seconds(static_cast<std::int64_t>(*options.older_than_days * seconds_per_day));
    const auto when = std::chrono::system_clock::now() - age;
    // Run ids start with such a text.
    rules.begun_before =
        fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(when)));
  }
  return rules;
}

/// Removes folders below `top`, and reports failures.
class Remover {
 public:
  Remover(fs::path top, std::ostream& errors) : top_(std::move(top)), errors_(errors) {}

  /// Removes a folder. It is first renamed, so that the remains after a kill are not a report.
  void remove(const fs::path& folder) {
    const fs::path path = top_ / folder;
    const fs::path aside = path.parent_path() / (deleting_prefix + path.filename().string());
    std::error_code error;
    if (const auto journal = journal_in(path); journal && is_being_written(*journal)) {
      tell(folder, "a run has begun to write it");
      return;
    }
    fs::rename(path, aside, error);
    if (error) {
      tell(folder, error.message());
    } else {
      finish(aside.lexically_relative(top_));
    }
  }

  /// Removes a folder that has been renamed.
  void finish(const fs::path& folder) {
    std::error_code error;
    if (const auto journal = journal_in(top_ / folder))
      fs::remove(*journal, error);  // without it the folder is not a report
    fs::remove_all(top_ / folder, error);
    if (error) {
      tell(folder, error.message());
      return;
    }
    remove_empty_run(folder);
  }

  /// Removes a link to the newest run of a device, if that run no longer exists.
  void remove_dangling(const fs::path& link) {
    std::error_code error;
    const fs::file_status target = fs::status(top_ / link, error);
    if (target.type() != fs::file_type::not_found) return;
    if (fs::is_symlink(fs::symlink_status(top_ / link, error))) fs::remove(top_ / link, error);
  }

  bool has_failed() const { return has_failed_; }

 private:
  /// Removes the folder runs/<run> that contained a report, if it is empty now.
  void remove_empty_run(const fs::path& report) {
    const fs::path run = report.parent_path();
    std::error_code not_empty;
    if (run.parent_path().filename() == "runs") fs::remove(top_ / run, not_empty);
  }

  void tell(const fs::path& folder, const std::string& why) {
    has_failed_ = true;
    errors_ << fmt::format("removing {}: {}\n", printable((top_ / folder).string()), printable(why));
  }

  fs::path top_;
  std::ostream& errors_;
  bool has_failed_ = false;
};

}  // namespace

PrunePlan plan_prune(const FarmTree& tree, const PruneRules& rules) {
  return Planner(tree, rules).plan();
}

std::string prune_text(const PrunePlan& plan, bool will, std::optional<std::uintmax_t> free_bytes) {
  std::map<std::string, Totals> devices;
  Totals shards;
  for (const PruneItem& report : plan.reports) devices[report.device].add(report);
  for (const PruneItem& item : plan.shards) shards.add(item);
  std::string text = lines_of(plan.reports) + lines_of(plan.shards) + '\n';
  for (const auto& [device, totals] : devices) text += totals_line(device, "report", totals, will);
  if (!plan.shards.empty()) text += totals_line("shards", "folder", shards, will);
  text += fmt::format("in all: {}, {}, {}", counted(plan.removals.size(), "folder"),
                      bytes_text(plan.removed_bytes), will ? "would be removed" : "removed");
  return text + (free_bytes ? "; " + bytes_text(*free_bytes) + " are free\n" : "\n");
}

ExitCode prune(const PruneOptions& options, const Terminal& terminal) {
  const PruneRules rules = rules_of(options);
  const FarmTree tree = scan_farm(options.folder);
  const PrunePlan plan = plan_prune(tree, rules);
  const fs::path top = fs::canonical(options.folder);
  Remover remover(top, terminal.errors);
  if (!options.dry_run) {
    for (const fs::path& folder : tree.half_deleted) remover.finish(folder);
    for (const fs::path& folder : plan.removals) remover.remove(folder);
    for (const fs::path& link : tree.own_links) remover.remove_dangling(link);
  }
  terminal.out << prune_text(plan, options.dry_run, free_bytes(top));
  return remover.has_failed() ? ExitCode::Infrastructure : ExitCode::Fine;
}

}  // namespace assay::app
