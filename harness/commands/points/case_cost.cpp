#include "harness/commands/points/case_cost.h"

namespace assay::app {

std::int64_t elements_of(const Case& test_case) {
  std::int64_t sum = 0;
  for (const TensorSpec& tensor : *test_case.tensors) sum += numel(tensor.shape);
  return sum;
}

std::int64_t operations_of(const Case& test_case) {
  return test_case.op->work(test_case.params, test_case.tensors).operations;
}

}  // namespace assay::app
