#pragma once

#include "harness/report/devices/model_steps.h"
#include "harness/report/record/record.h"

#include <cstddef>
#include <span>
#include <string>

namespace assay {

/// Reports on one screen of `width` columns. For one report: the run, its ceilings, how its rows ended, each
/// op's share of its ceiling, the steps of models. For several: the devices next to each other, each one's
/// share of the ceiling by op, and its times relative to the first device's on the rows that both have; of
/// runs of several kinds (RunKind) each is apart.
std::string overview_text(std::span<const RunReport> reports, std::size_t width);

struct StepsView {
  std::size_t width = 80;
  bool layers = false;  ///< also show the layers of each step
};

/// The steps of models for a terminal: for each model, number of tokens, context and kind of run the time of
/// a step on each device, the fastest first; the layers missing from each sum, and the devices that have no
/// such step.
std::string steps_text(std::span<const ModelSteps> reports, const StepsView& view);

}  // namespace assay
