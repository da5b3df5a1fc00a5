#include "harness/commands/read/report.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/cases/select.h"
#include "harness/commands/find_report.h"
#include "harness/commands/run_summary.h"
#include "harness/report/console/answers.h"
#include "harness/report/console/show.h"
#include "harness/report/devices/model_steps.h"
#include "harness/report/devices/overview.h"
#include "harness/report/devices/pivot.h"
#include "harness/report/journal/journal_text.h"
#include "harness/report/journal/recorded_runs.h"
#include "harness/report/record/report_totals.h"
#include "harness/report/writers/markdown.h"
#include "harness/report/writers/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <set>

namespace assay::app {
namespace {

using Steps = std::vector<ModelSteps>;

/// Writes the journal again, compressed if the file's name ends in .zst.
void rewrite_journal(const std::filesystem::path& journal, const std::filesystem::path& to) {
  const std::string text = rewritten_journal(journal);
  write_named_file(to, to.extension() == ".zst" ? compressed(text) : text);
}

/// The readable part of a damaged journal; lists the lines that are left out on `log`.
RunReport salvaged(const std::filesystem::path& journal, std::ostream& log) {
  SalvagedJournal salvaged = salvage_journal(journal);
  const std::size_t count = salvaged.left_out_count;
  for (const LeftOutLine& line : salvaged.left_out) {
    log << printable(journal.string()) << ':' << line.number << ": left out: " << printable(line.why) << '\n';
  }
  if (count > salvaged.left_out.size()) log << "and " << count - salvaged.left_out.size() << " more lines\n";
  log << printable(journal.string()) << ": " << count << (count == 1 ? " line was" : " lines were")
      << " left out\n";
  return std::move(salvaged.report);
}

ExitCode print_hashes(const Pivot& pivot, std::ostream& out) {
  if (pivot.reports.size() < 2) {
    throw Error("comparing hashes: there is only one report; name the reports of two or more devices");
  }
  const HashComparison comparison = compare_hashes(pivot.reports);
  if (!comparison.compared_any()) {
    throw Error("comparing hashes: the reports have no exact output in common");
  }
  out << hash_differences(comparison, pivot.devices) << hash_totals(comparison);
  return comparison.differences.empty() ? ExitCode::Fine : ExitCode::Failures;
}

/// Refuses to compare what no row has; a run whose rows were not timed still shows its other tables.
void refuse_for_want_of_energy(const Pivot& pivot) {
  const auto has_it = [&](const PivotRow& row) {
    return std::ranges::any_of(row.records, [&](const Record* record) {
      return has_figures(record) && pivot.figure->value(*record->perf) > 0;
    });
  };
  if (!pivot.figure->is_of_energy || std::ranges::any_of(pivot.rows, has_it)) return;
  std::string story = fmt::format(
      "comparing {}: no row that passed has it; `assay run --energy` measures it on devices that tell their "
      "energy",
      pivot.figure->column);
  for (const RunReport& report : pivot.reports) {
    if (!report.run.energy.empty())
      story += fmt::format("\n  {}: {}", printable(report.run.device.name), printable(report.run.energy));
  }
  throw Error(story);
}

/// The rows of a report that a question covers.
std::vector<const Record*> rows_asked_for(const RunReport& report, const ShowOptions& options) {
  const std::string& id = options.id;
  const bool is_glob = id.find_first_of("*?") != id.npos;
  std::vector<const Record*> rows;
  for (const Record& record : report.records) {
    const RowInfo& info = record.info;
    const bool is_named = is_glob ? glob_matches(id, info.id) : info.id.find(id) != info.id.npos;
    const bool is_of_op = options.ops.empty() || std::ranges::any_of(options.ops, [&](const std::string& op) {
                            return glob_matches(op, info.op);
                          });
    if (is_named && is_of_op) rows.push_back(&record);
  }
  return rows;
}

/// The part of --group before or after its `=`.
std::string group_key(const std::string& asked) {
  return asked.substr(0, asked.find('='));
}

/// Answers --group: `KEY` counts the rows of each group, `KEY=GLOB` lists those of the groups that match.
std::string group_answer(const std::vector<const Record*>& rows, const std::string& asked,
                         std::size_t width) {
  const std::string key = group_key(asked);
  if (key.size() == asked.size()) return grouped_text(rows, key, width);
  const std::string pattern = asked.substr(key.size() + 1);
  std::vector<const Record*> chosen;
  for (const Record* row : rows) {
    const std::string group = group_of(*row, key);
    if (glob_matches(pattern, group) && !(key == "failure" && group.empty())) chosen.push_back(row);
  }
  if (chosen.empty()) {
    return "no row of " + printable(asked) + "; `--group " + printable(key) + "` shows the groups\n";
  }
  return rows_of_group_text(chosen, asked, width);
}

std::string answers(const std::vector<const Record*>& rows, const ShowOptions& options, std::size_t width) {
  std::string text;
  const auto add = [&](const std::string& answer) { text += (text.empty() ? "" : "\n") + answer; };
  if (options.worst) add(worst_text(rows, *options.worst, width));
  if (options.slowest) add(slowest_text(rows, *options.slowest, width));
  if (options.furthest_from_ceiling)
    add(furthest_from_ceiling_text(rows, *options.furthest_from_ceiling, width));
  if (!options.group.empty()) add(group_answer(rows, options.group, width));
  return text;
}

ExitCode answer(const ShowOptions& options, const Terminal& terminal) {
  const std::vector<std::filesystem::path> journals = journals_of(options.report);
  bool has_rows = false;
  for (const std::filesystem::path& journal : journals) {
    const RunReport report = read_checked_journal(journal);
    const std::vector<const Record*> rows = rows_asked_for(report, options);
    if (journals.size() > 1) {
      terminal.out << (journal == journals.front() ? "" : "\n") << printable(report.run.device.name) << ", "
                   << printable(journal.parent_path().string()) << '\n';
    }
    if (rows.empty() && journals.size() > 1) terminal.out << "no row\n";
    if (!rows.empty()) terminal.out << answers(rows, options, terminal.console.width);
    has_rows = has_rows || !rows.empty();
  }
  if (!has_rows) throw Error("showing rows: no row of the report has that id or --op");
  return ExitCode::Fine;
}

/// A row of that id whose chain was planned; all of them have the same plan.
const Record& row_with_plan(const RunReport& report, const std::string& id) {
  for (const Record* record : rows_of(report, id)) {
    if (record->chain) return *record;
  }
  throw Error("showing a plan: the row '" + printable(id) + "' has none; only chains that ran have one");
}

std::set<std::string> models_of(const Steps& reports) {
  std::set<std::string> models;
  for (const ModelSteps& steps : reports) {
    for (const ModelStep& step : steps.steps) models.insert(step.model);
    for (const Record* row : steps.chains) models.insert(row->info.model);
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
  for (auto* rows : {&steps.unplaced, &steps.chains})
    std::erase_if(*rows, [&](const Record* row) { return is_unwanted(row->info.model); });
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

void write_text(const std::filesystem::path& path, std::ostream& out,
                const std::function<std::string()>& text) {
  if (path.empty()) return;
  if (path == "-") {
    out << text();
  } else {
    write_named_file(path, text());
  }
}

ExitCode report(const ReportOptions& options, const Terminal& terminal) {
  if (!options.rewritten_journal.empty())
    rewrite_journal(only_journal(options.report), options.rewritten_journal);
  ExitCode code = ExitCode::Fine;
  GithubSummary summary{.title = "assay report"};
  for (const std::filesystem::path& journal : journals_of(options.report)) {
    const std::filesystem::path folder = journal.parent_path();
    const RunReport report =
        options.salvage ? salvaged(journal, terminal.log) : read_checked_journal(journal);
    write_reports(folder, report);
    Console console(terminal.out, terminal.log, terminal.console);
    print_summary(terminal.out, console, report, folder, options.benchmark_console);
    if (!options.github_summary.empty()) summary.devices.push_back(summary_device(report));
    code = exit_code_of_both(code, exit_code(report));
  }
  append_github_summary(options.github_summary, summary);
  return code;
}

ExitCode pivot(const PivotOptions& options, const Terminal& terminal) {
  const std::vector<RunReport> reports = read_reports(options.reports);
  const Pivot pivot = make_pivot(reports, pivot_figure(options.figure));
  refuse_for_want_of_energy(pivot);
  write_text(options.csv, terminal.out, [&] { return pivot_csv(pivot); });
  write_text(options.markdown, terminal.out, [&] { return pivot_markdown(pivot); });
  const bool writes_files = !options.csv.empty() || !options.markdown.empty();
  if (!writes_files && !options.hashes)
    terminal.out << pivot_text(pivot, {.width = terminal.console.width, .all = options.all});
  return options.hashes ? print_hashes(pivot, terminal.out) : ExitCode::Fine;
}

ExitCode show(const ShowOptions& options, const Terminal& terminal) {
  if (options.dot && options.asks())
    throw Error("showing a plan: --dot prints one chain's plan; leave the questions out");
  if (options.asks()) return answer(options, terminal);
  if (options.id.empty()) {
    throw Error(
        "showing rows: give an id, or ask for --worst, --slowest, --furthest-from-ceiling or --group");
  }
  const RunReport report = read_checked_journal(only_journal(options.report));
  const std::string id = only_id(report, options.id, "the report");
  if (options.dot) {
    terminal.out << plan_as_dot(row_with_plan(report, id));
    return ExitCode::Fine;
  }
  terminal.out << show_text(report.run, rows_of(report, id),
                            {.color = terminal.console.color, .samples = options.samples});
  return ExitCode::Fine;
}

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
