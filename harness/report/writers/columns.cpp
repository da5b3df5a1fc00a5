#include "harness/report/writers/columns.h"

#include "harness/report/record/device_name.h"
#include "harness/report/record/record.h"
#include "harness/report/record/words.h"
#include "harness/report/writers/column_parts.h"

#include <string_view>
#include <utility>

namespace assay {
namespace {

Columns named(const Columns& columns, std::initializer_list<std::string_view> names) {
  Columns chosen;
  for (const std::string_view name : names) {
    for (const Column& column : columns) {
      if (column.name == name) chosen.push_back(column);
    }
  }
  return chosen;
}

Columns without(Columns columns, std::string_view name) {
  std::erase_if(columns, [&](const Column& column) { return column.name == name; });
  return columns;
}

Columns joined(std::initializer_list<Columns> parts) {
  Columns all;
  for (const Columns& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

std::vector<Column> accu_columns() {
  // Accuracy rows have the built-in defaults, whatever the tuning file says.
  return joined({run_columns(), without(case_columns(), "tuned"), verdict_columns(), difference_columns(),
                 evidence_columns(), chain_columns(), place_columns()});
}

std::vector<Column> perf_columns() {
  return joined({run_columns(), case_columns(), cache_columns(), verdict_columns(), time_columns(),
                 rate_columns(), energy_columns(), program_columns(), chain_columns(), comparison_columns(),
                 place_columns()});
}

Column mode_column() {
  return {"mode", "text", "accu or perf",
          [](const RunInfo&, const Record& record) { return record.info.mode; }};
}

Column device_key_column() {
  return {"device_key", "text", "identifies the device: its UUID, for a CPU its name",
          [](const RunInfo& run, const Record&) { return device_key(run); }};
}

Column robust_access_column() {
  return {"robust_access", "flag", "true: the device checked each memory access of shaders (--robust-access)",
          [](const RunInfo& run, const Record&) { return flag(run.robust_access); }};
}

Column validation_column() {
  return {"validation", "flag", "true: the validation layer was on, which takes time (--validation)",
          [](const RunInfo& run, const Record&) { return flag(run.validation); }};
}

// The hash of the timed outputs, else of the judged ones.
Column any_output_hash_column() {
  return {"output_hash", "hash", "hash of the logical outputs", [](const RunInfo&, const Record& record) {
            if (has_time(record) && !record.perf->output_hash.empty()) return record.perf->output_hash;
            return record.accuracy ? record.accuracy->output_hash : std::string();
          }};
}

std::vector<Column> history_columns() {
  return joined({run_columns(),
                 {device_key_column()},
                 named(case_columns(), {"case"}),
                 {mode_column()},
                 cache_columns(),
                 named(verdict_columns(), {"status"}),
                 named(time_columns(), {"time_us_p50", "ci_pct"}),
                 named(difference_columns(), {"err_over_bound"}),
                 {any_output_hash_column()},
                 named(case_columns(), {"tune"}),
                 named(program_columns(), {"program_hash"}),
                 {robust_access_column()},
                 named(case_columns(), {"tuned"}),
                 {validation_column()}});
}

std::vector<Column> pivot_case_columns() {
  const Columns forms{{"forms", "text", "form of every tensor, as the case asks for it",
                       [](const RunInfo&, const Record& record) { return asked_forms(record.info); }}};
  return joined({named(perf_columns(), {"case", "op", "impl", "shape"}), forms,
                 named(perf_columns(), {"params", "tune", "tuned", "fill", "cache"})});
}

std::vector<Column> pivot_device_columns() {
  Columns columns = named(perf_columns(), {"status", "time_us_p50", "ci_pct", "gbps", "pct_peak_bw"});
  columns.push_back({"ratio_to_first",
                     "ratio",
                     "time_us_p50 / that of the case's first row on this device; absent if it has only one "
                     "impl and tune point",
                     {}});
  return joined(
      {columns, named(energy_columns(), {"energy_j", "gops_per_joule", "power_w", "energy_source"})});
}

std::string markdown_table(const std::vector<Column>& columns) {
  std::string table = "| column | unit | meaning |\n|---|---|---|\n";
  for (const Column& column : columns) {
    table += "| `" + column.name + "` | " + column.unit + " | " + column.meaning + " |\n";
  }
  return table;
}

}  // namespace assay
