#include "harness/report/html/row_facts.h"

#include "harness/report/record/words.h"
#include "harness/report/writers/columns.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace assay {
namespace {

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

}  // namespace

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

}  // namespace assay
