#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/cases/select.h"
#include "harness/commands/find_report.h"
#include "harness/commands/read/report.h"
#include "harness/report/devices/model_steps.h"
#include "harness/report/devices/overview.h"

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <set>

namespace assay::app {
namespace {

using Steps = std::vector<ModelSteps>;

std::set<std::string> models_of(const Steps& reports) {
  std::set<std::string> models;
  for (const ModelSteps& steps : reports) {
    for (const ModelStep& step : steps.steps) models.insert(step.model);
  }
  return models;
}

[[noreturn]] void refuse_for_want_of_steps(const Steps& reports, const SummaryOptions& options) {
  std::size_t unplaced = 0;
  for (const ModelSteps& steps : reports) unplaced += steps.unplaced.size();
  std::string story = "summing the layers of models: no timed row of " + options.reports.front().string();
  if (options.reports.size() > 1) story += " or the other reports";
  story += " names a `layer` of a `model`; ";
  if (unplaced > 0) {
    story += std::to_string(unplaced) + " name a model, but not the layer: give their cases a `layer`";
  } else {
    story += "run cases that have these keys in mode perf, such as those in cases/models";
  }
  throw Error(story);
}

/// The number of timed rows of a model that are in no step.
std::size_t unplaced_rows(const Steps& reports, const std::string& model) {
  std::size_t rows = 0;
  for (const ModelSteps& steps : reports) {
    rows += static_cast<std::size_t>(std::ranges::count_if(
        steps.unplaced, [&](const Record* row) { return glob_matches(model, row->info.model); }));
  }
  return rows;
}

void refuse_unknown_models(const Steps& reports, const SummaryOptions& options) {
  const std::set<std::string> models = models_of(reports);
  for (const std::string& wanted : options.models) {
    const auto is_meant = [&](const std::string& model) { return glob_matches(wanted, model); };
    if (std::ranges::any_of(models, is_meant)) continue;
    const std::size_t unplaced = unplaced_rows(reports, wanted);
    std::string story = "--model: no report has a step of a model '" + wanted + "'";
    if (unplaced > 0) story += ": its " + std::to_string(unplaced) + " timed rows name no `layer`";
    story += "; the models with steps are";
    for (const std::string& model : models) story += "\n  " + printable(model);
    throw Error(story);
  }
}

// Removes the steps and unplaced rows of all other models.
void keep_models(ModelSteps& steps, const std::vector<std::string>& wanted) {
  const auto is_unwanted = [&](const std::string& model) {
    return !std::ranges::any_of(wanted,
                                [&](const std::string& pattern) { return glob_matches(pattern, model); });
  };
  std::erase_if(steps.steps, [&](const ModelStep& step) { return is_unwanted(step.model); });
  std::erase_if(steps.unplaced, [&](const Record* row) { return is_unwanted(row->info.model); });
}

Steps steps_of(const std::vector<RunReport>& reports, const SummaryOptions& options) {
  Steps all;
  for (const RunReport& report : reports) all.push_back(model_steps(report));
  if (models_of(all).empty()) refuse_for_want_of_steps(all, options);
  refuse_unknown_models(all, options);
  if (!options.models.empty()) {
    for (ModelSteps& steps : all) keep_models(steps, options.models);
  }
  return all;
}

}  // namespace

ExitCode summary(const SummaryOptions& options, const Terminal& terminal) {
  const std::vector<RunReport> reports = read_reports(options.reports);
  const bool writes_files = !options.csv.empty() || !options.markdown.empty();
  if (!writes_files && options.models.empty() && !options.layers) {
    terminal.out << overview_text(reports, terminal.console.width);
    return ExitCode::Fine;
  }
  const Steps steps = steps_of(reports, options);
  write_text(options.csv, terminal.out, [&] { return steps_csv(steps); });
  write_text(options.markdown, terminal.out, [&] { return steps_markdown(steps); });
  if (!writes_files)
    terminal.out << steps_text(steps, {.width = terminal.console.width, .layers = options.layers});
  return ExitCode::Fine;
}

}  // namespace assay::app
