#include "harness/commands/farm/prune.h"

#include "harness/base/text.h"
#include "harness/commands/farm/farm_tree.h"
#include "harness/commands/farm/prune_plan.h"
#include "harness/report/journal/find_rows.h"
#include "harness/report/journal/journal.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ostream>
#include <system_error>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

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
