#include "harness/commands/judge/judge_runs.h"

#include "harness/base/error.h"
#include "harness/commands/run/run_once.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace assay::app {
namespace {

using Words = std::vector<std::string>;

std::string filter_of(const std::vector<std::string>& ids) {
  return fmt::format("{}", fmt::join(ids, ":"));
}

std::vector<std::string> ids_of(const std::vector<const Case*>& cases) {
  std::set<std::string> ids;
  for (const Case* one : cases) ids.insert(one->id);
  return {ids.begin(), ids.end()};
}

std::set<std::string> ids_of(const DrawnCases& drawn) {
  std::set<std::string> ids;
  for (const Case& one : drawn.cases) ids.insert(one.id);
  return ids;
}

/// Adds the files to those of `assay run`.
void add_files(Words& words, const DrawnCases& drawn) {
  Words files;
  for (const auto& file : drawn.files) files.push_back(file.string());
  words.insert(words.begin() + 2, files.begin(), files.end());
}

/// Whether a row of a timed case has this id.
bool is_row_of(const std::string& row, const std::string& id) {
  return row == id || row == id + "/cold";
}

std::vector<JudgedRow> rows_of(const RunReport& report, Stage stage) {
  std::map<std::tuple<std::string, std::string>, const Record*> own;
  for (const Record& record : report.records) {
    if (!record.info.versus) own[{record.info.id, record.info.cache}] = &record;
  }
  std::vector<JudgedRow> rows;
  for (const Record& record : report.records) {
    if (!record.info.versus) continue;
    const auto baseline = own.find({record.info.baseline, record.info.cache});
    rows.push_back(judged_row(stage, record, baseline == own.end() ? nullptr : baseline->second));
  }
  return rows;
}

constexpr const char* robust_access = "--robust-access";

/// Removes "/versus" from the ids of rows, as they are the same in every row here.
void take_suffix(std::vector<JudgedRow>& rows) {
  constexpr std::string_view suffix = "/versus";
  for (JudgedRow& row : rows) {
    if (row.id.ends_with(suffix)) row.id.resize(row.id.size() - suffix.size());
  }
}

/// Patterns of the drawn points, each in both impls if its baseline is another one.
Words patterns_of(const DrawnCases& drawn) {
  Words patterns;
  for (const Case& one : drawn.cases) patterns.push_back(fmt::format("{}/{}/*", one.op->name, one.name));
  return patterns;
}

JudgedRow row_left_out(const Case& one, Stage stage, const std::string& why) {
  JudgedRow row;
  row.stage = stage;
  row.id = one.id;
  row.op = one.op->name;
  row.impl = one.impl->name;
  row.shape = to_string(one.tensors->front().shape);
  row.incomplete = true;
  row.reasons = {{stage == Stage::Performance || stage == Stage::Drawn ? "not_timed" : "not_run", why}};
  return row;
}

}  // namespace

Words JudgeRuns::common_words(const std::string& name) const {
  const JudgeOptions& options = parts_.options;
  Words words{"assay", "run"};
  for (const auto& path : options.cases) words.push_back(path.string());
  const auto add = [&](const std::string& option, const std::string& value) {
    words.push_back(option);
    words.push_back(value);
  };
  add("--versus-shaders", parts_.submission.folder.string());
  words.emplace_back("--versus-alone");
  // A submission must not read other rows' or the judge's memory.
  words.emplace_back(robust_access);
  add("--tuning", "none");  // its defaults are judged, on any device
  if (!options.device.empty()) add("--device", options.device);
  for (const std::filesystem::path& folder : options.op_folders) add("--ops", folder.string());
  add("--out", (parts_.folder / name).string());
  add("--hang-limit", fmt::format("{}", options.hang_limit_s));
  // The limits of time and memory are for one worker that prepares nothing ahead.
  add("--workers", "1");
  add("--prepare", "0");
  return words;
}

/// Nothing if it must stop before a worker has opened its device: such a run has no report.
std::optional<RunReport> JudgeRuns::run(const Words& words) const try {
  return quiet_run({.purpose = "judging a submission",
                    .memory_limit_gib = parts_.options.memory_limit_gib,
                    .verbose = parts_.options.verbose},
                   words, parts_.context, parts_.terminal, [this] { return !parts_.why_stopped().empty(); });
} catch (const Error& error) {
  if (error.code() != ExitCode::Infrastructure || parts_.why_stopped().empty()) throw;
  return std::nullopt;
}

std::vector<JudgedRow> JudgeRuns::accuracy() const {
  if (parts_.cases.accuracy.empty()) return {};
  std::vector<JudgedRow> rows = accuracy_rows(common_words("accuracy"));
  Words plain = common_words("accuracy_plain");
  std::erase(plain, robust_access);
  need_plain_rows(rows, accuracy_rows(plain));
  return rows;
}

std::vector<JudgedRow> JudgeRuns::accuracy_rows(Words words) const {
  words.insert(words.end(), {"--mode", "accu", "--filter", filter_of(ids_of(parts_.cases.accuracy))});
  const std::optional<RunReport> report = run(words);
  if (!report) return left_out(Stage::Accuracy, parts_.why_stopped());
  std::vector<JudgedRow> rows = rows_of(*report, Stage::Accuracy);
  take_suffix(rows);
  return rows;
}

std::vector<JudgedRow> JudgeRuns::secret_and_fuzzed() const {
  std::vector<std::string> ids = ids_of(parts_.cases.secret);
  const std::set<std::string> fuzzed = ids_of(parts_.fuzzed);
  ids.insert(ids.end(), fuzzed.begin(), fuzzed.end());
  if (ids.empty()) return {};
  Words words = common_words("secret");
  add_files(words, parts_.fuzzed);
  words.insert(words.end(), {"--mode", "accu", "--filter", filter_of(ids), "--seed",
                             std::to_string(parts_.secret_seed), "--answer-cache", "none"});
  const std::optional<RunReport> report = run(words);
  if (!report) return left_out(Stage::Secret, parts_.why_stopped());
  std::vector<JudgedRow> rows = rows_of(*report, Stage::Secret);
  take_suffix(rows);
  for (JudgedRow& row : rows) {
    if (fuzzed.contains(row.id)) row.stage = Stage::Fuzz;
  }
  return rows;
}

std::vector<JudgedRow> JudgeRuns::performance() {
  if (parts_.cases.performance.empty()) return {};
  const JudgeOptions& options = parts_.options;
  std::vector<const Case*> cases = parts_.cases.performance;
  cases.insert(cases.end(), parts_.cases.baselines.begin(), parts_.cases.baselines.end());
  Words words = common_words("performance");
  add_files(words, parts_.drawn);
  if (!options.baseline.empty()) words.insert(words.end(), {"--shaders", options.baseline.string()});
  if (!options.baseline_impl.empty()) words.insert(words.end(), {"--baseline-impl", options.baseline_impl});
  Words ids = ids_of(cases);
  const Words patterns = patterns_of(parts_.drawn);
  ids.insert(ids.end(), patterns.begin(), patterns.end());
  words.insert(words.end(), {"--mode", "perf", "--filter", filter_of(ids), "--budget",
                             fmt::format("{}", options.budget_s), "--ceilings", options.ceilings,
                             "--secret-seed", std::to_string(parts_.secret_seed), "--time-secret-data"});
  const std::optional<RunReport> report = run(words);
  if (!report) return left_out(Stage::Performance, parts_.why_stopped());
  had_ceilings_ = report->run.ceilings.measured();
  std::vector<JudgedRow> rows = rows_of(*report, Stage::Performance);
  take_suffix(rows);
  // With a baseline of another impl its cases also ran with the submission's shaders; they were not chosen.
  const Words chosen = ids_of(parts_.cases.performance);
  const std::set<std::string> drawn = ids_of(parts_.drawn);
  std::vector<JudgedRow> kept;
  for (JudgedRow& row : rows) {
    const auto is_its_row = [&](const std::string& id) { return is_row_of(row.id, id); };
    if (std::ranges::any_of(drawn, is_its_row)) {
      row.stage = Stage::Drawn;
    } else if (std::ranges::none_of(chosen, is_its_row)) {
      continue;
    }
    kept.push_back(std::move(row));
  }
  return kept;
}

std::vector<JudgedRow> JudgeRuns::left_out(Stage stage, const std::string& why) const {
  std::vector<const Case*> cases = stage == Stage::Accuracy ? parts_.cases.accuracy
                                   : stage == Stage::Secret ? parts_.cases.secret
                                                            : parts_.cases.performance;
  std::vector<JudgedRow> rows;
  for (const Case* one : cases) rows.push_back(row_left_out(*one, stage, why));
  if (stage != Stage::Performance) return rows;
  for (const Case& one : parts_.drawn.cases) rows.push_back(row_left_out(one, Stage::Drawn, why));
  return rows;
}

}  // namespace assay::app
