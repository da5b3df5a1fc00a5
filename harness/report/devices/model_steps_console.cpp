#include "harness/base/clock.h"
#include "harness/base/text.h"
#include "harness/report/console/terminal_text.h"
#include "harness/report/devices/overview.h"
#include "harness/report/devices/pivot.h"
#include "harness/report/record/run_kind.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace assay {
namespace {

using Cells = std::vector<std::string>;
using Table = std::vector<Cells>;

constexpr std::int64_t decode_tokens = 1;

/// A step, and the device that has it.
struct DeviceStep {
  std::string device;
  const ModelStep* step = nullptr;
};

/// What steps must share to be compared, beside the kind of their runs. `context` as in ModelStep.
struct StepSize {
  std::int64_t tokens = 0;
  std::optional<std::int64_t> context{};

  auto operator<=>(const StepSize&) const = default;
};

StepSize step_size(const ModelStep& step) {
  return {step.tokens, step.context};
}

std::string context_words(const StepSize& size) {
  return size.context ? fmt::format(" at context {}", *size.context) : "";
}

std::string title_of(const StepSize& size) {
  if (size.tokens == 0) return "one run of the model" + context_words(size);
  return (size.tokens == decode_tokens ? "decode, 1 token per step"
                                       : fmt::format("{} tokens per step", size.tokens)) +
         context_words(size);
}

std::string setting_of(const ModelStep& step) {
  return printable(step.op + ", " + step.setting());
}

std::string why_untimed(const ModelStep& step, const StepLayer& layer) {
  if (layer.row == nullptr) return why_no_row(step, layer);
  if (!has_figures(layer.row)) return std::string(name_of(layer.row->status));
  return "its row has no calls";
}

std::string lacking_text(const ModelStep& step) {
  std::string text;
  for (const StepLayer& layer : step.layers) {
    if (layer.step_us) continue;
    text += (text.empty() ? "" : ", ") + printable(layer.name) + " (" + why_untimed(step, layer) + ")";
  }
  return text;
}

std::string ceilings_cell(const ModelStep& step, const std::string& bound) {
  const std::optional<double> us = step.at_ceilings_us();
  return us ? bound + fixed(*us / us_per_ms, 3) : "unknown";
}

/// A sum with missing layers is a bound. `fastest_us` is the time of the fastest complete step, 0 if none is.
Cells step_cells(const DeviceStep& of, double fastest_us) {
  const ModelStep& step = *of.step;
  const double us = step.sum_us(), rate = step.per_second();
  const bool whole = step.is_complete();
  const std::string bound = whole ? "" : ">= ", rate_bound = whole ? "" : "<= ";
  return {us > 0 ? bound + fixed(us / us_per_ms, 3) : "none",
          whole && fastest_us > 0 ? fixed(us / fastest_us, 2) + "x" : "",
          us > 0 ? ceilings_cell(step, bound) : "",
          us > 0 ? rate_bound + fixed(rate, rate < 100 ? 1 : 0) : "",
          fmt::format(
              "{} of {}",
              std::ranges::count_if(step.layers, [](const StepLayer& l) { return l.step_us.has_value(); }),
              step.layers.size()),
          of.device,
          setting_of(step)};
}

bool has_ceilings(const DeviceStep& of) {
  return of.step->at_ceilings_us().has_value();
}

std::string gain_words(const OpShare& share) {
  return share.gain_us ? ", " + fixed(*share.gain_us / us_per_ms, 3) + " to gain" : ", ceiling unknown";
}

/// What each op of a step adds, if it has several; `name` says which step it is.
std::string ops_line(const DeviceStep& of, const std::string& name, std::size_t width) {
  const std::vector<OpShare> shares = of.step->by_op();
  if (shares.size() < 2) return "";
  std::string text;
  for (const OpShare& share : shares) {
    text += fmt::format("{}{} {} ms ({:.0f} %{})", text.empty() ? "" : ", ", printable(share.op),
                        fixed(share.us / us_per_ms, 3), 100 * share.us / of.step->sum_us(),
                        has_ceilings(of) ? gain_words(share) : "");
  }
  return wrapped_words("- " + name + ": " + text, width);
}

std::string ops_text(std::span<const DeviceStep> steps, std::size_t width) {
  std::string text;
  for (const DeviceStep& of : steps) {
    const bool is_one_of_several = std::ranges::count(steps, of.device, &DeviceStep::device) > 1;
    text +=
        ops_line(of, is_one_of_several ? of.device + ", " + printable(of.step->setting()) : of.device, width);
  }
  if (text.empty()) return "";
  const bool is_known = std::ranges::any_of(steps, has_ceilings);
  return std::string("\nwhat each op adds, ") +
         (is_known ? "and would gain at its ceilings" : "without ceilings, which are unknown") + '\n' + text;
}

std::string layers_text(const DeviceStep& of, std::size_t width) {
  Table table{{"us", "calls", "ms per step", "% ceiling", "impl", "layer"}};
  for (const StepLayer& layer : of.step->layers) {
    if (layer.row == nullptr) continue;
    const Record& row = *layer.row;
    const bool passed = has_figures(&row);
    const double ceiling = passed ? percent_of_peak(*row.perf) : 0;
    const std::string chosen = passed ? row.perf->impl_auto : "";
    table.push_back({passed ? fixed(row.perf->time_us_p50, 2) : std::string(name_of(row.status)),
                     row.info.calls > 0 ? std::to_string(row.info.calls) : "",
                     layer.step_us ? fixed(*layer.step_us / us_per_ms, 3) : "",
                     ceiling > 0 ? fixed(ceiling, 1) : "",
                     printable(row.info.impl) + (chosen.empty() ? "" : ": " + printable(chosen)),
                     printable(layer.name + (layer.params.empty() ? "" : "  " + layer.params))});
  }
  return "\n  layers on " + of.device + ", " + setting_of(*of.step) + '\n' +
         text_table(table, {true, true, true, true, false, false}, width);
}

std::set<RunKind> kinds_of(std::span<const ModelSteps> reports) {
  std::set<RunKind> kinds;
  for (const ModelSteps& steps : reports) kinds.insert(kind_of_run(steps.report->run));
  return kinds;
}

/// The steps of runs of one kind, the fastest first.
std::vector<DeviceStep> steps_with(std::span<const ModelSteps> reports,
                                   const std::vector<std::string>& devices, const std::string& model,
                                   const StepSize& size, const RunKind& kind) {
  std::vector<DeviceStep> found;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (kind_of_run(reports[i].report->run) != kind) continue;
    for (const ModelStep& step : reports[i].steps) {
      if (step.model == model && step_size(step) == size) found.push_back({devices[i], &step});
    }
  }
  std::ranges::stable_sort(found, {}, [](const DeviceStep& of) {
    return std::tuple(!of.step->is_complete(), -of.step->timed_layers(), of.step->sum_us());
  });
  return found;
}

/// The rows of a model's chains that may stand for steps with these numbers of tokens, which a device lacks.
std::size_t count_chains(const ModelSteps& steps, const std::string& model,
                         const std::set<std::int64_t>& lacking) {
  const bool has_steps =
      std::ranges::any_of(steps.steps, [&](const ModelStep& step) { return step.model == model; });
  return static_cast<std::size_t>(std::ranges::count_if(steps.chains, [&](const Record* row) {
    const bool is_lacking = row->info.tokens == 0 || lacking.contains(row->info.tokens);
    return row->info.model == model && (!has_steps || is_lacking);
  }));
}

/// Why a device has no step with these numbers of tokens.
std::string why_no_step(const ModelSteps& steps, const std::string& model,
                        const std::set<std::int64_t>& lacking) {
  std::string of_chains;
  if (const std::size_t chains = count_chains(steps, model, lacking); chains > 0)
    of_chains = fmt::format("; {} of chains {} in no sum", counted_rows(chains), chains == 1 ? "is" : "are");
  const auto unplaced =
      std::ranges::count_if(steps.unplaced, [&](const Record* row) { return row->info.model == model; });
  if (unplaced > 0) {
    return fmt::format("; {} of the model {} no layer", counted_rows(static_cast<std::size_t>(unplaced)),
                       unplaced == 1 ? "has" : "have") +
           of_chains;
  }
  if (!of_chains.empty()) return of_chains;
  const bool has_model =
      std::ranges::any_of(steps.report->records, [&](const Record& row) { return row.info.model == model; });
  return has_model ? "" : "; the report has no row of the model";
}

bool has_step(const ModelSteps& steps, const std::string& model, std::int64_t tokens) {
  return std::ranges::any_of(
      steps.steps, [&](const ModelStep& step) { return step.model == model && step.tokens == tokens; });
}

/// " with 1, 512 tokens"; empty for a model without tokens.
std::string token_words(const std::set<std::int64_t>& tokens) {
  if (tokens == std::set<std::int64_t>{0}) return "";
  return fmt::format(" with {} {}", fmt::join(tokens, ", "),
                     tokens == std::set<std::int64_t>{1} ? "token" : "tokens");
}

/// The contexts that a device lacks, of those that others have with as many tokens as it has.
std::string missing_contexts(const ModelSteps& steps, const std::string& device, const std::string& model,
                             const std::set<StepSize>& sizes, std::size_t width) {
  std::string text;
  for (const StepSize& size : sizes) {
    const bool has_it = std::ranges::any_of(
        steps.steps, [&](const ModelStep& step) { return step.model == model && step_size(step) == size; });
    if (!size.context || has_it || !has_step(steps, model, size.tokens)) continue;
    text += wrapped_words(
        fmt::format("- {}: no step{}{}", device, token_words({size.tokens}), context_words(size)), width);
  }
  return text;
}

std::string missing_text(std::span<const ModelSteps> reports, const std::vector<std::string>& devices,
                         const std::string& model, const std::set<StepSize>& sizes, std::size_t width) {
  std::string text;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    text += missing_contexts(reports[i], devices[i], model, sizes, width);
    std::set<std::int64_t> lacking;
    for (const StepSize& size : sizes) {
      if (!has_step(reports[i], model, size.tokens)) lacking.insert(size.tokens);
    }
    if (lacking.empty()) continue;
    text += wrapped_words(
        "- " + devices[i] + ": no step" + token_words(lacking) + why_no_step(reports[i], model, lacking),
        width);
  }
  for (std::size_t i = 0; i < reports.size(); ++i) {
    for (const ModelStep& step : reports[i].steps) {
      if (step.model != model || step.is_complete()) continue;
      text += wrapped_words("- " + devices[i] + ", " + title_of(step_size(step)) + ", " + setting_of(step) +
                                ": missing from the sum: " + lacking_text(step),
                            width);
    }
  }
  return text.empty() ? "" : "\nmissing\n" + text;
}

/// The cells of a chain's row; one without figures has its status in place of the time.
Cells chain_cells(const Record& row, const std::string& device) {
  const bool passed = has_figures(&row);
  const double us = passed ? row.perf->time_us_p50 : 0;
  const std::int64_t calls = row.info.calls;
  return {row.info.tokens > 0 ? std::to_string(row.info.tokens) : "",
          passed ? fixed(us, 2) : std::string(name_of(row.status)),
          passed ? fixed(dispatches_us(row), 2) : "",
          calls > 0 ? std::to_string(calls) : "",
          passed && calls > 0 ? fixed(us * static_cast<double>(calls) / us_per_ms, 3) : "",
          device,
          printable(row.info.id)};
}

/// The chains of a model in runs of one kind, for each number of tokens the fastest first, those without a
/// time last.
std::string chains_text(std::span<const ModelSteps> reports, const std::vector<std::string>& devices,
                        const std::string& model, const RunKind& kind, std::size_t width) {
  std::vector<std::pair<const Record*, std::string>> rows;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (kind_of_run(reports[i].report->run) != kind) continue;
    for (const Record* row : reports[i].chains) {
      if (row->info.model == model) rows.emplace_back(row, devices[i]);
    }
  }
  if (rows.empty()) return "";
  std::ranges::stable_sort(rows, {}, [](const auto& of) {
    const bool passed = has_figures(of.first);
    return std::tuple(of.first->info.tokens, !passed, passed ? of.first->perf->time_us_p50 : 0);
  });
  Table table{{"tokens", "us", "its dispatches, us", "calls", "ms per step", "device", "chain"}};
  for (const auto& [row, device] : rows) table.push_back(chain_cells(*row, device));
  return '\n' +
         wrapped_words("chains" + kind_addition(kind) +
                           ", each timed from end to end as one program; they are in no sum",
                       width) +
         text_table(table, {true, true, true, true, true, false, false}, width) +
         wrapped_words("'Its dispatches' is the sum of their times, each measured by itself.", width);
}

/// The sizes of a model's steps, and the tokens of its other timed rows, those of chains included; 0 tokens
/// alone if no row names any.
std::set<StepSize> sizes_of(std::span<const ModelSteps> reports, const std::string& model) {
  std::set<StepSize> sizes;
  const auto add = [&](const RowInfo& info) {
    if (info.model == model && info.tokens > 0) sizes.insert({info.tokens});
  };
  for (const ModelSteps& steps : reports) {
    for (const ModelStep& step : steps.steps) {
      if (step.model == model) sizes.insert(step_size(step));
    }
    for (const Record* row : steps.unplaced) add(row->info);
    for (const Record* row : steps.chains) add(row->info);
  }
  return sizes.empty() ? std::set<StepSize>{{}} : sizes;
}

/// The steps of one size in runs of one kind, relative to the fastest; empty if there are none.
std::string steps_of_kind(std::span<const DeviceStep> steps, const StepSize& size, const RunKind& kind,
                          const StepsView& view) {
  if (steps.empty()) return "";
  Table table{{"ms per step", "ratio", "at ceilings", size.tokens == 0 ? "steps/s" : "tokens/s", "layers",
               "device", "op and setting"}};
  const ModelStep& fastest = *steps.front().step;  // complete ones come first
  for (const DeviceStep& step : steps)
    table.push_back(step_cells(step, fastest.is_complete() ? fastest.sum_us() : 0));
  std::string text = '\n' + wrapped_words(title_of(size) + kind_addition(kind), view.width) +
                     text_table(table, {true, true, true, true, true, false, false}, view.width);
  text += ops_text(steps, view.width);
  for (const DeviceStep& step : steps) {
    if (view.layers) text += layers_text(step, view.width);
  }
  return text;
}

std::string model_text(std::span<const ModelSteps> reports, const std::vector<std::string>& devices,
                       const std::string& model, const StepsView& view) {
  const std::set<StepSize> sizes = sizes_of(reports, model);
  const std::set<RunKind> kinds = kinds_of(reports);
  std::string text = printable(model) + ": a step is the sum over its layers of median time x calls\n";
  for (const StepSize& size : sizes) {
    for (const RunKind& kind : kinds)
      text += steps_of_kind(steps_with(reports, devices, model, size, kind), size, kind, view);
  }
  for (const RunKind& kind : kinds) text += chains_text(reports, devices, model, kind, view.width);
  return text + missing_text(reports, devices, model, sizes, view.width);
}

}  // namespace

std::string steps_text(std::span<const ModelSteps> reports, const StepsView& view) {
  std::set<std::string> models;
  std::vector<RunInfo> runs;
  for (const ModelSteps& steps : reports) {
    for (const ModelStep& step : steps.steps) models.insert(step.model);
    for (const Record* row : steps.chains) models.insert(row->info.model);
    runs.push_back(steps.report->run);
  }
  const std::vector<std::string> devices = unique_device_names(runs);
  std::string text;
  for (const std::string& model : models)
    text += (text.empty() ? "" : "\n") + model_text(reports, devices, model, view);
  return text + '\n' +
         wrapped_words(
             "A sum has the parts of a model whose timed rows name a `layer`, and nothing else. The cases in "
             "cases/models have the linear layers of language models; the folder that `assay model` writes "
             "has "
             "attention, norms, caches, embedding and output head, too. Ops that compute the same layers "
             "make a sum each; "
             "of several rows of a layer, impl auto counts, else the fastest. 'At ceilings' is the sum if "
             "each "
             "layer reached the ceiling that it is nearer to.",
             view.width);
}

}  // namespace assay
