#pragma once

#include "harness/cases/case.h"
#include "harness/report/record/diagnoses.h"
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

}  // namespace assay
