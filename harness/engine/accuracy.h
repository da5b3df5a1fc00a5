#pragma once

#include "harness/engine/answer.h"
#include "harness/engine/data_set.h"
#include "harness/engine/experiment.h"
#include "harness/report/record.h"

#include <string>

namespace assay {

/// The verdict on one case's answer.
struct Assessment {
  Status status = Status::Pass;  ///< Pass, Fail or Mistrusted
  std::string reason;            ///< empty for Pass
  AccuracyResult result;
  Answer outputs;  ///< of the first run
};

/// Runs a case twice with different poison and judges what it did: writes outside, overwritten inputs,
/// elements never written, answers that depend on padding, on old content or on the run, wrong values, and,
/// when all is right, whether the test could have failed. The first of these names the metric; the reason
/// tells all.
Assessment assess(Experiment& experiment, const Case& one, const DataSet& data);

}  // namespace assay
