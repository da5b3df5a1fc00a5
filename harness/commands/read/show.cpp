#include "harness/report/console/show.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/cases/select.h"
#include "harness/commands/find_report.h"
#include "harness/commands/read/report.h"
#include "harness/report/console/answers.h"
#include "harness/report/console/plan_graph.h"
#include "harness/report/journal/find_rows.h"

#include <algorithm>
#include <ostream>

namespace assay::app {
namespace {

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
    const RunReport report = read_journal(journal);
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

}  // namespace

ExitCode show(const ShowOptions& options, const Terminal& terminal) {
  if (options.dot && options.asks())
    throw Error("showing a plan: --dot prints one chain's plan; leave the questions out");
  if (options.asks()) return answer(options, terminal);
  if (options.id.empty()) {
    throw Error(
        "showing rows: give an id, or ask for --worst, --slowest, --furthest-from-ceiling or --group");
  }
  const RunReport report = read_journal(only_journal(options.report));
  const std::string id = only_id(report, options.id, "the report");
  if (options.dot) {
    terminal.out << plan_as_dot(row_with_plan(report, id));
    return ExitCode::Fine;
  }
  terminal.out << show_text(report.run, rows_of(report, id),
                            {.color = terminal.console.color, .samples = options.samples});
  return ExitCode::Fine;
}

}  // namespace assay::app
