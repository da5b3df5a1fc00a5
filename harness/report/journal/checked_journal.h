#pragma once

#include "harness/report/record/record.h"

#include <filesystem>

namespace assay {

/// read_journal, which also checks that the journal is consistent: in a complete run every planned row has
/// an end, a row that passed has all that such a row needs, and blocks are numbered without unexplained gaps
/// and contain times. A journal that was edited by hand, or lost a line, is an Error with file:line.
RunReport read_checked_journal(const std::filesystem::path& path);

}  // namespace assay
