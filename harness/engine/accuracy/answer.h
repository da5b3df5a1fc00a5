#pragma once

#include "harness/tensor/tensor.h"

#include <memory>
#include <vector>

namespace assay {

/// The outputs of a case, in order. Runs whose outputs are bitwise equal share them.
using Answer = std::shared_ptr<const std::vector<HostTensor>>;

inline bool same_answer(const Answer& a, const Answer& b) {
  return a == b || same_bytes(*a, *b);
}

}  // namespace assay
