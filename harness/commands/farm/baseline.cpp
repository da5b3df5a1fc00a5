#include "harness/commands/farm/baseline.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/commands/farm/night_folder.h"
#include "harness/report/journal/checked_journal.h"
#include "harness/report/journal/find_rows.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

fs::path resolved(const fs::path& path) {
  std::error_code error;
  const fs::path canonical = fs::canonical(path, error);
  return error ? fs::path() : canonical;
}

/// A device's report in a night that became its last good one.
struct GoodReport {
  fs::path folder;
  std::string started_utc;
};

/// All of them below a farm's folder, the newest first.
std::vector<GoodReport> good_reports(const fs::path& farm, const std::string& slug) {
  std::vector<GoodReport> reports;
  std::error_code error;
  for (fs::directory_iterator night(farm, error), end; !error && night != end; night.increment(error)) {
    std::error_code ignored;
    if (night->is_symlink(ignored)) continue;  // DIR/latest
    const auto verdicts = earlier_verdicts(night_json_in(night->path()));
    const auto found = verdicts.find(slug);
    if (found == verdicts.end() || !found->second.became_last_good) continue;
    const fs::path folder = resolved(night->path() / found->second.report);
    if (!folder.empty()) reports.push_back({folder, found->second.started_utc});
  }
  std::ranges::sort(reports, std::greater{}, &GoodReport::started_utc);
  return reports;
}

class BaselineSearch {
 public:
  explicit BaselineSearch(const BaselineQuestion& question) : question_(question) {}

  Baseline found() && {
    std::error_code error;
    if (!fs::exists(fs::symlink_status(question_.link, error))) {
      baseline_.note = "no last good night yet";
      return std::move(baseline_);
    }
    const fs::path last_good = resolved(question_.link);
    if (is_of_this_night(last_good)) {
      take_earlier("this is the last good night");
    } else if (!take(last_good)) {
      take_one_before(last_good);
    } else if (baseline_.report->run.started_utc > question_.started_utc) {
      baseline_.is_of_later = true;
      take_earlier("the last good night is a later one, " + baseline_.report->run.run_id);
    }
    return std::move(baseline_);
  }

 private:
  bool is_of_this_night(const fs::path& report) const {
    return !report.empty() && *report.lexically_relative(question_.night).begin() != "..";
  }

  /// Takes the report that the earlier verdict on this night compared with.
  void take_earlier(const std::string& note) {
    baseline_.report.reset();
    const std::string& path = question_.earlier.last_good;
    const fs::path earlier = path.empty() ? fs::path() : resolved(question_.night / path);
    if (earlier.empty() || is_of_this_night(earlier)) {
      baseline_.note = note;
    } else if (!take(earlier)) {
      take_one_before(earlier);
    }
  }

  void take_one_before(const fs::path& lost) {
    for (const GoodReport& good : good_reports(question_.night.parent_path(), question_.slug)) {
      if (good.started_utc > question_.started_utc) baseline_.is_of_later = true;
      const bool is_before = good.started_utc < question_.started_utc && !is_of_this_night(good.folder);
      if (is_before && good.folder != lost && take(good.folder)) return;
    }
    baseline_.note = "nothing: no other good night before this one can be read";
  }

  /// Reads a report; without success, warns.
  bool take(const fs::path& folder) {
    std::string why = "the link " + question_.link.string() + " is dangling";
    try {
      const auto journal = folder.empty() ? std::nullopt : journal_in(folder);
      if (journal) {
        baseline_.report = read_checked_journal(*journal);
        baseline_.folder = folder;
        return true;
      }
      if (!folder.empty()) why = folder.string() + " holds no journal";
    } catch (const std::exception& error) {
      why = error.what();
    }
    baseline_.warnings.push_back(
        "its last good night cannot be read, so this night is not compared with it: " + why);
    return false;
  }

  const BaselineQuestion& question_;
  Baseline baseline_;
};

}  // namespace

Baseline find_baseline(const BaselineQuestion& question) {
  return BaselineSearch(question).found();
}

}  // namespace assay::app
