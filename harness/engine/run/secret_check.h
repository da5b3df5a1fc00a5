#pragma once

#include "harness/engine/run/device_context.h"
#include "harness/engine/run/device_rows.h"
#include "harness/engine/run/outcome.h"

#include <optional>

namespace assay {

/// What is wrong with the answer of a row of mode perf that is right on its own data, on those of the run's
/// secret seed: FAIL. Nothing: it is right there too, or the run or the case has no such data. What a case's
/// seed is made for (ties, a case that can fail) is not asked of the secret one. Throws what judge_row()
/// does.
std::optional<Outcome> wrong_on_secret_data(const DeviceRow& row, DeviceContext& context);

}  // namespace assay
