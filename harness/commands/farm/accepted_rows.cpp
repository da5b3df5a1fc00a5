#include "harness/commands/farm/accepted_rows.h"

#include "harness/base/status.h"
#include "harness/cases/select.h"
#include "harness/commands/farm/night_folder.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

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
