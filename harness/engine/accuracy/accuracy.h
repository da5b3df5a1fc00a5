#pragma once

#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/experiment.h"
#include "harness/engine/accuracy/output_check.h"
#include "harness/report/record/accuracy_result.h"

#include <optional>
#include <string>
#include <vector>

namespace assay {

/// The result of checking one case's answer.
struct AccuracyOutcome {
  Status status = Status::Pass;  ///< Pass, Fail or Mistrusted
  std::string reason;            ///< empty for Pass
  AccuracyResult result;
  Answer outputs;  ///< of the first run
  /// A chain failed node by node: outputs are those of its nodes, not of the case's tensors.
  bool has_outputs_of_nodes = false;
};

/// Runs a case twice with different poison and checks what it did: out-of-bounds writes, overwritten inputs,
/// elements never written, answers that depend on padding, on old content or on the run, wrong values, and,
/// when everything is right, whether the case could have failed at all. The first finding names the metric;
/// the reason lists all of them. `accepted`: see acceptances().
AccuracyOutcome assess(Experiment& experiment, const Case& test_case, const DataSet& data,
                       const std::vector<Acceptance>& accepted);

/// The acceptance of each output of a case for an impl with that unit error (Impl::unit_error; nothing: it
/// states none). Refers to `data`. Throws std::logic_error when the reference gives magnitudes and the unit
/// error is missing, negative or not finite.
std::vector<Acceptance> acceptances(const Case& test_case, const DataSet& data,
                                    std::optional<UnitError> unit_error);

}  // namespace assay
