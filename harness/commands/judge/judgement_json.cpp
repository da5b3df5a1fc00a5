#include "harness/commands/judge/judgement_json.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/source_hash.h"
#include "harness/base/text.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
      {"versions",
       {{"assay", facts.version},
        {"driver", text(facts.device.driver_name + " " + facts.device.driver_info)}}},
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

}  // namespace assay::app
