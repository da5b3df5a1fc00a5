#pragma once

#include "harness/op/op.h"
#include "harness/tensor/form.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace assay {

/// Called with a point of an op. Returns whether it wants further ones.
using UsePoint = std::function<bool(const Params& params, const std::vector<TensorSpec>& tensors)>;

/// Calls `use` with points that the op accepts: every combination of choices and booleans, with some sizes
/// and ranks. With none if there are too many combinations.
void each_possible_point(const Op& op, const UsePoint& use);

/// The tensors that ops may have, and their forms.
class PossibleTensors {
 public:
  /// Which tensors an op has depends on its parameters, so parameters are tried: every combination of choices
  /// and booleans, with some sizes. Empty: it cannot be told, because some choice is possible with none of
  /// these sizes. The op must outlive this.
  const std::set<std::string>& of(const Op& op);

  /// The forms that a tensor of that name accepts at some point. Empty: it cannot be told, as above.
  const std::set<Form>& forms_of(const Op& op, const std::string& tensor);

 private:
  using Forms = std::map<std::string, std::set<Form>>;  ///< by tensor

  std::map<const Op*, std::set<std::string>> names_;
  std::map<const Op*, Forms> forms_;
};

}  // namespace assay
