#include "ops/common/tokens.h"

#include "harness/tensor/shape.h"

namespace assay::ops {

std::int64_t tokens_of_shape(const Params& params) {
  Shape rows = params.ints("shape");
  rows.pop_back();
  return numel(rows);
}

}  // namespace assay::ops
