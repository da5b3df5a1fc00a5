#include "harness/commands/mutate/fault_reports.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/commands/mutate/fault_result.h"
#include "harness/commands/mutate/trial_worker.h"
#include "harness/report/writers/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <fcntl.h>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace assay::app {
namespace {

using nlohmann::json;

constexpr int journal_format = 1;

std::string line_of(const FaultRun& run) {
  std::vector<std::string> cases;
  for (const auto& path : run.choice.cases) cases.push_back(path.string());
  const json value{{"assay_mutate", journal_format},
                   {"version", run.version},
                   {"device", run.device},
                   {"driver", run.driver},
                   {"rows", run.rows},
                   {"sources", run.sources},
                   {"shaders", run.choice.shaders},
                   {"cases", cases},
                   {"folder", run.choice.folder.string()},
                   {"ops", run.choice.op_folder.string()},
                   {"seed", run.choice.seed},
                   {"per_file", run.choice.per_file},
                   {"since", run.choice.since},
                   {"shard", run.choice.shard},
                   {"most_rows", run.choice.rows}};
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

FaultRun run_of(std::string_view line) {
  const json value = json::parse(line);
  if (value.at("assay_mutate").get<int>() != journal_format)
    throw Error("its format is that of another version of assay");
  FaultRun run{.choice = {},
               .version = value.at("version").get<std::string>(),
               .device = value.at("device").get<std::string>(),
               .driver = value.at("driver").get<std::string>(),
               .rows = value.at("rows").get<std::string>(),
               .sources = value.at("sources").get<std::string>()};
  run.choice.shaders = value.at("shaders").get<std::vector<std::string>>();
  for (const json& path : value.at("cases")) run.choice.cases.emplace_back(path.get<std::string>());
  run.choice.folder = value.at("folder").get<std::string>();
  run.choice.op_folder = value.value("ops", "");
  run.choice.seed = value.at("seed").get<std::uint64_t>();
  run.choice.per_file = value.at("per_file").get<std::size_t>();
  run.choice.since = value.at("since").get<std::string>();
  run.choice.shard = value.at("shard").get<std::string>();
  run.choice.rows = value.at("most_rows").get<std::size_t>();
  return run;
}

int opened(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) throw_file_error("open", path, errno);
  return file;
}

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

std::filesystem::path fault_journal_in(const std::filesystem::path& folder) {
  return folder / "faults.jsonl";
}

FaultJournalContent read_fault_journal(const std::filesystem::path& file) {
  const auto text = whole_file(file);
  if (!text) throw Error(fmt::format("reading a run of assay mutate: there is no {}", file.string()));
  FaultJournalContent content;
  std::string_view rest = *text;
  try {
    for (bool is_first = true; rest.find('\n') != std::string_view::npos; is_first = false) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(line.size() + 1);
      if (is_first) {
        content.run = run_of(line);
      } else {
        content.results.push_back(parse_result(line));
      }
    }
  } catch (const std::exception& error) {
    throw Error(fmt::format("reading a run of assay mutate: {} is damaged: {}", file.string(), error.what()));
  }
  if (content.run.version.empty())
    throw Error(fmt::format("reading a run of assay mutate: {} has no first line", file.string()));
  return content;
}

void check_same_run(const FaultRun& before, const FaultRun& now) {
  const auto check = [](const std::string& was, const std::string& is, const char* what) {
    if (was == is) return;
    throw Error(
        fmt::format("resuming a run of assay mutate: {} changed since; start a new run (--out)", what));
  };
  check(before.version, now.version, "the binary");
  check(before.sources, now.sources, "the shaders");
  check(before.rows, now.rows, "the cases, or what the device can run,");
  check(before.device + before.driver, now.device + now.driver, "the device or its driver");
}

FaultJournal::FaultJournal(const std::filesystem::path& file, const FaultJournalContent& known)
    : path_(file), file_([&] {
        std::string text = line_of(known.run);
        for (const FaultResult& result : known.results) text += result_json(result);
        replace_file(file, text);
        return opened(file);
      }()) {}

void FaultJournal::add(const FaultResult& result) {
  const std::string line = result_json(result);
  if (write_bytes(file_.get(), line) != line.size()) throw_file_error("write", path_, errno);
}

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
