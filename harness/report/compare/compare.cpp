#include "harness/report/compare/compare.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/console/terminal_text.h"
#include "harness/report/record/device_name.h"
#include "harness/report/record/record.h"
#include "harness/report/record/run_kind.h"
#include "harness/report/writers/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>

namespace assay {
namespace {

/// Whether the row has one run per side, and these are two different runs.
bool is_of_two_runs(const RowVerdict& row) {
  return row.is_same_program && row.base->runs.size() == 1 && row.next->runs.size() == 1 &&
         row.base->runs != row.next->runs;
}

}  // namespace

std::vector<RunPair> run_pairs_of(const RunComparison& comparison) {
  std::vector<RunPair> pairs;
  for (const RunReport& base : comparison.base) {
    const std::string key = device_key(base.run);
    RunPair pair{.device = base.run.device.name,
                 .device_key = key,
                 .driver = driver_of(base.run.device),
                 .base_run = base.run.run_id};
    for (const RowVerdict& row : comparison.rows) {
      if (!is_of_two_runs(row) || row.base->runs.front() != pair.base_run || row.device_key != key) continue;
      pair.new_run = row.next->runs.front();
      ++pair.rows;
      pair.alarms += row.run_noise_pct > 0 ? 1 : 0;
      pair.largest_pct = std::max(pair.largest_pct, row.run_noise_pct);
    }
    if (pair.rows > 0) pairs.push_back(std::move(pair));
  }
  return pairs;
}

namespace {

std::set<std::string> devices_of(std::span<const RunReport> side) {
  std::set<std::string> keys;
  for (const RunReport& report : side) keys.insert(device_key(report.run));
  return keys;
}

void refuse_doubles(std::span<const RunReport> side, const char* name) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const RunReport& report : side) {
    if (seen.emplace(report.run.run_id, device_key(report.run)).second) continue;
    throw Error("comparing runs: the " + std::string(name) + " side has run " + printable(report.run.run_id) +
                " twice; its blocks would be counted twice");
  }
}

/// Runs of other programs are not compared, on either side. The validation layer may be on in some: their
/// times are suspect (suspicion()), and their answers are compared.
void refuse_other_kinds(const PooledRuns& base, const PooledRuns& next) {
  if (base.runs.empty()) return;
  const RunInfo& first = base.runs.front().run;
  const RunKind kind = kind_of_run(first);
  for (const PooledRuns* side : {&base, &next}) {
    for (const RunReport& report : side->runs) {
      const RunKind other = kind_of_run(report.run);
      if (have_comparable_answers(kind, other)) continue;
      throw Error(fmt::format(
          "comparing runs: run {} is {}, and run {} is {}; a run with robust access or with the limits of a "
          "profile (--as-if) is compared only with runs of its kind",
          printable(first.run_id), kind_text(kind), printable(report.run.run_id), kind_text(other)));
    }
  }
}

struct Records {
  std::vector<std::size_t> runs;
  std::vector<Record*> records;
};

/// The key by which rows are matched: device (empty if `cross_device`) and row.
using MeetingKey = std::pair<std::string, RowKey>;

MeetingKey meeting_key(const PooledRuns& side, const PooledRuns::Row& row, bool cross_device) {
  return {cross_device ? "" : device_key(side.runs[row.run].run), key_of(*row.side.info)};
}

struct Meeting {
  PooledRuns::Row* base = nullptr;
  PooledRuns::Row* next = nullptr;
};

/// The matched rows of both sides: the base's in its order, then those that only the new side has.
std::vector<Meeting> meetings_of(PooledRuns& base, PooledRuns& next, bool cross_device) {
  std::vector<Meeting> meetings;
  std::map<MeetingKey, std::size_t> index;
  for (PooledRuns::Row& row : base.rows) {
    index.emplace(meeting_key(base, row, cross_device), meetings.size());
    meetings.push_back({.base = &row});
  }
  for (PooledRuns::Row& row : next.rows) {
    const auto met = index.find(meeting_key(next, row, cross_device));
    if (met == index.end()) {
      meetings.push_back({.next = &row});
    } else {
      meetings[met->second].next = &row;
    }
  }
  return meetings;
}

/// With a tuning file a row may run another program than without: the difference is the file's, of no commit.
void refuse_other_tuning(const std::vector<Meeting>& meetings) {
  std::vector<std::string> ids;
  for (const Meeting& meeting : meetings) {
    if (!meeting.base || !meeting.next) continue;
    std::set<std::string> tunings, tunables;
    for (const PooledRuns::Row* row : {meeting.base, meeting.next}) {
      tunings.insert(row->side.tunings.begin(), row->side.tunings.end());
      tunables.insert(row->side.tunables.begin(), row->side.tunables.end());
    }
    if (tunings.size() > 1 && tunables.size() > 1) ids.push_back(printable(meeting.base->side.info->id));
  }
  if (ids.empty()) return;
  throw Error(fmt::format(
      "comparing runs: {} timed with other defaults of a tuning file in some runs than in others, such as "
      "{}; run one side again with the other's --tuning, or give --allow-tuning to compare them anyway",
      ids.size() == 1 ? "a row was" : fmt::format("{} rows were", ids.size()), ids.front()));
}

std::string side_words(const PooledRuns& side) {
  std::set<std::string> devices;
  for (const RunReport& report : side.runs) devices.insert(printable(report.run.device.name));
  std::string text = std::to_string(side.records) + " rows on ";
  for (const std::string& device : devices) text += (device == *devices.begin() ? "" : ", ") + device;
  return text;
}

/// The known run noise of the device of each run of a side.
std::vector<std::optional<double>> known_noise(const PooledRuns& side, const RunNoise& noise) {
  std::vector<std::optional<double>> known;
  for (const RunReport& report : side.runs) known.push_back(noise.between_runs_pct(report.run));
  return known;
}

std::vector<const RunInfo*> runs_on(const PooledRuns& side, const std::string& device) {
  std::vector<const RunInfo*> runs;
  for (const RunReport& report : side.runs) {
    if (device_key(report.run) == device) runs.push_back(&report.run);
  }
  return runs;
}

/// What both sides know about each device that both have.
std::map<std::string, MachineEvidence> machine_evidence(const std::vector<Meeting>& meetings,
                                                        const PooledRuns& base, const PooledRuns& next) {
  std::map<std::string, MachineEvidence> evidence;
  for (const Meeting& meeting : meetings) {
    if (!meeting.base || !meeting.next) continue;
    evidence[device_key(next.runs[meeting.next->run].run)].rows.emplace_back(&meeting.base->side,
                                                                             &meeting.next->side);
  }
  for (auto& [device, known] : evidence) {
    known.base = runs_on(base, device);
    known.next = runs_on(next, device);
  }
  return evidence;
}

/// The shift of each device. It has to be larger than what two runs may differ by anyway.
std::vector<MachineShift> machine_shifts(const std::map<std::string, MachineEvidence>& evidence,
                                         const CompareOptions& options, const RunNoise& noise) {
  std::vector<MachineShift> shifts;
  for (const auto& [device, known] : evidence) {
    const bool has_one_run = std::min(known.base.size(), known.next.size()) == 1;
    const double between_pct = noise.between_runs_pct(*known.next.back()).value_or(options.between_runs_pct);
    const double least_pct = std::max(options.smallest_effect_pct, has_one_run ? between_pct : 0);
    MachineShift& shift = shifts.emplace_back(machine_shift(known, least_pct));
    shift.device = known.next.back()->device.name;
    shift.device_key = device;
    shift.is_ignored = options.judge_same_programs;
  }
  return shifts;
}

const MachineShift* shift_of(const std::vector<MachineShift>& machines, const std::string& device) {
  const auto at = std::ranges::find(machines, device, &MachineShift::device_key);
  return at == machines.end() || at->is_ignored ? nullptr : &*at;
}

std::optional<RowSide> side_of(PooledRuns::Row* row) {
  return row ? std::optional(std::move(row->side)) : std::nullopt;
}

// The means are sums of logarithms until finish().
void add_to_mean(const RowVerdict& row, GeometricMean& mean) {
  mean.ratio += std::log(row.ratio);
  ++mean.rows;
  mean.significant += row.is_significant ? 1 : 0;
  if (!(row.peak_ratio > 0)) return;
  mean.peak_ratio += std::log(row.peak_ratio);
  ++mean.peak_rows;
}

void add_to_means(const RowVerdict& row, RunComparison& comparison) {
  if (!(row.ratio > 0) || row.verdict == Verdict::Suspect) return;
  std::vector<GeometricMean>& means = comparison.means;
  const std::string cache = key_of(row.info).cache;
  auto mean = std::ranges::find_if(means, [&](const GeometricMean& other) {
    return std::tie(other.op, other.impl, other.cache) == std::tie(row.info.op, row.info.impl, cache);
  });
  if (mean == means.end())
    mean = means.insert(means.end(), {.op = row.info.op, .impl = row.info.impl, .cache = cache, .ratio = 0});
  add_to_mean(row, *mean);
  add_to_mean(row, comparison.mean_of_all);
}

void finish(GeometricMean& mean) {
  if (mean.rows > 0) mean.ratio = std::exp(mean.ratio / static_cast<double>(mean.rows));
  if (mean.peak_rows > 0) mean.peak_ratio = std::exp(mean.peak_ratio / static_cast<double>(mean.peak_rows));
}

}  // namespace

std::map<Verdict, std::size_t> RunComparison::totals() const {
  std::map<Verdict, std::size_t> counts;
  for (const RowVerdict& row : rows) {
    if (row.verdict) ++counts[*row.verdict];
  }
  return counts;
}

std::size_t RunComparison::without_verdict() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(rows, [](const RowVerdict& row) { return !row.verdict; }));
}

void refuse_run_on_both_sides(const PooledRuns& base, const PooledRuns& next) {
  for (const RunReport& one : base.runs) {
    for (const RunReport& other : next.runs) {
      if (one.run.run_id != other.run.run_id || device_key(one.run) != device_key(other.run)) continue;
      throw Error("comparing runs: both sides are run " + printable(one.run.run_id) + " of " +
                  printable(one.run.device.name) + ", which cannot differ from itself; give two runs");
    }
  }
}

PooledRuns pool_side(std::vector<RunReport> reports) {
  PooledRuns side;
  std::vector<Records> rows;
  std::map<MeetingKey, std::size_t> index;
  for (RunReport& report : reports) {
    const std::string device = device_key(report.run);
    for (Record& record : report.records) {
      const auto [at, is_new] = index.try_emplace({device, key_of(record.info)}, rows.size());
      if (is_new) rows.emplace_back();
      rows[at->second].runs.push_back(side.runs.size());
      rows[at->second].records.push_back(&record);
    }
    side.records += report.records.size();
    side.runs.push_back({.run = report.run, .complete = report.complete, .cut_off = report.cut_off});
  }
  index.clear();
  side.rows.reserve(rows.size());
  for (const Records& row : rows) {
    std::vector<const RunInfo*> runs;
    for (const std::size_t run : row.runs) runs.push_back(&side.runs[run].run);
    side.rows.push_back({row.runs.back(), pool_runs(runs, {row.records.begin(), row.records.end()})});
    for (Record* record : row.records) *record = {};  // the records of a large run take much memory
  }
  return side;
}

RunComparison compare_runs(std::vector<RunReport> base, std::vector<RunReport> next, CompareOptions options,
                           const RunNoise& noise) {
  return compare_runs(pool_side(std::move(base)), pool_side(std::move(next)), options, noise);
}

RunComparison compare_runs(PooledRuns base, PooledRuns next, CompareOptions options, const RunNoise& noise) {
  refuse_doubles(base.runs, "base");
  refuse_doubles(next.runs, "new");
  refuse_other_kinds(base, next);
  const std::set<std::string> before = devices_of(base.runs), now = devices_of(next.runs);
  options.cross_device = before.size() == 1 && now.size() == 1 && before != now;
  const std::vector<Meeting> meetings = meetings_of(base, next, options.cross_device);
  if (std::ranges::none_of(meetings, [](const Meeting& meeting) { return meeting.base && meeting.next; })) {
    throw Error("comparing runs: the two sides have no row in common (base: " + side_words(base) +
                "; new: " + side_words(next) + "); compare runs of the same case files");
  }
  if (!options.allow_tuning) refuse_other_tuning(meetings);
  RunComparison comparison{.cross_device = options.cross_device, .mean_of_all = {.ratio = 0}};
  if (!options.cross_device)
    comparison.machines = machine_shifts(machine_evidence(meetings, base, next), options, noise);
  const std::vector<std::optional<double>> known_pct = known_noise(next, noise);
  const double unknown_pct = options.between_runs_pct;
  comparison.rows.reserve(meetings.size());
  for (const Meeting& meeting : meetings) {
    const RunInfo& run = (meeting.next ? next.runs[meeting.next->run] : base.runs[meeting.base->run]).run;
    const std::optional<double> known = meeting.next ? known_pct[meeting.next->run] : std::nullopt;
    options.between_runs_pct = known.value_or(unknown_pct);
    const std::string device = device_key(run);
    RowVerdict& row = comparison.rows.emplace_back(row_verdict(
        side_of(meeting.base), side_of(meeting.next), options, shift_of(comparison.machines, device)));
    row.device = run.device.name;
    row.device_key = device;
    comparison.expected_separations += row.chance;
    comparison.judged += row.chance > 0 ? 1 : 0;
    comparison.knows_run_noise = comparison.knows_run_noise && (known || row.between_runs_pct == 0);
    add_to_means(row, comparison);
  }
  explain_default_impls(comparison.rows);
  std::ranges::for_each(comparison.means, finish);
  finish(comparison.mean_of_all);
  comparison.base = std::move(base.runs);
  comparison.next = std::move(next.runs);
  return comparison;
}

namespace {

/// What the rows of a case's impls share: device, mode, cache and the id up to the impl.
using CaseKey = std::tuple<std::string, std::string, std::string, std::string>;

struct CaseRows {
  RowVerdict* gone = nullptr;
  RowVerdict* chosen = nullptr;  ///< NEW with impl auto
  bool has_others = false;       ///< rows of further impls: the case names its impls
};

CaseKey case_of(const RowVerdict& row) {
  const RowKey key = key_of(row.info);
  return {row.device_key, key.mode, key.cache, key.id.substr(0, key.id.rfind('/' + row.info.impl))};
}

void add(CaseRows& rows, RowVerdict& row) {
  RowVerdict** place = row.verdict == Verdict::Gone                             ? &rows.gone
                       : row.verdict == Verdict::New && row.info.impl == "auto" ? &rows.chosen
                                                                                : nullptr;
  if (place == nullptr || *place != nullptr) {
    rows.has_others = true;
  } else {
    *place = &row;
  }
}

constexpr std::size_t most_groups = 20;

bool is_broken(const RowVerdict& row) {
  return row.verdict == Verdict::Broken && row.next && row.next->failure;
}

/// The new side of a row; one that has none was not tried.
RowOutcome outcome_of(const RowVerdict& row) {
  if (!row.next) return {.info = &row.info};
  RowOutcome outcome{.info = &row.info, .status = row.next->status};
  if (is_broken(row)) outcome.failure = row.next->failure;
  return outcome;
}

std::string more_text(const std::vector<FailureGroup>& groups) {
  return groups.size() > most_groups
             ? fmt::format("and {} more kinds of failures\n", groups.size() - most_groups)
             : "";
}

std::string listing_text(const FailureGroup& group) {
  return fmt::format("--all lists each row; `assay show NEW {}` those of the first kind",
                     printable(listing_option(group)));
}

}  // namespace

void explain_default_impls(std::span<RowVerdict> rows) {
  std::map<CaseKey, CaseRows> cases;
  for (RowVerdict& row : rows) add(cases[case_of(row)], row);
  for (auto& entry : cases) {
    CaseRows& of = entry.second;
    if (of.gone == nullptr || of.chosen == nullptr || of.has_others) continue;
    const auto why = [&](const RowInfo& other) {
      return fmt::format("; a case without `impl:` ran {} and now runs auto: {} is the same case",
                         printable(of.gone->info.impl), printable(other.id));
    };
    of.gone->reason += why(of.chosen->info);
    of.chosen->reason += why(of.gone->info);
  }
}

bool has_broken_groups(const RunComparison& comparison) {
  return std::ranges::count_if(comparison.rows, is_broken) > static_cast<std::ptrdiff_t>(most_single_broken);
}

std::vector<FailureGroup> broken_groups(const RunComparison& comparison) {
  if (!has_broken_groups(comparison)) return {};
  std::vector<RowOutcome> rows;
  for (const RowVerdict& row : comparison.rows) rows.push_back(outcome_of(row));
  return failure_groups(rows);
}

std::string broken_groups_text(const RunComparison& comparison, bool color) {
  const std::vector<FailureGroup> groups = broken_groups(comparison);
  if (groups.empty()) return "";
  const std::string word(name_of(Verdict::Broken)), indent(word.size() + 4, ' ');
  std::string text;
  for (std::size_t i = 0; i < std::min(groups.size(), most_groups); ++i) {
    const FailureGroup& group = groups[i];
    text += "  " + painted(word, ink_of(Verdict::Broken), color) + "  " + printable(group_text(group)) + '\n';
    text += indent + printable(group.example) + '\n';
    if (!group.story.empty()) text += indent + painted(printable(group.story), Ink::Dim, color) + '\n';
  }
  return text + more_text(groups) + "      " + listing_text(groups.front()) + "\n\n";
}

std::string broken_groups_markdown(const RunComparison& comparison) {
  const std::vector<FailureGroup> groups = broken_groups(comparison);
  if (groups.empty()) return "";
  std::string text = "\n";
  for (std::size_t i = 0; i < std::min(groups.size(), most_groups); ++i) {
    const FailureGroup& group = groups[i];
    text += fmt::format("- {}: {}, {}{}\n", name_of(Verdict::Broken), markdown_cell(group_text(group)),
                        markdown_cell(group.example),
                        group.story.empty() ? "" : ": " + markdown_cell(group.story));
  }
  return text + more_text(groups);
}

}  // namespace assay
