#pragma once

#include "harness/report/files/model_steps.h"
#include "harness/report/record/run_report.h"

#include <cstddef>
#include <span>
#include <string>

namespace assay {

/// Reports on one screen of `width` columns. Of one: the run, its ceilings, how its rows ended, what each op
/// reaches of its ceiling, the steps of models. Of several: the devices beside each other, what each reaches
/// by op, and how its times compare with the first's on the rows that both have.
std::string overview_text(std::span<const RunReport> reports, std::size_t width);

struct StepsView {
  std::size_t width = 80;
  bool layers = false;  ///< the layers of each step too
};

/// The steps of models as a terminal shows them: for each model and number of tokens the time of a step on
/// each device, the fastest first, what each sum lacks, and which device has no such step.
std::string steps_text(std::span<const ModelSteps> reports, const StepsView& view);

}  // namespace assay
