#pragma once

#include "harness/report/html/page_data.h"

#include <filesystem>

namespace assay::app {

/// The part "faults" of a page: the kill matrix in this folder of `assay mutate`. Throws Error if there is
/// none or it cannot be read.
///
/// The part has the score with what faults.md says about the run, the counts by file and by operator, the
/// faults that survived, are fragile or equivalent, and the matrix itself as text. faults.js shows them.
PagePart fault_part(const std::filesystem::path& folder);

}  // namespace assay::app
