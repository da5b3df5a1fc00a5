#pragma once

#include "harness/report/record/journal.h"

namespace assay {

/// read_journal, and besides whether the figures of every record agree with each other: times with their raw
/// samples, counts with what they count, statuses with what a row of that status has, the end of the run
/// with the plan. A journal that was edited by hand, or lost a line, is an Error with file:line.
RunReport read_checked_journal(const std::filesystem::path& path);

}  // namespace assay
