#pragma once

#include "harness/engine/run/device_context.h"
#include "harness/engine/run/device_rows.h"
#include "harness/engine/run/outcome.h"

#include <cstddef>
#include <optional>

namespace assay {

/// The result of running a row of mode perf on data of the run's secret seed.
struct SecretRun {
  std::optional<Outcome> wrong;  ///< FAIL: right on its own data, wrong on the secret data
  JudgedRun timed;               ///< otherwise; empty if the run or the case has no secret data
};

/// Checks a row that is right on its own data on the first or second data set of the secret seed.
/// Requirements that a case's seed was chosen to meet (ties, a case that can fail) do not apply to the secret
/// data. Throws as judge_row() does.
SecretRun run_on_secret_data(const DeviceRow& row, std::size_t which, DeviceContext& context);

}  // namespace assay
