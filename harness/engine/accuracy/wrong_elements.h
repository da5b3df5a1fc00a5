#pragma once

#include "harness/engine/accuracy/acceptance.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/output_check.h"
#include "harness/report/record/record.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace assay {

/// A wrong output, and everything found out about it so far.
struct WrongElements {
  const Case& test_case;
  const DataSet& data;
  std::size_t output = 0;  ///< index among the op's outputs
  std::size_t tensor = 0;  ///< index among the op's tensors
  const Acceptance& accepted;
  const HostTensor& got;
  const OutputCheck& check;
  std::function<bool(std::int64_t)> is_unwritten;  ///< empty: everything was written
  /// Whether it differs between the runs, so that its value says nothing about the error.
  std::function<bool(std::int64_t)> is_unstable;
};

/// Adds the first and the worst wrong element, the input elements they were made from, and the diagnosis to
/// the result. Its cost is bounded: it samples when many elements are wrong.
void add_evidence(const WrongElements& wrong, AccuracyResult& result);

}  // namespace assay
