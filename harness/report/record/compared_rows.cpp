#include "harness/report/record/compared_rows.h"

#include "harness/base/status.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace assay {
namespace {

std::string status_note(const Comparison& made, const Record* baseline) {
  return fmt::format("its baseline {} is {}", made.baseline,
                     name_of(baseline == nullptr ? Status::Missing : baseline->status));
}

/// The median time of one program in each round, in ns.
std::map<int, double> medians_by_round(std::span<const Block> blocks) {
  std::map<int, double> medians;
  for (const Block& block : blocks) {
    if (!block.samples_ns.empty()) medians[block.round] = median(block.program_ns());
  }
  return medians;
}

}  // namespace

std::string tuned_values(std::string_view tuned) {
  return std::string(tuned.substr(0, tuned.find(" (line ")));
}

std::string all_tunables(std::string_view tune, std::string_view tuned) {
  std::istringstream words(std::string(tune) + ' ' + tuned_values(tuned));
  std::set<std::string> values;
  for (std::string word; words >> word;) values.insert(word);
  return fmt::format("{}", fmt::join(values, " "));
}

void RowGroups::add(RowIndex row, const RowInfo& info) {
  if (!info.group.empty()) rows_[info.group].push_back(row);
}

std::span<const RowIndex> RowGroups::with(const RowInfo& info) const {
  const auto found = rows_.find(info.group);
  return found == rows_.end() ? std::span<const RowIndex>() : found->second;
}

bool is_compared(const RowInfo& info) {
  return !info.baseline.empty() || !info.baseline_note.empty();
}

RowKey baseline_key(const RowInfo& info) {
  RowKey key = key_of(info);
  key.id = info.baseline;
  return key;
}

std::optional<Ratio> ratio_in_rounds(std::span<const Block> row, std::span<const Block> baseline) {
  const std::map<int, double> of_baseline = medians_by_round(baseline);
  std::vector<double> own;
  std::vector<double> others;
  for (const auto& [round, ns] : medians_by_round(row)) {
    const auto partner = of_baseline.find(round);
    if (partner == of_baseline.end()) continue;
    own.push_back(ns);
    others.push_back(partner->second);
  }
  return paired_ratio(own, others);
}

Comparison comparison_of(const Record& row, const Record* baseline, const std::optional<Ratio>& ratio) {
  if (row.info.baseline.empty()) return {.note = row.info.baseline_note};
  Comparison made{.baseline = row.info.baseline};
  if (!row.perf) {
    made.note = fmt::format("this row is {}", name_of(row.status));
  } else if (baseline == nullptr || baseline->status != Status::Pass || !baseline->perf) {
    made.note = status_note(made, baseline);
  } else if (!ratio) {
    made.note = fmt::format("its baseline {} was timed in none of its rounds", made.baseline);
  } else {
    made.ratio = ratio->median;
    made.ratio_low = ratio->interval.low;
    made.ratio_high = ratio->interval.high;
    made.blocks = ratio->pairs;
  }
  return made;
}

void note_comparisons(std::span<Record> records, std::span<const ComparedPair> pairs) {
  for (const ComparedPair& pair : pairs) {
    const Record* baseline = pair.baseline ? &records[*pair.baseline] : nullptr;
    records[pair.row].comparison = comparison_of(records[pair.row], baseline, pair.ratio);
  }
}

Rivals::Key Rivals::key_of(const RowInfo& info) {
  return {info.group, info.cache, asked_forms(info), info.versus};
}

void Rivals::add(const Record& record) {
  if (!has_time(record) || !record.perf->impl_auto.empty() || record.info.group.empty()) return;
  const double time_us = record.perf->time_us_p50;
  if (time_us <= 0) return;
  const auto [best, is_first] = best_us_.try_emplace(key_of(record.info), time_us);
  if (!is_first) best->second = std::min(best->second, time_us);
}

std::optional<double> Rivals::regret_pct(const Record& record) const {
  if (!has_time(record) || record.perf->impl_auto.empty()) return std::nullopt;
  const auto best = best_us_.find(key_of(record.info));
  if (best == best_us_.end()) return std::nullopt;
  return 100 * (record.perf->time_us_p50 / best->second - 1);
}

ImplTimes::Key ImplTimes::key_of(const RowInfo& info) {
  return {info.group, info.cache, asked_forms(info), info.versus};
}

void ImplTimes::add(const Record& record) {
  const bool is_chosen = record.info.impl == "auto" || (record.perf && !record.perf->impl_auto.empty());
  if (record.status != Status::Pass || !record.perf || is_chosen || record.info.group.empty()) return;
  const double time_us = record.perf->time_us_p50;
  if (time_us <= 0) return;
  const auto [best, is_first] = best_us_[key_of(record.info)].try_emplace(record.info.impl, time_us);
  if (!is_first) best->second = std::min(best->second, time_us);
}

void ImplTimes::note_ratio(Record& record) const {
  if (!record.perf) return;
  record.perf->ratio.reset();
  record.perf->ratio_to.clear();
  if (record.status != Status::Pass || record.info.group.empty()) return;
  const auto impls = best_us_.find(key_of(record.info));
  if (impls == best_us_.end() || impls->second.size() < 2) return;
  const auto& [slowest, time_us] =
      *std::ranges::max_element(impls->second, {}, [](const auto& impl) { return impl.second; });
  record.perf->ratio = record.perf->time_us_p50 / time_us;
  record.perf->ratio_to = slowest;
}

void note_ratios(std::span<Record> records) {
  ImplTimes times;
  for (const Record& record : records) times.add(record);
  for (Record& record : records) times.note_ratio(record);
}

bool lacks_regret(const Record& record) {
  return has_time(record) && !record.perf->impl_auto.empty() && !record.perf->regret_pct;
}

void note_regrets(std::span<Record> records) {
  if (std::ranges::none_of(records, lacks_regret)) return;
  Rivals rivals;
  for (const Record& record : records) rivals.add(record);
  for (Record& record : records) {
    if (lacks_regret(record)) record.perf->regret_pct = rivals.regret_pct(record);
  }
}

}  // namespace assay
