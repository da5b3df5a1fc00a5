#pragma once

#include "harness/cases/case.h"
#include "harness/report/record.h"

#include <string>

namespace assay {

/// A case in the words of its reports. `mode` is Accu or Perf: a case of mode both is two rows.
CaseInfo case_info(const Case& one, Mode mode);

/// The command that runs just this row again; `options` are those of the run that matter (device, shaders).
std::string repro_line(const CaseInfo& info, const std::string& options);

}  // namespace assay
