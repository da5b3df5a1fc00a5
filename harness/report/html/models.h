#pragma once

#include "harness/report/html/json_columns.h"
#include "harness/report/record/record.h"

namespace assay {

/// The steps of models that a report's timed rows make up (model_steps), for the page: an array, empty if
/// there are none.
Json json_of_models(const RunReport& report);

}  // namespace assay
