#include "harness/report/compare/row_side.h"

#include "harness/base/statistics.h"
#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/record/compared_rows.h"
#include "harness/report/record/record.h"
#include "harness/report/record/words.h"

#include <algorithm>
#include <utility>

namespace assay {
namespace {

void add_once(std::vector<std::string>& list, std::string text) {
  if (std::ranges::find(list, text) == list.end()) list.push_back(std::move(text));
}

// 0: right. A failing row is worse than one that was left out.
int badness(Status status) {
  switch (status) {
    case Status::Pass:
    case Status::UnexpectedPass:
      return 0;
    case Status::Unsupported:
    case Status::Invalid:
    case Status::Skipped:
    case Status::ExpectedFail:
    case Status::Missing:
    case Status::Interrupted:
      return 1;
    case Status::Suspect:
      return 2;
    default:
      return 3;
  }
}

void add_time(RowSide& side, const RunInfo& run, const Record& record) {
  const PerfResult& perf = *record.perf;
  for (const std::vector<double>& block : perf.sample_us) {
    if (block.empty()) continue;
    side.block_us.push_back(median(block));
    side.samples += static_cast<int>(block.size());
  }
  add_once(side.programs, perf.program_hash);
  add_once(side.clocks, perf.clock);
  add_once(side.tunes, record.info.tune);
  add_once(side.tunings, tuned_values(record.info.tuned));
  add_once(side.tunables, all_tunables(record.info.tune, record.info.tuned));
  if (side.suspect.empty()) side.suspect = suspicion(run, record);
  const double sample_us = perf.time_us_p50 * std::max(1, perf.batch);
  if (sample_us > 0 && perf.clock != "wall")
    side.timer_pct = std::max(side.timer_pct, 100 * run.timer.unit_ns / 1e3 / sample_us);
  side.limited_by = perf.limited_by;
}

// Computes the figures that perf.csv has for one run over all runs of the side.
void summarize_samples(RowSide& side, std::vector<double> samples_us) {
  if (samples_us.empty()) return;
  side.time_us = median(std::move(samples_us));
  if (!(side.time_us > 0)) return;
  side.spread_pct = 100 * (side.highest_us() - side.lowest_us()) / side.time_us;
  side.ci_pct = interval_pct(side.block_us);
}

void add_task(RowSide& side, const Record& record) {
  const std::string hash = record.accuracy ? record.accuracy->input_hash : "";
  const RowSide other{.info = {std::shared_ptr<const RowInfo>(), &record.info}, .input_hash = hash};
  if (side.conflict.empty()) side.conflict = task_difference(side, other);
  if (side.input_hash.empty()) side.input_hash = hash;
}

void add_answer(RowSide& side, const AccuracyResult& accuracy, bool is_first) {
  side.err_over_bound = std::max(side.err_over_bound, accuracy.err_over_bound);
  side.is_exact = accuracy.hash_is_portable;
  if (is_first) side.output_hash = accuracy.output_hash;
  if (side.output_hash != accuracy.output_hash) side.output_hash.clear();
}

// Energies of different sources cover different things and are not pooled.
double pooled_joules(const std::vector<const Record*>& records) {
  std::vector<double> joules;
  std::vector<std::string> sources;
  for (const Record* record : records) {
    if (!has_time(*record) || !record->perf->energy) continue;
    joules.push_back(record->perf->energy->joules);
    add_once(sources, record->perf->energy->source);
  }
  return sources.size() == 1 ? median(joules) : 0;
}

}  // namespace

std::string suspicion(const RunInfo& run, const Record& record) {
  const PerfResult& perf = *record.perf;
  if (record.status == Status::Suspect && !record.reason.empty()) return record.reason;
  if (!perf.suspect.empty()) return perf.suspect;
  if (record.status == Status::Suspect) return "the run calls the time suspect";
  if (perf.timer == "broken")
    return "the device's timer is broken" + (run.timer.note.empty() ? "" : ": " + run.timer.note);
  if (!perf.verified) return "the timed outputs were not verified";
  if (run.validation) return "it was timed with the validation layer on";
  return "";
}

std::string task_difference(const RowSide& a, const RowSide& b) {
  const RowInfo &in_a = *a.info, &in_b = *b.info;
  const auto of = [](const char* name, const std::string& one, const std::string& other) {
    return one == other ? std::string()
                        : std::string(name) + " " + (one.empty() ? "none" : one) + " and " +
                              (other.empty() ? "none" : other);
  };
  for (const auto& [name, member] :
       {std::pair{"op", &RowInfo::op}, std::pair{"impl", &RowInfo::impl}, std::pair{"shape", &RowInfo::shape},
        std::pair{"params", &RowInfo::params}, std::pair{"fill", &RowInfo::fill}}) {
    if (in_a.*member != in_b.*member) return of(name, in_a.*member, in_b.*member);
  }
  if (asked_forms(in_a) != asked_forms(in_b)) return of("forms", in_a.forms, in_b.forms);
  if (in_a.seed != in_b.seed) return of("seed", std::to_string(in_a.seed), std::to_string(in_b.seed));
  if (a.input_hash.empty() || b.input_hash.empty()) return "";
  return of("inputs of hash", a.input_hash, b.input_hash);
}

bool is_same_program(const RowSide& a, const RowSide& b) {
  const bool same_driver = a.drivers == b.drivers && a.drivers.size() == 1;
  const bool is_one = a.programs.size() == 1 && !a.programs.front().empty();
  return same_driver && is_one && a.programs == b.programs;
}

double RowSide::lowest_us() const {
  return *std::ranges::min_element(block_us);
}

double RowSide::highest_us() const {
  return *std::ranges::max_element(block_us);
}

bool RowSide::has_result() const {
  return badness(status) != 1;
}

RowSide pool_runs(const std::vector<const RunInfo*>& runs, const std::vector<const Record*>& records) {
  RowSide side;
  side.info = std::make_shared<const RowInfo>(records.front()->info);
  std::vector<double> peaks, clocks, samples_us;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& record = *records[i];
    side.runs.push_back(runs[i]->run_id);
    add_once(side.drivers, driver_of(runs[i]->device));
    if (i == 0 || badness(record.status) > badness(side.status)) {
      side.status = record.status;
      side.reason = record.reason;
      side.failure = failure_of(record);
    }
    add_task(side, record);
    if (record.accuracy) add_answer(side, *record.accuracy, i == 0);
    if (record.info.mode != "perf" || !has_time(record)) continue;
    add_time(side, *runs[i], record);
    for (const std::vector<double>& block : record.perf->sample_us)
      samples_us.insert(samples_us.end(), block.begin(), block.end());
    if (percent_of_peak(*record.perf) > 0) peaks.push_back(percent_of_peak(*record.perf));
    if (record.perf->clock_ratio > 0) clocks.push_back(record.perf->clock_ratio);
  }
  if (!peaks.empty()) side.pct_peak = median(peaks);
  if (!clocks.empty()) side.clock_ratio = median(clocks);
  side.energy_j = pooled_joules(records);
  summarize_samples(side, std::move(samples_us));
  return side;
}

}  // namespace assay
