#pragma once

#include "harness/report/record/run_report.h"

#include <filesystem>

namespace assay {

/// read_journal, and besides whether what it tells agrees with itself: every planned row ends once the run is
/// done, a row that passed has what such a row has, blocks follow each other without a gap that they do not
/// tell of, and hold times, and figures that older schemas stored beside the samples are those of the
/// samples. A journal that was edited by hand, or lost a line, is an Error with file:line.
RunReport read_checked_journal(const std::filesystem::path& path);

}  // namespace assay
