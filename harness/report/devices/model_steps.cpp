#include "harness/report/devices/model_steps.h"

#include "harness/report/devices/pivot.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

namespace assay {
namespace {

using Rows = std::vector<const Record*>;
using Words = std::vector<std::pair<std::string, std::string>>;  // name and value, in the order of the text
using Names = std::set<std::string>;

// Words are separated by blanks, which a value may contain as well.
Words words_of(const std::string& params) {
  Words words;
  std::istringstream stream(params);
  for (std::string part; stream >> part;) {
    const auto equals = part.find('=');
    if (equals != part.npos) {
      words.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    } else if (!words.empty()) {
      words.back().second += ' ' + part;
    }
  }
  return words;
}

// The words whose names `is_wanted` accepts, without words that have no value.
template <class IsWanted>
std::string text_of(const Words& words, IsWanted is_wanted) {
  std::string text;
  for (const auto& [name, value] : words) {
    if (value.empty() || !is_wanted(name)) continue;
    if (!text.empty()) text += ' ';
    text.append(name).append("=").append(value);
  }
  return text;
}

// Names of the parameters that have several values in these rows.
Names differing(const Rows& rows) {
  std::map<std::string, Names> values;
  for (const Record* row : rows) {
    for (const auto& [name, value] : words_of(row->info.params)) values[name].insert(value);
  }
  Names names;
  for (const auto& [name, of_name] : values) {
    if (of_name.size() > 1) names.insert(name);
  }
  return names;
}

bool is_timed_row_of_a_model(const RowInfo& info) {
  return info.mode == "perf" && !info.model.empty();
}

bool is_placed(const RowInfo& info) {
  return !info.layer.empty() && info.tokens > 0;
}

// The settings by model and op: parameters that differ between rows with the same layer and number of tokens.
std::map<std::pair<std::string, std::string>, Names> settings_of(const Rows& rows) {
  std::map<std::tuple<std::string, std::string, std::string, std::int64_t>, Rows> of_layer;
  for (const Record* row : rows) {
    const RowInfo& info = row->info;
    of_layer[{info.model, info.op, info.layer, info.tokens}].push_back(row);
  }
  std::map<std::pair<std::string, std::string>, Names> settings;
  for (const auto& [key, of_one] : of_layer) {
    settings[{std::get<0>(key), std::get<1>(key)}].merge(differing(of_one));
  }
  return settings;
}

// A step without its layers.
ModelStep step_of(const RowInfo& info, const Names& settings) {
  return {.model = info.model,
          .tokens = info.tokens,
          .op = info.op,
          .dtype = info.dtype,
          .cache = info.cache == "cold" ? "cold" : "hot",
          .shaders = info.shaders,
          .settings = text_of(words_of(info.params),
                              [&](const std::string& name) { return settings.contains(name); })};
}

auto order_of(const ModelStep& step) {
  return std::tie(step.model, step.tokens, step.op, step.dtype, step.cache, step.shaders, step.settings);
}

struct StepOrder {
  bool operator()(const ModelStep& a, const ModelStep& b) const { return order_of(a) < order_of(b); }
};

std::map<ModelStep, Rows, StepOrder> rows_by_step(const Rows& rows) {
  std::map<ModelStep, Rows, StepOrder> steps;
  const auto settings = settings_of(rows);
  for (const Record* row : rows) {
    steps[step_of(row->info, settings.at({row->info.model, row->info.op}))].push_back(row);
  }
  return steps;
}

// The first row of each of a model's layers in the report, in any mode.
Rows layers_of(const RunReport& report, const std::string& model) {
  Rows firsts;
  Names seen;
  for (const Record& record : report.records) {
    const RowInfo& info = record.info;
    if (info.model == model && !info.layer.empty() && seen.insert(info.layer).second)
      firsts.push_back(&record);
  }
  return firsts;
}

// Smaller is better: rows that passed first, then the impl that the op chooses, then the fastest.
auto rank_of(const Record* row) {
  const bool passed = has_figures(row);
  return std::tuple(!passed, row->info.impl != "auto", passed ? row->perf->time_us_p50 : 0);
}

StepLayer layer_of(const Record& first, const Rows& step_rows, const Names& own_params) {
  StepLayer layer{.name = first.info.layer};
  for (const Record* row : step_rows) {
    if (row->info.layer == layer.name) layer.others.push_back(row);
  }
  const auto best = std::ranges::min_element(layer.others, {}, rank_of);
  if (best == layer.others.end()) {
    layer.elsewhere = &first;
    return layer;
  }
  layer.row = *best;
  layer.others.erase(best);
  layer.params = text_of(words_of(layer.row->info.params),
                         [&](const std::string& name) { return own_params.contains(name); });
  if (has_figures(layer.row) && layer.row->info.calls > 0) {
    layer.step_us = layer.row->perf->time_us_p50 * static_cast<double>(layer.row->info.calls);
  }
  return layer;
}

void add_layers(ModelStep& step, const Rows& rows, const RunReport& report) {
  const Names own_params = differing(rows);
  step.params = text_of(words_of(rows.front()->info.params),
                        [&](const std::string& name) { return !own_params.contains(name); });
  for (const Record* first : layers_of(report, step.model)) {
    step.layers.push_back(layer_of(*first, rows, own_params));
  }
}

}  // namespace

double ModelStep::sum_us() const {
  double sum = 0;
  for (const StepLayer& layer : layers) sum += layer.step_us.value_or(0);
  return sum;
}

bool ModelStep::is_complete() const {
  return std::ranges::all_of(layers, [](const StepLayer& layer) { return layer.step_us.has_value(); });
}

ModelSteps model_steps(const RunReport& report) {
  ModelSteps all{.report = &report};
  Rows placed;
  for (const Record& record : report.records) {
    if (!is_timed_row_of_a_model(record.info)) continue;
    (is_placed(record.info) ? placed : all.unplaced).push_back(&record);
  }
  for (const auto& [key, rows] : rows_by_step(placed)) {
    add_layers(all.steps.emplace_back(key), rows, report);
  }
  return all;
}

}  // namespace assay
