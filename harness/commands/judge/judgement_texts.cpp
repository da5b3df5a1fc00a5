#include "harness/commands/judge/judgement_texts.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/hash.h"
#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/console/terminal_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace assay::app {
namespace {

using Json = nlohmann::ordered_json;

Json text(const std::string& any) {
  return valid_utf8(any);
}

Json or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json or_null(const std::string& any) {
  return any.empty() ? Json(nullptr) : text(any);
}

Json of_finding(const Finding& finding) {
  return {{"word", finding.word}, {"text", text(finding.text)}};
}

Json of_findings(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) list.push_back(of_finding(finding));
  return list;
}

Json of_names(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push_back(text(name));
  return list;
}

Json of_files(const std::vector<HashedFile>& files) {
  Json list = Json::array();
  for (const HashedFile& file : files) list.push_back({{"path", text(file.path)}, {"hash", file.hash}});
  return list;
}

Json of_row(const JudgedRow& row) {
  return {{"id", text(row.id)},
          {"stage", name_of(row.stage)},
          {"op", row.op},
          {"impl", row.impl},
          {"shape", row.shape},
          {"forms", row.forms},
          {"status", name_of(row.status)},
          {"correct", row.correct ? Json(*row.correct) : Json(nullptr)},
          {"trusted", row.trusted},
          {"incomplete", row.incomplete},
          {"reasons", of_findings(row.reasons)},
          {"median_us", or_null(row.median_us)},
          {"baseline_us", or_null(row.baseline_us)},
          {"ratio", row.ratio ? Json(row.ratio->median) : Json(nullptr)},
          {"ratio_low", row.ratio ? Json(row.ratio->interval.low) : Json(nullptr)},
          {"ratio_high", row.ratio ? Json(row.ratio->interval.high) : Json(nullptr)},
          {"repro", text(row.repro)}};
}

/// The reasons of the submission and of all rows, each with its row.
Json all_reasons(const Judgement& judgement) {
  Json list = Json::array();
  const auto add = [&](const Finding& finding, const Json& row, const Json& stage) {
    list.push_back({{"word", finding.word}, {"text", text(finding.text)}, {"row", row}, {"stage", stage}});
  };
  for (const Finding& finding : judgement.findings) add(finding, nullptr, nullptr);
  for (const Finding& finding : judgement.missing) add(finding, nullptr, nullptr);
  for (const JudgedRow& row : judgement.rows) {
    for (const Finding& finding : row.reasons) add(finding, text(row.id), name_of(row.stage));
  }
  return list;
}

Json of_ratio(const std::optional<OverallRatio>& ratio) {
  if (!ratio) return nullptr;
  return {{"geometric_mean", ratio->is_narrow() ? Json(ratio->geometric_mean) : Json(nullptr)},
          {"low", ratio->low},
          {"high", ratio->high},
          {"rows", ratio->rows}};
}

constexpr std::size_t most_of_a_reason = 600;
constexpr std::size_t most_files_named = 8;

std::string ratio_text(double middle, double low, double high) {
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", middle, low, high);
}

/// Without the mean if it says too little.
std::string ratio_text(const OverallRatio& ratio) {
  if (ratio.is_narrow()) return ratio_text(ratio.geometric_mean, ratio.low, ratio.high);
  return fmt::format("[{:.3f}, {:.3f}]", ratio.low, ratio.high);
}

std::string times_text(const JudgedRow& row) {
  if (!row.median_us) return "";
  std::string text = fmt::format("  {} us", significant(*row.median_us, 4));
  if (row.ratio) {
    text += fmt::format(", {} of the baseline's {} us",
                        ratio_text(row.ratio->median, row.ratio->interval.low, row.ratio->interval.high),
                        significant(row.baseline_us.value_or(0), 4));
  }
  return text;
}

std::string finding_text(const Finding& finding) {
  return fmt::format("              {}: {}\n", finding.word,
                     indented(printable(shortened(finding.text, most_of_a_reason)), 16));
}

std::string row_text(const JudgedRow& row, bool color) {
  std::string text =
      fmt::format("{:<12}  {}  {}{}\n", name_of(row.stage),
                  painted(fmt::format("{:<13}", name_of(row.status)), ink_of(row.status), color),
                  printable_line(row.id), times_text(row));
  for (const Finding& reason : row.reasons) text += finding_text(reason);
  return text;
}

/// "accuracy 10 of 10 right, ..."
std::string counts_text(const Judgement& judgement) {
  std::vector<std::string> counts;
  for (const Stage stage : {Stage::Accuracy, Stage::Secret, Stage::Fuzz, Stage::Performance, Stage::Drawn}) {
    const auto is_of = [&](const JudgedRow& row) { return row.stage == stage; };
    const auto is_right = [&](const JudgedRow& row) { return is_of(row) && row.correct == true; };
    const auto all = std::ranges::count_if(judgement.rows, is_of);
    if (all == 0) continue;
    counts.push_back(
        fmt::format("{} {} of {}", name_of(stage), std::ranges::count_if(judgement.rows, is_right), all));
  }
  return counts.empty() ? "nothing was run" : fmt::format("right: {}", fmt::join(counts, ", "));
}

Ink ink_of_verdict(Verdict verdict) {
  if (verdict == Verdict::Trusted) return Ink::Green;
  return verdict == Verdict::Incomplete ? Ink::Yellow : Ink::Red;
}

std::string verdict_line(const Judgement& judgement, bool color) {
  const Verdict verdict = judgement.verdict();
  std::string line = painted(name_of(verdict), ink_of_verdict(verdict), color) + ": ";
  line += counts_text(judgement);
  const auto add_ratio = [&](const std::optional<OverallRatio>& ratio, std::string_view where) {
    if (ratio) line += fmt::format("{} {} ({} rows)", where, ratio_text(*ratio), ratio->rows);
  };
  add_ratio(judgement.ratio(), "; time over the baseline's at drawn points");
  add_ratio(judgement.public_ratio(), ", at the repository's");
  return line + '\n';
}

}  // namespace

HashedFile hashed_file(const std::filesystem::path& path) {
  const std::optional<std::string> bytes = whole_file(path);
  if (!bytes) throw Error(fmt::format("hashing the case file '{}': it cannot be read", path.string()));
  return {path.string(), source_hash(*bytes)};
}

std::string judgement_json(const Judgement& judgement, const JudgeFacts& facts, const JudgeOptions& options) {
  Json rows = Json::array();
  for (const JudgedRow& row : judgement.rows) rows.push_back(of_row(row));
  const Json all{
      {"schema", judge_schema},
      {"verdict", name_of(judgement.verdict())},
      {"correct", judgement.correct()},
      {"trusted", judgement.is_trusted()},
      {"complete", judgement.is_complete()},
      {"ratio", of_ratio(judgement.ratio())},
      {"public_ratio", of_ratio(judgement.public_ratio())},
      {"reasons", all_reasons(judgement)},
      {"rows", rows},
      {"submission",
       {{"folder", text(facts.submission)},
        {"hash", facts.hash},
        {"files", of_names(facts.files)},
        {"unchanged", of_names(facts.unchanged)}}},
      {"baseline",
       {{"shaders", or_null(options.baseline.string())}, {"impl", or_null(options.baseline_impl)}}},
      {"selection",
       {{"cases", facts.cases},
        {"selected", facts.selected},
        {"judged_of", facts.mattering},
        {"ops", of_names(facts.ops)},
        {"accuracy_of", facts.accuracy_of},
        {"performance_of", facts.performance_of},
        {"case_files", of_files(facts.case_files)}}},
      {"seeds", {{"secret", facts.secret_seed}, {"draw", facts.draw_seed}}},
      {"device",
       {{"name", text(facts.device.name)}, {"uuid", facts.device.uuid}, {"api", facts.device.api_version}}},
      {"versions", {{"assay", facts.version}, {"driver", text(driver_of(facts.device))}}},
      {"ceilings", facts.has_ceilings},
      {"limits",
       {{"rows", options.rows},
        {"budget_s", options.budget_s},
        {"time_s", options.time_limit_s},
        {"hang_s", options.hang_limit_s},
        {"memory_gib", options.memory_limit_gib}}},
      {"folder", text(facts.folder)},
      {"seconds", facts.seconds}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string judgement_text(const Judgement& judgement, const JudgeFacts& facts, bool color) {
  std::string text = fmt::format(
      "judge         {} on {}\n"
      "shaders       {}; change the SPIR-V of {}; used by {} of {} selected cases (of {})\n"
      "drawn         accuracy from {} rows, performance from {}; seeds: --secret-seed {} --draw-seed {}\n",
      printable_line(facts.submission), printable_line(facts.device.name),
      printable_line(first_names(facts.files, most_files_named)), fmt::join(facts.ops, ", "), facts.mattering,
      facts.selected, facts.cases, facts.accuracy_of, facts.performance_of, facts.secret_seed,
      facts.draw_seed);
  for (const JudgedRow& row : judgement.rows) {
    const bool is_timed = row.stage == Stage::Performance || row.stage == Stage::Drawn;
    if (is_timed || !row.reasons.empty()) text += row_text(row, color);
  }
  for (const Finding& finding : judgement.findings) text += finding_text(finding);
  for (const Finding& finding : judgement.missing) text += finding_text(finding);
  return text + verdict_line(judgement, color);
}

}  // namespace assay::app
