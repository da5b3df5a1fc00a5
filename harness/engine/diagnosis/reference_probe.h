#pragma once

#include "harness/cases/case.h"
#include "harness/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// A case's parameters and inputs, which a hypothesis changes in one thing.
struct Point {
  Params params;
  std::vector<HostTensor> inputs;
};

/// Runs a case's reference at other points to see what an output would be there. Each answer costs the op's
/// work; once the budget is spent there are no more answers, so that a diagnosis of huge tensors stays cheap.
class ReferenceProbe {
 public:
  /// `output` is an index among the op's outputs. `inputs` must outlive this object.
  ReferenceProbe(const Case& test_case, std::span<const HostTensor> inputs, std::size_t output,
                 double budget = default_budget);

  Point here() const;
  /// Whether the budget allows this many more answers.
  bool can_afford(double answers) const { return answers * cost_ <= budget_; }
  /// The output's values at `point`, cropped to the case's shape. Nothing when the budget does not allow it,
  /// the op refuses the point, or its output there is smaller in some dim.
  std::optional<HostTensor> ask(const Point& point);

  /// Operations and bytes that the reference may spend on one diagnosis: a fraction of a second.
  static constexpr double default_budget = 2e8;

 private:
  bool fits(const Point& point) const;

  const Case* case_;
  std::span<const HostTensor> inputs_;
  std::size_t output_;
  Shape shape_;
  double cost_ = 0;
  double budget_;
};

/// The first indices of each dim, as many as `shape` has; nothing when the tensor is smaller.
std::optional<HostTensor> cropped(const HostTensor& tensor, const Shape& shape);

/// Writes a value of any dtype; integers are rounded and clamped.
void set_element(HostTensor& tensor, std::int64_t index, double value);

/// The specs of the case's inputs, in order.
std::vector<const TensorSpec*> input_specs(const Case& test_case);

/// The value that stands for real zero in an input: the zero point from the parameters or from the tensor of
/// zero points that belongs to it, if there is one; 8 and 8 in bytes that hold two constant 4-bit values.
/// `point` has the op's inputs.
double zero_of_input(const Case& test_case, const Point& point, std::size_t input, std::int64_t index);

}  // namespace assay
