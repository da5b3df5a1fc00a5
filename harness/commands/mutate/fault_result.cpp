#include "harness/commands/mutate/fault_result.h"

#include "harness/base/error.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace assay::app {
namespace {

constexpr std::array<std::pair<FaultEnd, std::string_view>, 6> names{{
    {FaultEnd::Killed, "killed"},
    {FaultEnd::Survived, "survived"},
    {FaultEnd::Equivalent, "equivalent"},
    {FaultEnd::Unchanged, "unchanged"},
    {FaultEnd::DoesNotCompile, "does not compile"},
    {FaultEnd::NotRun, "not run"},
}};

}  // namespace

std::string_view name_of(FaultEnd end) {
  for (const auto& [value, name] : names) {
    if (value == end) return name;
  }
  return "";
}

FaultEnd parse_fault_end(std::string_view name) {
  for (const auto& [value, known] : names) {
    if (known == name) return value;
  }
  throw Error(fmt::format("reading a result of assay mutate: '{}' is no end of a fault", name));
}

void FaultScore::add(const FaultResult& result) {
  if (result.is_fragile()) ++fragile;
  switch (result.end) {
    case FaultEnd::Killed:
      ++killed;
      break;
    case FaultEnd::Survived:
      ++survived;
      break;
    case FaultEnd::Equivalent:
      ++equivalent;
      break;
    case FaultEnd::Unchanged:
      ++unchanged;
      break;
    case FaultEnd::DoesNotCompile:
      ++does_not_compile;
      break;
    case FaultEnd::NotRun:
      ++not_run;
      break;
  }
}

std::size_t FaultScore::all() const {
  return killed + survived + equivalent + unchanged + does_not_compile + not_run;
}

std::optional<double> FaultScore::percent() const {
  const std::size_t counted = killed + survived;
  if (counted == 0) return std::nullopt;
  return 100.0 * static_cast<double>(killed) / static_cast<double>(counted);
}

FaultScore score_of(std::span<const FaultRecord> records) {
  FaultScore score;
  for (const FaultRecord& record : records) score.add(record.result);
  return score;
}

std::string score_text(const FaultScore& score) {
  const auto percent = score.percent();
  if (!percent) return "-";
  return fmt::format("{:.1f} % ({} of {})", *percent, score.killed, score.killed + score.survived);
}

std::map<std::string, FaultScore> scores_by(std::span<const FaultRecord> records,
                                            const std::function<std::string(const FaultRecord&)>& group) {
  std::map<std::string, FaultScore> scores;
  for (const FaultRecord& record : records) scores[group(record)].add(record.result);
  return scores;
}

}  // namespace assay::app
