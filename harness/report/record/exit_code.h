#pragma once

#include "harness/base/error.h"
#include "harness/report/record/record.h"

namespace assay {

/// The exit code of a run: Infrastructure if any case ended in an infrastructure status, else Failures if any
/// failed, else Usage if no case was judged at all (PASS or EXPECTED_FAIL), else Fine. `strict`: an expired
/// or stale rule of the expectations counts as a failure.
ExitCode exit_code(const RunReport& report, bool strict = false);

/// The exit code of a run on two devices, from each device's: Infrastructure, else Failures, else Usage, else
/// Fine.
ExitCode exit_code_of_both(ExitCode a, ExitCode b);

}  // namespace assay
