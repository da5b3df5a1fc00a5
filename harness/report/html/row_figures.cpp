#include "harness/report/html/row_figures.h"

#include "harness/report/record/failure_groups.h"
#include "harness/report/record/record.h"
#include "harness/report/record/rough_time.h"
#include "harness/report/record/words.h"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

/// A figure of a row, or nullopt if the row has none.
using Figure = std::function<std::optional<double>(const PageRow&)>;
using Word = std::function<std::string(const PageRow&)>;

/// A figure of rows that have a time.
template <class Get>
Figure perf(Get get) {
  return [get](const PageRow& row) -> std::optional<double> {
    if (!row.record || !has_time(*row.record)) return std::nullopt;
    return get(*row.record->perf);
  };
}

/// A figure of rows that have a time, unknown if it is 0.
Figure known(double PerfResult::*member) {
  return [member](const PageRow& row) -> std::optional<double> {
    if (!row.record || !has_time(*row.record)) return std::nullopt;
    const double value = *row.record->perf.*member;
    return value > 0 ? std::optional(value) : std::nullopt;
  };
}

template <class Get>
Figure accuracy(Get get) {
  return [get](const PageRow& row) -> std::optional<double> {
    if (!row.record || !row.record->accuracy) return std::nullopt;
    return get(*row.record->accuracy);
  };
}

Figure ratio(double Comparison::*member) {
  return [member](const PageRow& row) -> std::optional<double> {
    if (!row.record || !row.record->comparison || !(row.record->comparison->ratio > 0)) return std::nullopt;
    return *row.record->comparison.*member;
  };
}

Figure judged(double RowVerdict::*member) {
  return [member](const PageRow& row) -> std::optional<double> {
    if (!row.verdict || !(row.verdict->*member > 0)) return std::nullopt;
    return row.verdict->*member;
  };
}

Word perf_word(std::string PerfResult::*member) {
  return [member](const PageRow& row) {
    return row.record && has_time(*row.record) ? *row.record->perf.*member : std::string();
  };
}

using Figures = std::vector<std::pair<const char*, Figure>>;
using Words = std::vector<std::pair<const char*, Word>>;

Figures figures() {
  using P = const PerfResult&;
  using A = const AccuracyResult&;
  return {
      {"time_us", perf([](P p) { return p.time_us_p50; })},
      {"ci_pct", perf([](P p) { return p.ci_pct; })},
      {"spread_pct", perf([](P p) { return p.spread_pct; })},
      {"bytes", perf([](P p) { return static_cast<double>(p.bytes); })},
      {"ops", perf([](P p) { return static_cast<double>(p.operations); })},
      {"pct_peak_bw", known(&PerfResult::pct_peak_bw)},
      {"pct_peak_ops", known(&PerfResult::pct_peak_ops)},
      {"pct_peak", perf([](P p) { return percent_of_peak(p); })},
      {"us_to_gain",
       [](const PageRow& row) -> std::optional<double> {
         if (!row.record || !has_time(*row.record) || !(percent_of_peak(*row.record->perf) > 0))
           return std::nullopt;
         return us_to_gain(*row.record);
       }},
      {"peak_gbps", known(&PerfResult::peak_gbps)},
      {"peak_gops", known(&PerfResult::peak_gops)},
      {"clock_ratio", known(&PerfResult::clock_ratio)},
      {"regret_pct",
       [](const PageRow& row) {
         return row.record && has_time(*row.record) ? row.record->perf->regret_pct : std::nullopt;
       }},
      {"ratio", ratio(&Comparison::ratio)},
      {"ratio_low", ratio(&Comparison::ratio_low)},
      {"ratio_high", ratio(&Comparison::ratio_high)},
      {"err_over_bound", accuracy([](A a) { return a.err_over_bound; })},
      {"elements", accuracy([](A a) { return static_cast<double>(a.elements); })},
      {"mismatches", accuracy([](A a) { return static_cast<double>(a.mismatches); })},
      {"over_base", judged(&RowVerdict::ratio)},
      {"net_ratio", judged(&RowVerdict::net_ratio)},
      {"needed_pct", judged(&RowVerdict::needed_pct)},
      {"base_us",
       [](const PageRow& row) -> std::optional<double> {
         if (!row.verdict || !row.verdict->base || !row.verdict->base->has_time()) return std::nullopt;
         return row.verdict->base->time_us;
       }},
  };
}

std::string verdict_of(const PageRow& row) {
  return row.verdict && row.verdict->verdict ? std::string(name_of(*row.verdict->verdict)) : "";
}

std::string failure_group_of(const PageRow& row) {
  const std::optional<FailureWords> failure = row.record ? failure_of(*row.record) : std::nullopt;
  return failure ? failure->group : "";
}

std::string baseline_of(const PageRow& row) {
  return row.record && row.record->comparison ? row.record->comparison->baseline : "";
}

Words words() {
  return {
      {"status",
       [](const PageRow& row) { return row.record ? std::string(name_of(row.record->status)) : ""; }},
      {"verdict", verdict_of},
      {"failure", failure_group_of},
      {"reason", [](const PageRow& row) { return row.record ? row.record->reason : std::string(); }},
      {"limited_by", perf_word(&PerfResult::limited_by)},
      {"ceiling", perf_word(&PerfResult::ceiling)},
      {"timer", perf_word(&PerfResult::timer)},
      {"rough",
       [](const PageRow& row) {
         return row.record && has_time(*row.record) ? why_rough(*row.record->perf) : std::string();
       }},
      {"impl_auto", perf_word(&PerfResult::impl_auto)},
      {"baseline", baseline_of},
      {"metric",
       [](const PageRow& row) {
         return row.record && row.record->accuracy ? row.record->accuracy->metric : "";
       }},
  };
}

const std::vector<std::pair<const char*, std::string RowInfo::*>>& case_words() {
  static const std::vector<std::pair<const char*, std::string RowInfo::*>> members{
      {"op", &RowInfo::op},       {"name", &RowInfo::name},   {"impl", &RowInfo::impl},
      {"group", &RowInfo::group}, {"mode", &RowInfo::mode},   {"tier", &RowInfo::tier},
      {"dtype", &RowInfo::dtype}, {"shape", &RowInfo::shape}, {"params", &RowInfo::params},
      {"tune", &RowInfo::tune},   {"fill", &RowInfo::fill},   {"model", &RowInfo::model},
      {"layer", &RowInfo::layer}};
  return members;
}

Json with_names(const std::vector<std::pair<const char*, Json>>& columns) {
  Json json = Json::object();
  for (const auto& [name, column] : columns) json[name] = column;
  return json;
}

}  // namespace

struct RowFigures::Columns {
  Figures figures = assay::figures();
  Words words = assay::words();
  std::vector<Json> figure_columns = std::vector<Json>(figures.size(), Json::array());
  std::vector<WordColumn> word_columns = std::vector<WordColumn>(words.size());
};

RowFigures::RowFigures() : columns_(std::make_unique<Columns>()) {}
RowFigures::~RowFigures() = default;

void RowFigures::add(const PageRow& row) {
  for (std::size_t i = 0; i < columns_->figures.size(); ++i) {
    const std::optional<double> value = columns_->figures[i].second(row);
    columns_->figure_columns[i].push_back(value ? json_number(*value) : Json());
  }
  for (std::size_t i = 0; i < columns_->words.size(); ++i)
    columns_->word_columns[i].add(columns_->words[i].second(row));
}

Json RowFigures::json() const {
  std::vector<std::pair<const char*, Json>> columns;
  for (std::size_t i = 0; i < columns_->figures.size(); ++i)
    columns.emplace_back(columns_->figures[i].first, columns_->figure_columns[i]);
  for (std::size_t i = 0; i < columns_->words.size(); ++i)
    columns.emplace_back(columns_->words[i].first, columns_->word_columns[i].json());
  return with_names(columns);
}

struct CaseTable::Columns {
  std::map<std::pair<RowKey, std::string>, std::size_t> numbers;
  Json ids = Json::array();
  std::vector<WordColumn> words = std::vector<WordColumn>(case_words().size());
  WordColumn cache, forms;
};

CaseTable::CaseTable() : columns_(std::make_unique<Columns>()) {}
CaseTable::~CaseTable() = default;

std::size_t CaseTable::number_of(const RowInfo& info) {
  Columns& columns = *columns_;
  const RowKey key = key_of(info);
  const auto [at, is_new] = columns.numbers.try_emplace({key, info.group}, columns.numbers.size());
  if (!is_new) return at->second;
  columns.ids.push_back(json_text(info.id));
  for (std::size_t i = 0; i < case_words().size(); ++i) columns.words[i].add(info.*case_words()[i].second);
  columns.cache.add(key.cache);
  columns.forms.add(asked_forms(info));
  return at->second;
}

Json CaseTable::json() const {
  std::vector<std::pair<const char*, Json>> columns{{"id", columns_->ids}};
  for (std::size_t i = 0; i < case_words().size(); ++i)
    columns.emplace_back(case_words()[i].first, columns_->words[i].json());
  columns.emplace_back("cache", columns_->cache.json());
  columns.emplace_back("forms", columns_->forms.json());
  return with_names(columns);
}

}  // namespace assay
