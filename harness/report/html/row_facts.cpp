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
