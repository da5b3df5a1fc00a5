#pragma once

#include "harness/engine/run/device_context.h"
#include "harness/engine/run/device_rows.h"
#include "harness/engine/run/outcome.h"

#include <optional>

namespace assay {

/// The result of running a row of mode perf on data of the run's secret seed.
struct SecretRun {
  std::optional<Outcome> wrong;  ///< FAIL: right on its own data, wrong on the secret data
  JudgedRun timed;               ///< otherwise; empty if the run or the case has no secret data
};

/// Checks a row that is right on its own data on data of the secret seed. Requirements that a case's seed was
/// chosen to meet (ties, a case that can fail) do not apply to the secret data. Throws as judge_row() does.
SecretRun run_on_secret_data(const DeviceRow& row, DeviceContext& context);

/// Plans a row: gives it its program, or returns why it is not run: INVALID, SKIPPED, UNSUPPORTED, or what
/// went wrong while its program was built.
std::optional<Outcome> plan_row(DeviceRow& row, const DeviceContext& context);

/// Checks the answer of a row that has its program, on its group's data. A row of mode perf that passes is
/// then ready to be timed. Throws the exceptions that outcome_of() handles.
Outcome judge_row(DeviceRow& row, const DataSet& data, DeviceContext& context);

/// Completes the record of a row with its outcome and the validation layer's messages.
void end_row(DeviceRow& row, Outcome outcome, DeviceContext& context);

}  // namespace assay
