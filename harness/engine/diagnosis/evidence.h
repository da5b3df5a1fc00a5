#pragma once

#include "harness/cases/case.h"
#include "harness/report/record/words.h"
#include "harness/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay {

/// A wrong output of a case as hypotheses see it: expected and computed values, and which elements are wrong.
/// Refers to everything that it is made from.
class WrongOutput {
 public:
  struct Parts {
    const Case& test_case;
    std::span<const HostTensor> inputs;  ///< in the order of the op's input tensors
    std::size_t tensor = 0;              ///< the output's place among the case's tensors
    const HostTensor& expected;
    const HostTensor& got;
    std::vector<std::int64_t> wrong;            ///< row-major indices, ascending: all of them or a sample
    std::int64_t all_wrong = 0;                 ///< total number of wrong elements
    std::function<double(std::int64_t)> bound;  ///< largest allowed error of an element; 0: none
    /// Whether no program stored an element, so that its `got` means nothing; empty: all were stored.
    std::function<bool(std::int64_t)> is_unwritten;
  };

  explicit WrongOutput(Parts parts);

  const Case& test_case() const { return parts_.test_case; }
  std::span<const HostTensor> inputs() const { return parts_.inputs; }
  std::size_t tensor() const { return parts_.tensor; }
  const TensorSpec& spec() const { return parts_.test_case.tensors[parts_.tensor]; }
  const Shape& shape() const { return parts_.got.shape(); }
  std::int64_t numel() const { return parts_.got.numel(); }
  bool is_integer() const { return assay::is_integer(parts_.got.dtype()); }

  double expected(std::int64_t i) const { return parts_.expected.at(i); }
  double got(std::int64_t i) const { return parts_.got.at(i); }
  bool is_unwritten(std::int64_t i) const { return parts_.is_unwritten && parts_.is_unwritten(i); }

  /// Indices of wrong elements, at most `most_looked_at`, spread over all of them.
  std::span<const std::int64_t> wrong() const { return parts_.wrong; }
  std::int64_t all_wrong() const { return parts_.all_wrong; }
  /// Indices of right elements, at most a few thousand, spread over the tensor.
  std::span<const std::int64_t> right() const { return right_; }
  static constexpr std::int64_t most_looked_at = 1 << 16;

  /// The smallest and the largest integer that the output may hold.
  double lowest() const { return lowest_; }
  double highest() const { return highest_; }

  /// Whether `predicted` explains the computed value of a wrong element: it equals that value or, for floats
  /// and large errors of integers, is much nearer to it than the expected value.
  bool explains(std::int64_t i, double predicted) const;
  /// The share of the wrong elements that `predict` explains.
  double share_explained(const std::function<double(std::int64_t)>& predict) const;

  /// The evidence, in bits, in one of `candidates` hypotheses having predicted `explained` elements: little
  /// when many elements hold one value or few are wrong. (Based on the collision entropy of the computed
  /// values.)
  double evidence_bits(double explained, double candidates) const;

 private:
  Parts parts_;
  std::vector<std::int64_t> right_;
  double lowest_ = 0, highest_ = 0;
  double bits_of_element_ = 0;
};

/// The share of the wrong elements that a hypothesis must explain, and the evidence it must have in bits.
inline constexpr double least_share = 0.9;
inline constexpr double least_bits = 10;

/// A hypothesis's explanation of a wrong output.
struct Explanation {
  ErrorKind kind = ErrorKind::Index;
  std::string text;
  double share = 0;  ///< share of the wrong elements that it explains
};

/// A hypothesis about an error. It returns its explanation, or nothing if that covers less than least_share
/// of the wrong elements or says little.
using Hypothesis = std::function<std::optional<Explanation>(const WrongOutput&)>;

/// The explanation, if its share is large enough.
inline std::optional<Explanation> if_enough(Explanation explanation) {
  if (explanation.share < least_share) return std::nullopt;
  return explanation;
}

/// What speaks for and against a hypothesis that says which elements are wrong, but not which values they
/// hold. Of a large tensor, counts are of the elements that were looked at.
struct PlaceEvidence {
  std::int64_t wrong_there = 0;      ///< wrong elements that the hypothesis names
  std::int64_t right_there = 0;      ///< right elements that it names
  std::int64_t wrong_elsewhere = 0;  ///< wrong elements that it does not name
  /// Right elements that it does not name. Each of them would contradict it if it were wrong, so integers at
  /// the ends of their range, where clamping hides errors, do not count if wrong elements are not there.
  std::int64_t right_elsewhere = 0;

  /// How improbable it is, in bits, that as many wrong elements at random places are all among those named.
  double bits() const;
  /// "; elsewhere 0 of 168 elements are wrong"
  std::string text() const;
};

/// `is_there`: whether the hypothesis names an element.
PlaceEvidence place_evidence(const WrongOutput& output, const std::function<bool(std::int64_t)>& is_there);

/// A place is named if wrong elements are all there by chance in less than 1 of 256 tensors.
inline constexpr double least_place_bits = 8;

/// A case's parameters and inputs, which a hypothesis changes in one thing.
struct Point {
  Params params;
  std::vector<HostTensor> inputs;
};

/// Runs a case's reference at other points to see what an output would be there. Each answer costs the op's
/// work or, where that is more, moving all of the case's tensors, and where the reference is a program, the
/// time that it takes; once the budget is spent there are no more answers, so that a diagnosis of huge
/// tensors or by slow programs stays cheap.
class ReferenceProbe {
 public:
  /// `output` is an index among the op's outputs. `inputs` must outlive this object.
  ReferenceProbe(const Case& test_case, std::span<const HostTensor> inputs, std::size_t output,
                 double budget = default_budget);

  Point here() const;
  /// Whether the budget allows this many more answers.
  bool can_afford(double answers) const { return answers * cost_ <= budget_; }
  /// The output's values at `point`, cropped to the case's shape. Nothing when the budget does not allow it,
  /// the op refuses the point, or its output there is smaller in some dim. A refused point costs nothing.
  std::optional<HostTensor> ask(const Point& point);

  /// Operations and bytes that the reference may spend on one diagnosis: a fraction of a second.
  static constexpr double default_budget = 2e8;

 private:
  bool fits(const Point& point) const;
  std::vector<Expected> timed_reference(const Point& point);

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

/// Which elements of the inputs one element of the output depends on, found by changing them and asking the
/// reference: "x[0,3]=1.5", "scale[0]=0.25". For an input with more than a few such elements, the first and
/// the last: "w[2,0]=3 to w[2,63]=-7". Empty if that is too expensive. Elements whose change has no effect
/// here, such as the scale of a zero, are left out.
std::vector<std::string> made_from(const Case& test_case, ReferenceProbe& probe, std::int64_t element);

}  // namespace assay
