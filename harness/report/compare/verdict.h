#pragma once

#include "harness/report/console/terminal_text.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace assay {

/// The change of one row between two runs. reports/README.md states the rules in full.
enum class Verdict : std::uint8_t {
  Faster,
  Slower,
  Same,         ///< no difference that the row could show
  Ambiguous,    ///< the blocks neither prove a difference nor its absence, or the rows are not comparable
  Environment,  ///< a difference, but of the same program: it comes from the environment
  New,          ///< a result where there was none
  Gone,         ///< no result where there was one
  Broken,       ///< right before, failing now
  Drifted,      ///< a larger share of an accuracy bound is spent
  Suspect,      ///< a time of either side cannot be trusted
};
inline constexpr int verdict_count = 10;

std::string_view name_of(Verdict verdict);  ///< "FASTER"
/// Parses a name in upper or lower case: "slower", "SLOWER".
std::optional<Verdict> parse_verdict(std::string_view name);
/// Parses a list of names, "slower,broken", or "none" for an empty set. Throws Error(Usage) that names
/// `option` and all verdicts.
std::set<Verdict> parse_verdicts(const std::string& list, const std::string& option);

Ink ink_of(Verdict verdict);

}  // namespace assay
