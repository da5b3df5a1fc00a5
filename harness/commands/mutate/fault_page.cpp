#include "harness/commands/mutate/fault_page.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/commands/mutate/fault_result.h"
#include "harness/commands/mutate/kill_matrix.h"
#include "harness/report/html/json_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace assay::app {
namespace {

constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 28;

/// "on llvmpipe (...), assay 0.1.0, seed 1.": what faults.md says next to this score; empty if it does not.
std::string about(const std::filesystem::path& folder, const std::string& score) {
  const auto text = whole_regular_file(folder / "faults.md", most_bytes);
  if (!text) return "";
  const std::string beginning = "\nScore: " + score + ", ";
  const std::size_t at = text->find(beginning);
  return at == std::string::npos ? "" : first_line(text->substr(at + beginning.size()));
}

Json json_of(const std::string& name, const FaultScore& score) {
  const auto percent = score.percent();
  return {{"name", json_text(name)},      {"percent", percent ? json_number(*percent) : Json()},
          {"killed", score.killed},       {"fragile", score.fragile},
          {"survived", score.survived},   {"equivalent", score.equivalent},
          {"unchanged", score.unchanged}, {"does_not_compile", score.does_not_compile},
          {"not_run", score.not_run}};
}

template <class Group>
Json scores_json(std::span<const FaultRecord> records, Group group) {
  Json scores = Json::array();
  for (const auto& [name, score] : scores_by(records, group)) scores.push_back(json_of(name, score));
  return scores;
}

Json json_of(const FaultRecord& record) {
  const auto& [fault, result] = record;
  Json json = {{"id", json_text(fault.id)},
               {"file", json_text(fault.file)},
               {"line", fault.line},
               {"column", fault.column},
               {"operator", json_text(fault.kind)},
               {"before", json_text(fault.before)},
               {"after", json_text(fault.after)},
               {"rows_ran", result.rows_ran},
               {"rows_left", result.rows_left}};
  if (!result.kills.empty()) json["killed_by"] = json_text(result.kills.front().row);
  if (!result.why.empty()) json["reason"] = json_text(result.why);
  return json;
}

template <class Which>
Json faults_json(std::span<const FaultRecord> records, Which which) {
  std::vector<const FaultRecord*> those;
  for (const FaultRecord& record : records) {
    if (which(record.result)) those.push_back(&record);
  }
  std::ranges::stable_sort(those, {}, [](const FaultRecord* record) {
    return std::tie(record->fault.file, record->fault.line, record->fault.column);
  });
  Json json = Json::array();
  for (const FaultRecord* record : those) json.push_back(json_of(*record));
  return json;
}

}  // namespace

PagePart fault_part(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "kill_matrix.csv";
  const auto csv = whole_regular_file(file, most_bytes);
  if (!csv) {
    throw Error(fmt::format("reading seeded faults: there is no {}; `assay mutate` writes it into its --out",
                            printable(file.string())));
  }
  std::vector<FaultRecord> records;
  try {
    records = read_kill_matrix(*csv);
  } catch (const Error& error) {
    throw Error(fmt::format("reading seeded faults: {}: {}", printable(file.string()), error.what()));
  }
  const std::string score = score_text(score_of(records));
  const Json json = {
      {"score", score},
      {"about", json_text(about(folder, score))},
      {"all", json_of("all", score_of(records))},
      {"files", scores_json(records, [](const FaultRecord& record) { return record.fault.file; })},
      {"operators", scores_json(records, [](const FaultRecord& record) { return record.fault.kind; })},
      {"survivors",
       faults_json(records, [](const auto& result) { return result.end == FaultEnd::Survived; })},
      {"fragile", faults_json(records, [](const auto& result) { return result.is_fragile(); })},
      {"equivalent",
       faults_json(records, [](const auto& result) { return result.end == FaultEnd::Equivalent; })},
      {"csv", *csv}};
  return {"faults", packed(json_dump(json))};
}

}  // namespace assay::app
