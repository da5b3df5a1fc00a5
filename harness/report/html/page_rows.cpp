#include "harness/report/html/page_rows.h"

#include "harness/report/record/compared_rows.h"
#include "harness/report/record/failure_groups.h"
#include "harness/report/record/record.h"
#include "harness/report/record/words.h"
#include "harness/report/writers/columns.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
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

/// A figure of rows whose energy was measured.
Figure energy(double Energy::*member) {
  return [member](const PageRow& row) -> std::optional<double> {
    if (!row.record || !has_time(*row.record) || !row.record->perf->energy) return std::nullopt;
    return *row.record->perf->energy.*member;
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
      {"energy_j", energy(&Energy::joules)},
      {"power_w", energy(&Energy::watts)},
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
      {"imprecise",
       [](const PageRow& row) {
         return row.record && has_time(*row.record) ? why_imprecise(*row.record->perf) : std::string();
       }},
      {"impl_auto", perf_word(&PerfResult::impl_auto)},
      {"baseline", baseline_of},
      {"tunables", [](const PageRow& row) { return all_tunables(row.info().tune, row.info().tuned); }},
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
      {"tune", &RowInfo::tune},   {"tuned", &RowInfo::tuned}, {"fill", &RowInfo::fill},
      {"model", &RowInfo::model}, {"layer", &RowInfo::layer}};
  return members;
}

Json with_names(const std::vector<std::pair<const char*, Json>>& columns) {
  Json json = Json::object();
  for (const auto& [name, column] : columns) json[name] = column;
  return json;
}

/// Columns about the run are shown once, not for each row.
bool is_of_the_row(const Column& column) {
  constexpr std::array<std::string_view, 6> of_the_run{"schema", "run_id", "device",
                                                       "driver", "commit", "date"};
  return std::ranges::find(of_the_run, column.name) == of_the_run.end();
}

std::vector<Column> columns_of_the_row(std::vector<Column> columns) {
  std::erase_if(columns, [](const Column& column) { return !is_of_the_row(column); });
  return columns;
}

struct FactColumns {
  std::vector<Column> accu = columns_of_the_row(accu_columns());
  std::vector<Column> perf = columns_of_the_row(perf_columns());
};

const FactColumns& all_columns() {
  static const FactColumns columns;
  return columns;
}

Json described(const std::vector<Column>& columns) {
  Json json = Json::array();
  for (const Column& column : columns) json.push_back({column.name, column.unit, column.meaning});
  return json;
}

Json cells_of(const RunInfo& run, const Record& record) {
  const bool is_perf = record.info.mode == "perf";
  Json cells = Json::array();
  for (const Column& column : is_perf ? all_columns().perf : all_columns().accu)
    cells.push_back(json_text(column.value(run, record)));
  return cells;
}

Json json_list(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(json_text(text));
  return list;
}

/// The time of a step in us: that of its dispatches, whose labels begin with its name. 0: unknown.
double time_of(const ChainStep& step, const Record& record) {
  double us = 0;
  if (!has_time(record)) return us;
  for (const DispatchShare& dispatch : record.perf->dispatches) {
    if (dispatch.label.starts_with(step.name + "/")) us += dispatch.time_us;
  }
  return us;
}

Json plan_of(const Record& record) {
  Json steps = Json::array();
  for (const ChainStep& step : record.chain->steps) {
    steps.push_back({{"name", json_text(step.name)},
                     {"op", json_text(step.op)},
                     {"impl", json_text(step.impl)},
                     {"transition", step.is_transition},
                     {"reads", json_list(step.reads)},
                     {"writes", json_list(step.writes)},
                     {"us", json_number(time_of(step, record))}});
  }
  return {{"transitions", record.chain->transitions},
          {"folded", json_list(record.chain->folded)},
          {"steps", std::move(steps)}};
}

void add_verdict(const RowVerdict& verdict, Json& facts) {
  facts["why"] = json_text(verdict.reason);
  for (const Condition& condition : verdict.conditions)
    facts["conditions"].push_back({json_text(condition.name), json_text(condition.finding)});
}

/// One row in all nights of its track; null for a night that does not have it.
using RowNights = std::vector<const NightRow*>;

template <class Value>
Json column(const RowNights& nights, Value value) {
  Json json = Json::array();
  for (const NightRow* night : nights) json.push_back(night ? value(*night) : Json());
  return json;
}

template <class Has>
bool any(const RowNights& nights, Has has) {
  return std::ranges::any_of(nights, [&](const NightRow* night) { return night && has(*night); });
}

/// Hashes numbered in order of appearance; null if all nights have the same one.
Json hash_column(const RowNights& nights) {
  std::vector<std::uint64_t> seen;
  Json json = Json::array();
  for (const NightRow* night : nights) {
    if (!night || night->hash == 0) {
      json.push_back(nullptr);
      continue;
    }
    const auto at = std::ranges::find(seen, night->hash);
    json.push_back(at - seen.begin());
    if (at == seen.end()) seen.push_back(night->hash);
  }
  return seen.size() > 1 ? json : Json();
}

/// A number with 3 digits, for values that are only drawn.
Json small_number(float value) {
  return json_number(static_cast<double>(value), 3);
}

/// Whether an output was judged: every judged output has a hash.
bool has_judged_output(const NightRow& night) {
  return night.hash != 0 || night.err_over_bound > 0;
}

Json columns_of(const RowNights& nights) {
  Json json = Json::object();
  json["s"] = Json::array();
  for (const NightRow* night : nights) json["s"].push_back(night ? static_cast<int>(night->status) : -1);
  if (any(nights, [](const NightRow& night) { return night.time_us > 0; })) {
    json["t"] = column(nights, [](const NightRow& night) {
      return night.time_us > 0 ? json_number(static_cast<double>(night.time_us)) : Json();
    });
    json["c"] = column(nights, [](const NightRow& night) { return small_number(night.ci_pct); });
  }
  if (any(nights, [](const NightRow& night) { return night.err_over_bound > 0; })) {
    json["e"] = column(nights, [](const NightRow& night) {
      return has_judged_output(night) ? small_number(night.err_over_bound) : Json();
    });
  }
  Json hashes = hash_column(nights);
  if (!hashes.is_null()) json["h"] = std::move(hashes);
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

Json fact_columns() {
  return {{"accu", described(all_columns().accu)}, {"perf", described(all_columns().perf)}};
}

Json facts_of(const RunInfo& run, const PageRow& row) {
  Json facts = Json::object();
  if (row.record) {
    facts["cells"] = cells_of(run, *row.record);
    if (class_of(row.record->status) != StatusClass::Fine)
      facts["failure"] = json_text(failure_text(*row.record));
    if (row.record->accuracy && !row.record->accuracy->tile_map.empty())
      facts["map"] = json_text(row.record->accuracy->tile_map);
  }
  if (row.record && row.record->chain) facts["plan"] = plan_of(*row.record);
  if (row.verdict) add_verdict(*row.verdict, facts);
  return facts;
}

Json samples_of(const Record* record) {
  if (!record || !has_time(*record)) return nullptr;
  Json blocks = Json::array();
  for (const std::vector<double>& samples : record->perf->sample_us) {
    Json block = Json::array();
    for (const double us : samples) block.push_back(json_number(us));
    blocks.push_back(std::move(block));
  }
  return blocks;
}

void RowHistory::add(const NightSummaries& nights, const Track& track, std::span<const RowKey> rows) {
  std::unordered_map<std::uint32_t, std::size_t> places;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (const auto number = nights.numbers.find(rows[row])) places.emplace(*number, row);
  }
  std::vector<RowNights> table(rows.size(), RowNights(track.nights.size()));
  for (std::size_t night = 0; night < track.nights.size(); ++night) {
    for (const NightRow& row : nights.all[track.nights[night]].rows) {
      const auto place = places.find(row.row);
      if (place != places.end()) table[place->second][night] = &row;
    }
  }
  for (const RowNights& row : table) rows_.push_back(columns_of(row));
}

Json RowHistory::take() {
  Json words = Json::array();
  for (int i = 0; i <= static_cast<int>(Status::Interrupted); ++i)
    words.push_back(name_of(static_cast<Status>(i)));
  return {{"words", std::move(words)}, {"rows", std::exchange(rows_, Json::array())}};
}

}  // namespace assay
