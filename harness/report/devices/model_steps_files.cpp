#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/devices/model_steps.h"
#include "harness/report/devices/pivot.h"
#include "harness/report/record/run_kind.h"
#include "harness/report/record/words.h"
#include "harness/report/writers/csv.h"
#include "harness/report/writers/markdown.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

namespace assay {
namespace {

using StepColumns = std::vector<StepColumn>;
using Cells = std::vector<std::string>;

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
      of_step("context", "number",
              "tokens up to and with the step's last one; absent: no layer of the step has a position",
              [](Step step) { return step.context ? std::to_string(*step.context) : ""; }),
      of_step("op", "text", "the ops of the step's layers, joined by ' + '",
              [](Step step) { return step.op; }),
      of_step("dtype", "text", "type of the op's first tensor", [](Step step) { return step.dtype; }),
      of_step("cache", "text", "hot or cold, as in perf.csv", [](Step step) { return step.cache; }),
      of_step("shaders", "text", "folder of shaders searched before the embedded ones (--shaders)",
              [](Step step) { return step.shaders.value_or(""); }),
      of_step("settings", "text",
              "parameters that distinguish steps of the same model, op, tokens and context",
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
      of_time("pct_peak", "%", "share of the nearer ceiling",
              [](const PerfResult& perf) { return positive(percent_of_peak(perf), 2); }),
      {"gain_us", "us", "what the layer would gain in a step at the nearer ceiling; absent: that is unknown",
       [](const RunInfo&, const ModelStep&, const StepLayer& layer) {
         const std::optional<double> gain = gain_us_of(layer);
         return gain ? fixed(*gain, 4) : "";
       }},
      of_step("sum_us", "us", "sum of step_us over the layers of the step",
              [](const ModelStep& step) { return positive(step.sum_us(), 4); }),
      of_step("complete", "flag", "true: every layer of the model in the report is in the sum",
              [](const ModelStep& step) { return step.is_complete() ? "true" : "false"; }),
  };
}

// A paragraph wrapped at the width of documents. A longer word has a line of its own.
std::string wrapped(const std::string& paragraph) {
  constexpr std::size_t width = 110;
  std::string text;
  std::size_t column = 0;
  std::istringstream stream(paragraph);
  for (std::string word; stream >> word; column += word.size() + 1) {
    if (column + word.size() > width) column = 0;
    if (!text.empty()) text += column == 0 ? '\n' : ' ';
    text += word;
  }
  return text + '\n';
}

std::string ms_text(double us) {
  return fixed(us / us_per_ms, 3);
}

std::string size_text(const ModelStep& step) {
  const std::string context = step.context ? " at context " + std::to_string(*step.context) : "";
  if (step.tokens == 0) return "one run" + context;
  return std::to_string(step.tokens) + (step.tokens == 1 ? " token" : " tokens") + context;
}

std::string rate_text(const ModelStep& step) {
  const double rate = step.per_second();
  return fixed(rate, rate < 100 ? 1 : 0);
}

// A model without tokens has steps per second.
std::string rate_unit(const ModelStep& step) {
  return step.tokens == 0 ? " steps/s" : " tokens/s";
}

// A sum with missing layers is a lower bound of the time and an upper bound of the rate.
std::string bounded(const ModelStep& step, const std::string& bound, const std::string& figure) {
  if (!(step.sum_us() > 0)) return "";
  return step.is_complete() ? figure : bound + ' ' + figure;
}

std::string status_text(const Record& record) {
  std::string reason = printable(first_line(record.reason));
  if (reason.empty() && record.accuracy) reason = printable(first_line(describe(*record.accuracy)));
  return std::string(name_of(record.status)) + (reason.empty() ? "" : ": " + markdown_cell(reason));
}

std::string plain_impl(const RowInfo& info) {
  return info.tune.empty() ? info.impl : info.impl + " (" + info.tune + ")";
}

// "auto: gemv" if the op chose the impl.
std::string impl_text(const Record& record) {
  const std::string chosen = record.perf ? record.perf->impl_auto : "";
  return markdown_cell(plain_impl(record.info) + (chosen.empty() ? "" : ": " + chosen));
}

// What distinguishes the step from others with the same model, op and number of tokens.
std::string setting_text(const ModelStep& step) {
  return markdown_cell(step.setting());
}

std::string lacking_names(const ModelStep& step) {
  std::string names;
  for (const StepLayer& layer : step.layers) {
    if (!layer.step_us) names += (names.empty() ? "" : ", ") + markdown_code(layer.name);
  }
  return names;
}

std::string ceilings_text(const ModelStep& step) {
  const std::optional<double> us = step.at_ceilings_us();
  if (!us) return step.sum_us() > 0 ? "unknown" : "";
  return bounded(step, "at least", ms_text(*us));
}

std::string overview(const ModelSteps& steps) {
  std::vector<Cells> rows = {
      {"model", "tokens", "context", "op", "setting", "ms per step", "at ceilings, ms", "per s", "missing"}};
  for (const ModelStep& step : steps.steps) {
    rows.push_back({markdown_cell(step.model), step.tokens == 0 ? "" : std::to_string(step.tokens),
                    step.context ? std::to_string(*step.context) : "", markdown_code(step.op),
                    setting_text(step), bounded(step, "at least", ms_text(step.sum_us())),
                    ceilings_text(step), bounded(step, "at most", rate_text(step)), lacking_names(step)});
  }
  return markdown_aligned(rows, {false, true, true, false, false, true, true, true, false});
}

bool has_ceilings(const ModelStep& step) {
  return std::ranges::any_of(step.layers, [](const StepLayer& layer) {
    return has_figures(layer.row) && percent_of_peak(*layer.row->perf) > 0;
  });
}

// A layer without a row has no line here: it is listed as missing from the sum.
Cells layer_cells(const StepLayer& layer, double sum_us) {
  const Record& row = *layer.row;
  const std::string calls = row.info.calls > 0 ? std::to_string(row.info.calls) : "";
  Cells cells = {markdown_code(layer.name), calls, markdown_cell(layer.params), impl_text(row)};
  cells.push_back(has_figures(&row) ? fixed(row.perf->time_us_p50, 2) : std::string(name_of(row.status)));
  if (!layer.step_us) return cells;
  cells.push_back(ms_text(*layer.step_us));
  cells.push_back(sum_us > 0 ? fixed(100 * *layer.step_us / sum_us, 1) : "");
  const double ceiling = percent_of_peak(*row.perf);
  cells.push_back(ceiling > 0 ? fixed(ceiling, 1) : "");
  return cells;
}

std::string layers_table(const ModelStep& step) {
  std::vector<Cells> rows = {
      {"layer", "calls", "parameters", "impl", "time, us", "calls x time, ms", "% of sum", "% ceiling"}};
  for (const StepLayer& layer : step.layers) {
    if (layer.row != nullptr) rows.push_back(layer_cells(layer, step.sum_us()));
  }
  rows.push_back({"sum", "", "", "", "", bounded(step, "at least", ms_text(step.sum_us()))});
  std::vector<bool> right = {false, true, false, false, true, true, true};
  if (has_ceilings(step)) {
    right.push_back(true);
  } else {
    rows[0].pop_back();
  }
  return markdown_aligned(rows, right);
}

// What each op adds, if there are several.
std::string ops_table(const ModelStep& step) {
  const std::vector<OpShare> shares = step.by_op();
  if (shares.size() < 2) return "";
  std::vector<Cells> rows = {{"op", "layers", "ms per step", "% of sum", "to gain at ceilings, ms"}};
  for (const OpShare& share : shares) {
    rows.push_back({markdown_code(share.op), std::to_string(share.layers), ms_text(share.us),
                    fixed(100 * share.us / step.sum_us(), 1),
                    share.gain_us ? ms_text(*share.gain_us) : "unknown"});
  }
  return '\n' + markdown_aligned(rows, {false, true, true, true, true});
}

std::string why_lacking(const ModelStep& step, const StepLayer& layer) {
  if (layer.row == nullptr) {
    return why_no_row(step, layer) + "; the report has the layer in " +
           markdown_code(layer.elsewhere->info.id);
  }
  if (!has_figures(layer.row)) return status_text(*layer.row);
  return "its row does not say how often a step calls it (`calls`)";
}

// Why this row of a layer counts, and not another one that passed.
std::string rule_text(const StepLayer& layer) {
  if (layer.row->info.impl != "auto") return ", the fastest that passed";
  const bool has_rival = std::ranges::any_of(
      layer.others, [](const Record* other) { return other->info.impl == "auto" && has_figures(other); });
  return has_rival ? ", the fastest such row" : "";
}

// For a layer with several rows: which one counts, and which did not pass.
std::string choice_text(const StepLayer& layer) {
  const std::string impl = markdown_code(plain_impl(layer.row->info));
  std::string text = std::to_string(layer.others.size() + 1) + " rows; ";
  text += layer.step_us ? impl + " counts" + rule_text(layer) : "none counts";
  for (const Record* other : layer.others) {
    if (!has_figures(other))
      text += "; " + markdown_code(plain_impl(other->info)) + " is " + status_text(*other);
  }
  return text;
}

std::string list_item(const StepLayer& layer, const std::string& text) {
  return "- " + markdown_code(layer.name) + ": " + text + '\n';
}

std::string choices(const ModelStep& step) {
  std::string text;
  for (const StepLayer& layer : step.layers) {
    if (!layer.others.empty()) text += list_item(layer, choice_text(layer));
  }
  return text.empty() ? "" : "\nLayers with several rows:\n\n" + text;
}

std::string verdict(const ModelStep& step) {
  if (step.is_complete()) {
    return ms_text(step.sum_us()) + " ms per step, " + rate_text(step) + rate_unit(step) +
           ". Every layer of the model in the report is in the sum.\n";
  }
  std::string text = step.sum_us() > 0 ? "At least " + ms_text(step.sum_us()) + " ms per step, at most " +
                                             rate_text(step) + rate_unit(step) + ". Missing from the sum:\n\n"
                                       : "There is no sum, as no layer has a time. Missing:\n\n";
  for (const StepLayer& layer : step.layers) {
    if (!layer.step_us) text += list_item(layer, why_lacking(step, layer));
  }
  return text;
}

std::string step_text(const ModelStep& step) {
  std::string text = "\n### " + markdown_cell(step.model) + ", " + size_text(step) + ": " +
                     markdown_code(step.op) + ", " + setting_text(step) + "\n\n";
  if (!step.params.empty()) text += "All layers: " + markdown_code(step.params) + "\n\n";
  return text + layers_table(step) + ops_table(step) + '\n' + verdict(step) + choices(step);
}

// Counts by case, not by row: a case of a model has a row for each of its layers.
std::string unplaced_text(const ModelSteps& steps) {
  std::map<std::string, std::size_t> rows;
  for (const Record* row : steps.unplaced) {
    ++rows[markdown_code(row->info.op + '/' + row->info.name)];
  }
  if (rows.empty()) return "";
  std::string text = '\n' + wrapped("Timed rows of models that are in no sum, as they name no layer:") + '\n';
  for (const auto& [what, count] : rows) {
    text += "- " + what + ", " + std::to_string(count) + (count == 1 ? " row\n" : " rows\n");
  }
  return text;
}

std::string chains_markdown(const ModelSteps& steps) {
  std::string text;
  for (const Record* row : steps.chains) {
    if (!has_figures(row)) {
      text += "- " + markdown_code(row->info.id) + ": " + status_text(*row) + '\n';
      continue;
    }
    const double ms = row->perf->time_us_p50 * static_cast<double>(row->info.calls) / us_per_ms;
    text += "- " + markdown_code(row->info.id) + ": " + fixed(row->perf->time_us_p50, 2) +
            " us, its dispatches one by one " + fixed(dispatches_us(*row), 2) + " us";
    if (row->info.calls > 0)
      text += "; " + std::to_string(row->info.calls) + " calls, " + fixed(ms, 3) + " ms per step";
    text += '\n';
  }
  if (text.empty()) return "";
  return '\n' + wrapped("Chains, each timed from end to end as one program; they are in no sum:") + '\n' +
         text;
}

// Names the ops in the report, as nothing else that a model runs is in it.
std::string scope_text(const ModelSteps& steps) {
  std::set<std::string> ops;
  for (const ModelStep& step : steps.steps) {
    for (const StepLayer& layer : step.layers) {
      if (layer.row != nullptr) ops.insert(markdown_code(layer.row->info.op));
    }
  }
  std::string list;
  for (const std::string& op : ops) list += (list.empty() ? "" : ", ") + op;
  return '\n' +
         wrapped(
             "Only timed rows that name a `layer` are summed, here rows of " + list +
             ". What no such row computes is in no sum: attention, norms and the output head have rows where "
             "the cases are those of `assay model`. So tokens/s counts the summed layers only. "
             "Each sum adds medians of programs timed one by one.");
}

std::string report_text(const ModelSteps& steps) {
  const RunInfo& run = steps.report->run;
  std::string text = "## " + markdown_cell(run.device.name) + "\n\n" + markdown_cell(driver_of(run.device)) +
                     ", assay " + markdown_cell(run.version) + ", " + markdown_cell(run.started_utc) +
                     markdown_cell(kind_addition(kind_of_run(run))) +
                     (steps.report->complete ? "" : ", did not finish") + "\n\n";
  if (steps.steps.empty()) return text + "No timed row names a layer of a model.\n";
  text += overview(steps);
  for (const ModelStep& step : steps.steps) text += step_text(step);
  return text;
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

std::string steps_markdown(std::span<const ModelSteps> reports) {
  std::string text;
  for (const ModelSteps& steps : reports) {
    text += (text.empty() ? "" : "\n") + report_text(steps) + chains_markdown(steps) + unplaced_text(steps);
    if (!steps.steps.empty()) text += scope_text(steps);
  }
  return text;
}

}  // namespace assay
