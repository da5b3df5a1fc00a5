#pragma once

#include "harness/engine/accuracy/acceptance.h"
#include "harness/engine/accuracy/answer.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/experiment.h"
#include "harness/report/record/record.h"

#include <optional>
#include <string>
#include <vector>

namespace assay {

/// The verdict on one case's answer.
struct AccuracyOutcome {
  Status status = Status::Pass;  ///< Pass, Fail or Mistrusted
  std::string reason;            ///< empty for Pass
  AccuracyResult result;
  Answer outputs;  ///< of the first run
};

/// Runs a case twice with different poison and judges what it did: writes outside, overwritten inputs,
/// elements never written, answers that depend on padding, on old content or on the run, wrong values, and,
/// when all is right, whether the test could have failed. The first of these names the metric; the reason
/// tells all.
/// `accepted`: see acceptances().
AccuracyOutcome assess(Experiment& experiment, const Case& test_case, const DataSet& data,
                       const std::vector<Acceptance>& accepted);

/// What is accepted of each output of a case from an impl with that unit error (Impl::unit_error; nothing: it
/// states none). Refers to `data`. Throws std::logic_error where the reference gives magnitudes and no unit
/// error is stated, or one that is negative or not finite.
std::vector<Acceptance> acceptances(const Case& test_case, const DataSet& data,
                                    std::optional<double> unit_error);

}  // namespace assay
