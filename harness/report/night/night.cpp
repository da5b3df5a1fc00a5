#include "harness/report/night/night.h"

#include "harness/base/clock.h"
#include "harness/base/names.h"
#include "harness/base/status.h"
#include "harness/report/compare/compare_text.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace assay {

namespace {

FailedRow failed_row(const Record& record) {
  std::string reason = record.reason;
  if (reason.empty() && record.accuracy) reason = describe(*record.accuracy);
  return {record.info, record.status, std::move(reason), record.repro};
}

/// Whether both sides are right, but their bits differ.
bool is_changed(const RowVerdict& row) {
  return row.base && row.next && row.base->status == Status::Pass && row.next->status == Status::Pass &&
         row.base->input_hash == row.next->input_hash && !row.base->output_hash.empty() &&
         !row.next->output_hash.empty() && row.base->output_hash != row.next->output_hash;
}

bool is_worse(const RowVerdict* row) {
  return row->verdict == Verdict::Broken || row->verdict == Verdict::Slower || row->verdict == Verdict::Gone;
}

}  // namespace

std::size_t RunDigest::count(StatusClass wanted) const {
  std::size_t sum = 0;
  for (const auto& [status, count] : statuses) sum += class_of(status) == wanted ? count : 0;
  return sum;
}

namespace {

/// The rows of a report; those that fail are new if they did not in `before`.
std::vector<RowOutcome> outcomes_of(const RunReport& report, const RunReport* before) {
  std::set<RowKey> failed_before;
  if (before) {
    for (const Record& record : before->records) {
      if (has_failed(record.status)) failed_before.insert(key_of(record.info));
    }
  }
  std::vector<RowOutcome> rows;
  for (const Record& record : report.records) {
    RowOutcome& row = rows.emplace_back(outcome_of(record));
    row.is_new = before && row.failure && !failed_before.contains(key_of(record.info));
  }
  return rows;
}

}  // namespace

RunDigest digest_of(const RunReport& report, const RunReport* before) {
  RunDigest digest{.run = report.run,
                   .complete = report.complete,
                   .cut_off = report.cut_off,
                   .rows = report.records.size()};
  std::vector<const Record*> bad;
  for (const Record& record : report.records) {
    ++digest.statuses[record.status];
    digest.rows_s += record.total_ms / ms_per_s;
    if (class_of(record.status) != StatusClass::Fine) bad.push_back(&record);
  }
  // Rows that never ran say less than failures, so they come last.
  std::stable_partition(bad.begin(), bad.end(),
                        [](const Record* record) { return record->status != Status::Missing; });
  for (std::size_t i = 0; i < std::min(bad.size(), most_listed_rows); ++i)
    digest.failures.push_back(failed_row(*bad[i]));
  digest.failures_left_out = bad.size() - digest.failures.size();
  digest.groups = failure_groups(outcomes_of(report, before));
  for (const FailureGroup& group : digest.groups)
    digest.examples.push_back(failed_row(report.records[group.example_row]));
  if (!digest.groups.empty()) digest.example = failure_text(report.records[digest.groups[0].example_row]);
  return digest;
}

ComparisonDigest digest_of(const RunComparison& comparison) {
  ComparisonDigest digest{
      .base = comparison.base.empty() ? RunInfo{} : comparison.base.front().run,
      .cross_device = comparison.cross_device,
      .machine = comparison.machines.empty() ? std::nullopt : std::optional(comparison.machines.front()),
      .totals = comparison.totals(),
      .without_verdict = comparison.without_verdict()};
  for (const RowVerdict& row : comparison.rows) {
    if (is_changed(row)) ++(row.next->is_exact ? digest.changed_exact : digest.changed_bounded);
  }
  std::vector<const RowVerdict*> shown = shown_rows(comparison, {.new_and_gone = true});
  // Rows that can make a night fail come first, as lists are cut.
  std::stable_partition(shown.begin(), shown.end(), is_worse);
  for (const RowVerdict* row : shown) {
    if (!row->verdict) continue;
    digest.rows.size() < most_listed_rows ? digest.rows.push_back(*row) : void(++digest.rows_left_out);
  }
  return digest;
}

namespace {

constexpr Names<night_verdict_count> verdict_names{"GOOD", "NOTHING_JUDGED", "REGRESSIONS", "FAILURES",
                                                   "INFRASTRUCTURE"};

/// How far the machine shifted, by what, and what to do.
std::string shift_sentence(const DeviceNight& device) {
  const MachineShift& shift = *device.shift();
  const bool is_measured = shift.evidence == ShiftEvidence::Measured;
  const std::string text = shift_text(shift) + ", since the last good night; " +
                           (is_measured ? "rows of other programs are judged against that"
                                        : "rows of other programs are AMBIGUOUS");
  if (device.is_accepted) return text + "; it was accepted";
  if (is_measured && !shift.is_finding()) return text;
  return text +
         "; look for other load, clocks or power limits and run again, or accept the machine as it is with "
         "--accept " +
         device.slug;
}

NightVerdict verdict_of(const RunDigest& run) {
  if (!run.complete || run.count(StatusClass::Infrastructure) > 0) return NightVerdict::Infrastructure;
  if (run.count(StatusClass::Failing) > 0) return NightVerdict::Failures;
  const bool judged = run.statuses.contains(Status::Pass) || run.statuses.contains(Status::ExpectedFail);
  return judged ? NightVerdict::Good : NightVerdict::NothingJudged;
}

}  // namespace

std::string_view name_of(NightVerdict verdict) {
  return name_in(verdict_names, verdict);
}

ExitCode exit_code(NightVerdict verdict) {
  switch (verdict) {
    case NightVerdict::Good:
      return ExitCode::Fine;
    case NightVerdict::NothingJudged:
      return ExitCode::Usage;
    case NightVerdict::Regressions:
    case NightVerdict::Failures:
      return ExitCode::Failures;
    case NightVerdict::Infrastructure:
      break;
  }
  return ExitCode::Infrastructure;
}

std::size_t DeviceNight::regressions() const {
  if (!last_good) return 0;
  std::size_t sum = 0;
  for (const auto& [verdict, count] : last_good->comparison.totals)
    sum += failing.contains(verdict) ? count : 0;
  return sum - std::min(sum, accepted);
}

bool DeviceNight::is_accepted_row(const RowInfo& row) const {
  return accepted_rows.contains(row.id) || carried_over.contains(key_of(row));
}

const MachineShift* DeviceNight::shift() const {
  if (!last_good || !last_good->comparison.machine) return nullptr;
  const MachineShift& machine = *last_good->comparison.machine;
  return machine.evidence == ShiftEvidence::None ? nullptr : &machine;
}

bool DeviceNight::has_shifted() const {
  return shift() && shift()->is_finding() && !is_accepted;
}

std::vector<std::string> DeviceNight::all_problems() const {
  std::vector<std::string> all = problems;
  if (has_shifted()) all.push_back(shift_sentence(*this));
  return all;
}

std::vector<std::string> DeviceNight::all_warnings() const {
  std::vector<std::string> all = warnings;
  if (shift() && !has_shifted()) all.push_back(shift_sentence(*this));
  return all;
}

std::vector<std::string> strict_notes(const DeviceNight& device) {
  std::vector<std::string> notes;
  if (!device.run || !device.has_strict_notes) return notes;
  for (const RuleNote& note : device.run->run.rule_notes) {
    notes.push_back(fmt::format("{}:{}: {} '{}': {}", note.where.file, note.where.line, note.state,
                                note.match, note.note));
  }
  return notes;
}

NightVerdict DeviceNight::verdict() const {
  if (!problems.empty() || !run || has_shifted()) return NightVerdict::Infrastructure;
  const NightVerdict own =
      has_strict_notes ? std::max(verdict_of(*run), NightVerdict::Failures) : verdict_of(*run);
  const bool is_worse = regressions() > 0 && !is_accepted;
  return is_worse ? std::max(own, NightVerdict::Regressions) : own;
}

NightVerdict Night::verdict() const {
  NightVerdict worst =
      problems.empty() && !devices.empty() ? NightVerdict::Good : NightVerdict::Infrastructure;
  for (const DeviceNight& device : devices) worst = std::max(worst, device.verdict());
  return worst;
}

std::size_t Night::good() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      devices, [](const DeviceNight& device) { return device.verdict() == NightVerdict::Good; }));
}

}  // namespace assay
