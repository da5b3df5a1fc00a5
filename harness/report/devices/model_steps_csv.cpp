#include "harness/base/text.h"
#include "harness/report/devices/model_steps.h"
#include "harness/report/devices/pivot.h"
#include "harness/report/record/words.h"
#include "harness/report/writers/csv.h"

#include <utility>

namespace assay {
namespace {

using StepColumns = std::vector<StepColumn>;

// A column of the step.
template <class Get>
StepColumn of_step(std::string name, std::string unit, std::string meaning, Get get) {
  return {std::move(name), std::move(unit), std::move(meaning),
          [get](const RunInfo&, const ModelStep& step, const StepLayer&) { return std::string(get(step)); }};
}

// A column of the layer's row, empty if the step has none.
template <class Get>
StepColumn of_row(std::string name, std::string unit, std::string meaning, Get get) {
  return {std::move(name), std::move(unit), std::move(meaning),
          [get](const RunInfo&, const ModelStep&, const StepLayer& layer) {
            return layer.row == nullptr ? std::string() : std::string(get(*layer.row));
          }};
}

// A column of the row's times, also empty if the row did not pass.
template <class Get>
StepColumn of_time(std::string name, std::string unit, std::string meaning, Get get) {
  return of_row(std::move(name), std::move(unit), std::move(meaning), [get](const Record& row) {
    return has_figures(&row) ? std::string(get(*row.perf)) : std::string();
  });
}

std::string positive(double value, int digits) {
  return value > 0 ? fixed(value, digits) : "";
}

StepColumns columns_of_step() {
  using Step = const ModelStep&;
  return {
      {"device", "text", "name of the device",
       [](const RunInfo& run, const ModelStep&, const StepLayer&) { return run.device.name; }},
      of_step("model", "text", "the model", [](Step step) { return step.model; }),
      of_step("tokens", "number", "tokens that one step handles; 0: the model's ops have none",
              [](Step step) { return std::to_string(step.tokens); }),
      of_step("op", "text", "the ops of the step's layers, joined by ' + '",
              [](Step step) { return step.op; }),
      of_step("dtype", "text", "type of the op's first tensor", [](Step step) { return step.dtype; }),
      of_step("cache", "text", "hot or cold, as in perf.csv", [](Step step) { return step.cache; }),
      of_step("shaders", "text", "folder of shaders searched before the embedded ones (--shaders)",
              [](Step step) { return step.shaders.value_or(""); }),
      of_step("settings", "text", "parameters that distinguish steps of the same model, op and tokens",
              [](Step step) { return step.settings; }),
      of_step("params", "text", "parameters that all of the step's rows share",
              [](Step step) { return step.params; }),
  };
}

StepColumns columns_of_layer() {
  return {
      {"layer", "text", "the layer",
       [](const RunInfo&, const ModelStep&, const StepLayer& layer) { return layer.name; }},
      of_row("layer_op", "text", "the op that computes the layer; absent if the step has no row of it",
             [](const Record& row) { return row.info.op; }),
      of_row("calls", "number", "calls of that layer in one step of the model",
             [](const Record& row) { return row.info.calls > 0 ? std::to_string(row.info.calls) : ""; }),
      {"layer_params", "text", "parameters in which the step's layers differ",
       [](const RunInfo&, const ModelStep&, const StepLayer& layer) { return layer.params; }},
      of_row("case", "text", "id of the row that stands for the layer; absent if the step has none",
             [](const Record& row) { return row.info.id; }),
      {"rows", "number", "rows of the layer in the step; one of them counts",
       [](const RunInfo&, const ModelStep&, const StepLayer& layer) {
         return std::to_string(layer.others.size() + (layer.row == nullptr ? 0 : 1));
       }},
      of_row("impl", "text", "the impl that ran", [](const Record& row) { return row.info.impl; }),
      of_time("impl_auto", "text", "impl auto: the impl that it chose",
              [](const PerfResult& perf) { return perf.impl_auto; }),
      of_row("status", "text", "how the row ended", [](const Record& row) { return name_of(row.status); }),
      of_row("reason", "text", "why, with numbers; absent for PASS",
             [](const Record& row) { return row.reason; }),
  };
}

StepColumns columns_of_time() {
  return {
      of_time("time_us_p50", "us", "median time of one call",
              [](const PerfResult& perf) { return fixed(perf.time_us_p50, 4); }),
      {"step_us", "us", "calls x time_us_p50; absent: the layer is not in the sum",
       [](const RunInfo&, const ModelStep&, const StepLayer& layer) {
         return layer.step_us ? fixed(*layer.step_us, 4) : "";
       }},
      of_time("pct_peak", "%", "share of the ceiling that limits the program",
              [](const PerfResult& perf) { return positive(percent_of_peak(perf), 2); }),
      {"gain_us", "us", "what the layer would gain in a step at the ceiling that limits it",
       [](const RunInfo&, const ModelStep&, const StepLayer& layer) {
         return layer.step_us ? fixed(us_to_gain(*layer.row), 4) : "";
       }},
      of_step("sum_us", "us", "sum of step_us over the layers of the step",
              [](const ModelStep& step) { return positive(step.sum_us(), 4); }),
      of_step("complete", "flag", "true: every layer of the model in the report is in the sum",
              [](const ModelStep& step) { return step.is_complete() ? "true" : "false"; }),
  };
}

}  // namespace

std::vector<StepColumn> step_columns() {
  StepColumns all = columns_of_step();
  for (const StepColumns& part : {columns_of_layer(), columns_of_time()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

std::string steps_csv(std::span<const ModelSteps> reports) {
  const StepColumns columns = step_columns();
  std::vector<std::string> cells;
  for (const StepColumn& column : columns) cells.push_back(column.name);
  std::string csv = csv_row(cells);
  for (const ModelSteps& steps : reports) {
    for (const ModelStep& step : steps.steps) {
      for (const StepLayer& layer : step.layers) {
        cells.clear();
        for (const StepColumn& column : columns)
          cells.push_back(column.value(steps.report->run, step, layer));
        csv += csv_row(cells);
      }
    }
  }
  return csv;
}

}  // namespace assay
