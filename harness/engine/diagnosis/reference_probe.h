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

/// A case's parameters and inputs, to be changed in one thing.
struct Point {
  Params params;
  std::vector<HostTensor> inputs;
};

/// Asks a case's reference what an output would be at another point. Each answer costs the op's work; when
/// what may be spent is spent, there are no more, so that huge tensors cost nothing.
class ReferenceProbe {
 public:
  /// `output`: among the op's outputs. `inputs` must outlive this.
  ReferenceProbe(const Case& test_case, std::span<const HostTensor> inputs, std::size_t output,
                 double budget = default_budget);

  Point here() const;
  /// Whether so many more answers can be had.
  bool can_afford(double answers) const { return answers * cost_ <= budget_; }
  /// The output's values where the point is `point`. Nothing: it cannot be afforded, the op refuses the
  /// point, or its output there is smaller in some dim. Where it is larger, its first indices.
  std::optional<HostTensor> ask(const Point& point);

  /// Operations and bytes that a diagnosis may have the references do: a fraction of a second.
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

/// The first indices of each dim; nothing where the tensor is smaller than that.
std::optional<HostTensor> cropped(const HostTensor& tensor, const Shape& shape);

/// Writes a value of any dtype; integers are rounded and clamped.
void set_element(HostTensor& tensor, std::int64_t index, double value);

/// The specs of the case's inputs, in order.
std::vector<const TensorSpec*> input_specs(const Case& test_case);

/// What stands for real zero in an input: the zero point of parameters or of a tensor of its name, where
/// there is one; 8 and 8 in bytes of two constant 4-bit values. `point` has the op's inputs.
double zero_of_input(const Case& test_case, const Point& point, std::size_t input, std::int64_t index);

}  // namespace assay
