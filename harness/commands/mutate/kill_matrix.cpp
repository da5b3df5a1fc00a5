#include "harness/commands/mutate/kill_matrix.h"

#include "harness/base/text.h"
#include "harness/commands/mutate/fault_names.h"
#include "harness/commands/mutate/fault_score.h"
#include "harness/report/writers/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace assay::app {
namespace {

/// One member of each kill, separated by blanks: ids have none.
template <class Member>
std::string joined(const std::vector<Kill>& kills, Member member) {
  std::vector<std::string> texts;
  for (const Kill& kill : kills) texts.push_back(kill.*member);
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::vector<std::string> cells_of(const FaultRecord& record) {
  const auto& [fault, result] = record;
  return {fault.id,
          fault.file,
          std::to_string(fault.line),
          std::to_string(fault.column),
          fault.kind,
          fault.before,
          fault.after,
          std::string(name_of(result.end)),
          std::to_string(result.kills.size()),
          joined(result.kills, &Kill::row),
          joined(result.kills, &Kill::how),
          joined(result.kills, &Kill::word),
          std::to_string(result.rows_ran),
          std::to_string(result.rows_left),
          fixed(result.cpu_s, 3),
          fault.line_hash,
          first_line(result.why)};
}

std::string code(const std::string& text) {
  std::string cell = printable_line(text);
  for (std::size_t at = cell.find('|'); at != std::string::npos; at = cell.find('|', at + 2))
    cell.insert(at, 1, '\\');
  return cell.empty() ? "(nothing)" : "`" + cell + "`";
}

std::string score_line(const std::string& name, const FaultScore& score) {
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", name, score_text(score),
                     score.killed, score.fragile, score.survived, score.equivalent, score.unchanged,
                     score.does_not_compile, score.not_run);
}

template <class Group>
std::string score_table(const char* title, std::span<const FaultRecord> records, Group group) {
  std::string text = fmt::format(
      "| {} | score | killed | fragile | survived | equivalent | unchanged | does not compile | not run |\n"
      "|---|---|---|---|---|---|---|---|---|\n",
      title);
  for (const auto& [name, score] : scores_by(records, group)) text += score_line(name, score);
  return text + score_line("all", score_of(records));
}

std::string fault_line(const FaultRecord& record) {
  const auto& [fault, result] = record;
  const std::string rows = result.kills.empty()
                               ? fmt::format("{} ran, {} left", result.rows_ran, result.rows_left)
                               : joined(result.kills, &Kill::row);
  return fmt::format("| {}:{}:{} | {} | {} | {} | {} | `{}` |\n", fault.file, fault.line, fault.column,
                     fault.kind, code(fault.before), code(fault.after), rows, fault.id);
}

std::string fault_table(const char* title, std::vector<const FaultRecord*> records) {
  std::ranges::sort(records, {}, [](const FaultRecord* record) {
    return std::tie(record->fault.file, record->fault.line, record->fault.column);
  });
  if (records.empty()) return fmt::format("\n## {}\n\nNone.\n", title);
  std::string text = fmt::format(
      "\n## {}\n\n| place | operator | before | after | rows | fault |\n|---|---|---|---|---|---|\n", title);
  for (const FaultRecord* record : records) text += fault_line(*record);
  return text;
}

template <class Which>
std::vector<const FaultRecord*> those(std::span<const FaultRecord> records, Which which) {
  std::vector<const FaultRecord*> found;
  for (const FaultRecord& record : records) {
    if (which(record.result)) found.push_back(&record);
  }
  return found;
}

/// Why faults were not run, and how many for each reason.
std::string not_run_text(std::span<const FaultRecord> records) {
  std::map<std::string, std::size_t> reasons;
  for (const FaultRecord& record : records) {
    if (record.result.end == FaultEnd::NotRun) ++reasons[record.result.why];
  }
  if (reasons.empty()) return "";
  std::string text = "\n## Not run\n\n";
  for (const auto& [reason, count] : reasons) text += fmt::format("- {} faults: {}\n", count, reason);
  return text;
}

}  // namespace

std::string kill_matrix_csv(std::span<const FaultRecord> records) {
  std::string text =
      csv_row({"fault", "file", "line", "column", "operator", "before", "after", "status", "kills",
               "killed_by", "how", "words", "rows_ran", "rows_left", "cpu_s", "line_hash", "reason"});
  for (const FaultRecord& record : records) text += csv_row(cells_of(record));
  return text;
}

std::string faults_markdown(const FaultRun& run, std::span<const FaultRecord> records) {
  std::string text =
      fmt::format("# Seeded faults\n\nScore: {}, on {} ({}), assay {}, seed {}.\n\n",
                  score_text(score_of(records)), run.device, run.driver, run.version, run.choice.seed);
  text +=
      "The score is killed / (killed + survived). Fragile faults are killed by one row only.\n\n## Files\n\n";
  text += score_table("file", records, [](const FaultRecord& record) { return record.fault.file; });
  text += "\n## Operators\n\n";
  text += score_table("operator", records, [](const FaultRecord& record) { return record.fault.kind; });
  text +=
      fault_table("Survivors",
                  those(records, [](const FaultResult& result) { return result.end == FaultEnd::Survived; }));
  text +=
      fault_table("Fragile", those(records, [](const FaultResult& result) { return result.is_fragile(); }));
  text += fault_table("Equivalent", those(records, [](const FaultResult& result) {
                        return result.end == FaultEnd::Equivalent;
                      }));
  return text + not_run_text(records);
}

std::string fault_text(const mutation::Fault& fault) {
  return fmt::format("{}:{}:{}  {}  '{}' -> '{}'", fault.file, fault.line, fault.column, fault.kind,
                     printable_line(fault.before), printable_line(fault.after));
}

}  // namespace assay::app
