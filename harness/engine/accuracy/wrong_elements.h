#pragma once

#include "harness/engine/accuracy/acceptance.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/output_check.h"
#include "harness/report/record/record.h"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace assay {

/// A wrong output, and all that was found out about it.
struct WrongElements {
  const Case& test_case;
  const DataSet& data;
  std::size_t output = 0;  ///< among the op's outputs
  std::size_t tensor = 0;  ///< among its tensors
  const Acceptance& accepted;
  const HostTensor& got;
  const OutputCheck& check;
  std::function<bool(std::int64_t)> is_unwritten;  ///< empty: everything was written
  std::function<bool(std::int64_t)> is_unstable;   ///< it differs between the runs: its value is of no error
};

/// Adds to the result the first and the worst of the wrong elements with what they were made from, and the
/// diagnosis. Its cost is bounded: of many wrong elements it looks at a sample.
void add_evidence(const WrongElements& wrong, AccuracyResult& result);

}  // namespace assay
