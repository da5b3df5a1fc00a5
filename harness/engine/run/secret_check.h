#pragma once

#include "harness/engine/run/device_context.h"
#include "harness/engine/run/device_rows.h"
#include "harness/engine/run/outcome.h"

#include <optional>

namespace assay {

/// A row of mode perf on data of the run's secret seed.
struct SecretRun {
  std::optional<Outcome> wrong;  ///< FAIL: right on its own data, wrong on these
  JudgedRun timed;               ///< otherwise; none where the run or the case has no such data
};

/// Judges a row that is right on its own data on those of the secret seed. What a case's seed is made for
/// (ties, a case that can fail) is not asked of the secret one. Throws what judge_row() does.
SecretRun run_on_secret_data(const DeviceRow& row, DeviceContext& context);

}  // namespace assay
