#pragma once

#include "harness/op/op.h"

#include <map>
#include <set>
#include <string>

namespace assay {

/// Names of the tensors that ops may have.
class PossibleTensors {
 public:
  /// Which tensors an op has depends on its parameters, so parameters are tried: every combination of choices
  /// and booleans, with some sizes. Empty: it cannot be told, because some choice is possible with none of
  /// these sizes. The op must outlive this.
  const std::set<std::string>& of(const Op& op);

 private:
  std::map<const Op*, std::set<std::string>> names_;
};

}  // namespace assay
