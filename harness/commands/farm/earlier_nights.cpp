#include "harness/commands/farm/earlier_nights.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/status.h"
#include "harness/cases/select.h"
#include "harness/commands/farm/night_folder.h"
#include "harness/report/journal/recorded_runs.h"

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

/// The row's time / the last good night's, without the machine's shift; 0: none.
double ratio_of(const RowVerdict& row) {
  return row.net_ratio > 0 ? row.net_ratio : row.ratio;
}

/// Whether tonight's run lost the row, which says nothing about it.
bool is_lost(const RowVerdict& row) {
  return row.next && class_of(row.next->status) == StatusClass::Infrastructure;
}

/// Whether a row is as good as in the last good night, so that a later change is a new one.
bool is_settled(const RowVerdict& row) {
  return row.verdict == Verdict::Same || row.verdict == Verdict::Faster;
}

/// Whether a worse row is no worse than when it was accepted, as far as its noise can show.
bool is_as_accepted(const RowVerdict& row, const AcceptedChange& change) {
  if (row.verdict != change.verdict) return false;
  if (row.verdict == Verdict::Broken || row.verdict == Verdict::Gone) return true;
  if (row.verdict != Verdict::Slower || !(change.ratio > 0)) return false;
  return ratio_of(row) <= change.ratio * (1 + row.needed_pct / 100);
}

class Acceptor {
 public:
  Acceptor(DeviceNight& device, const RowAcceptance& acceptance) : device_(device), acceptance_(acceptance) {}

  void row(const RowVerdict& row) {
    const bool is_worse = row.verdict && device_.failing.contains(*row.verdict);
    if (is_worse && is_named(row.info.id)) return accept(row);
    const auto before = acceptance_.before.find(key_of(row.info));
    if (before == acceptance_.before.end() || is_settled(row)) return;
    if (is_worse && !is_lost(row) && !is_as_accepted(row, before->second)) {
      device_.changed_again.insert(*before);
      return;
    }
    device_.accepted_changes.insert(*before);
    if (!is_worse || is_lost(row)) return;
    device_.carried_over.insert(before->first);
    ++device_.accepted;
  }

 private:
  bool is_named(const std::string& id) const {
    return acceptance_.ids.contains(id) ||
           std::ranges::any_of(acceptance_.globs,
                               [&](const std::string& glob) { return glob_matches(glob, id); });
  }

  void accept(const RowVerdict& row) {
    device_.accepted_rows.insert(row.info.id);
    device_.accepted_changes[key_of(row.info)] = {*row.verdict, ratio_of(row), acceptance_.night};
    ++device_.accepted;
  }

  DeviceNight& device_;
  const RowAcceptance& acceptance_;
};

}  // namespace

Baseline find_baseline(const BaselineQuestion& question) {
  return BaselineSearch(question).found();
}

std::map<RowKey, AcceptedChange> accepted_before(const ComparedNight& night) {
  EarlierVerdict newest;
  std::error_code error;
  for (fs::directory_iterator at(night.night.parent_path(), error), end; !error && at != end;
       at.increment(error)) {
    std::error_code ignored;
    if (at->is_symlink(ignored) || at->path() == night.night) continue;  // DIR/latest
    auto verdicts = earlier_verdicts(night_json_in(at->path()));
    const auto found = verdicts.find(night.slug);
    if (found == verdicts.end() || found->second.last_good_run != night.last_good_run) continue;
    const std::string& began = found->second.started_utc;
    if (began < night.started_utc && began > newest.started_utc) newest = std::move(found->second);
  }
  return std::move(newest.accepted_changes);
}

void accept_rows(DeviceNight& device, const RunComparison& comparison, const RowAcceptance& acceptance) {
  Acceptor acceptor(device, acceptance);
  for (const RowVerdict& row : comparison.rows) acceptor.row(row);
}

}  // namespace assay::app
