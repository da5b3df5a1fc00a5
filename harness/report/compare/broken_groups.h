#pragma once

#include "harness/report/compare/compare.h"
#include "harness/report/record/failure_groups.h"

#include <string>
#include <vector>

namespace assay {

/// Up to this many rows that are BROKEN are listed like other rows; more are grouped.
inline constexpr std::size_t most_single_broken = 3;

/// Whether rows that are BROKEN are grouped.
bool has_broken_groups(const RunComparison& comparison);

/// The rows that are BROKEN, grouped by how they fail now; `FailureGroup::rows` are places in
/// RunComparison::rows. Empty if they are not grouped.
std::vector<FailureGroup> broken_groups(const RunComparison& comparison);

/// The groups for a terminal, three lines each, and how to list their rows. Empty if there is none.
std::string broken_groups_text(const RunComparison& comparison, bool color);

/// The groups as a list in Markdown.
std::string broken_groups_markdown(const RunComparison& comparison);

}  // namespace assay
