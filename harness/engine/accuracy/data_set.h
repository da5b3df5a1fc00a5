#pragma once

#include "harness/cases/case.h"
#include "harness/op/expected.h"
#include "harness/tensor/tensor.h"

#include <string>
#include <vector>

namespace assay {

/// The inputs of a group of cases and what the reference makes of them: computed once, shared by all
/// impls and forms.
struct DataSet {
  std::vector<HostTensor> inputs;  ///< in the order of the op's input tensors
  std::string input_hash;
  std::vector<Expected> expected;  ///< in the order of the op's output tensors
  double reference_ms = 0;
};

/// Fills (or reads) the inputs of `test_case` and runs its op's reference. Throws Error when a file cannot be
/// read.
DataSet make_data_set(const Case& test_case);

}  // namespace assay
