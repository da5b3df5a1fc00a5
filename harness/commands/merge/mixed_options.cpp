#include "harness/commands/merge/mixed_options.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace assay::app {
namespace {

using Values = std::vector<std::pair<const char*, std::string>>;

std::string on_or_off(bool flag) {
  return flag ? "on" : "off";
}

/// The values of options that must be equal, by name, in the order of the help.
Values values_of(const RunOptions& options) {
  return {{"--baseline-impl", options.rows.baseline_impl.empty() ? "none" : options.rows.baseline_impl},
          {"--budget", fmt::format("{:g}", options.rows.budget_s)},
          {"--program-limit", fmt::format("{:g}", options.rows.program_limit_s)},
          // Stored and measured ceilings are the same.
          {"--ceilings", options.ceilings == "none" ? "none" : "stored or measure"},
          {"--inject-slowdown", fmt::format("{:g}", options.rows.injected_slowdown_pct)},
          {"--validation", on_or_off(options.validation)},
          {"--robust-access", on_or_off(options.robust_access)}};
}

}  // namespace

std::optional<std::string> mixed_options(const RunOptions& one, const RunOptions& other) {
  const Values ours = values_of(one);
  const Values theirs = values_of(other);
  std::string text;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].second == theirs[i].second) continue;
    text += fmt::format("{}their {} is {} and {}", text.empty() ? "" : ", ", ours[i].first, ours[i].second,
                        theirs[i].second);
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace assay::app
