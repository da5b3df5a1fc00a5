#pragma once

#include "harness/cases/case.h"
#include "harness/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace assay {

/// A wrong output of a case, as hypotheses about its error see it: what was expected and got, and which
/// elements are wrong. Refers to all that it is made from.
class WrongOutput {
 public:
  struct Parts {
    const Case& test_case;
    std::span<const HostTensor> inputs;  ///< in the order of the op's input tensors
    std::size_t tensor = 0;              ///< the output's place among the case's tensors
    const HostTensor& expected;
    const HostTensor& got;
    std::vector<std::int64_t> wrong;            ///< row-major indices, ascending: all, or a sample
    std::int64_t all_wrong = 0;                 ///< how many there are
    std::function<double(std::int64_t)> bound;  ///< what an element may be off by; 0: nothing
    /// How many of `wrong` no program stored, the first of them in order; their `got` says nothing.
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

  /// Wrong elements, at most `most_looked_at`, spread over all of them.
  std::span<const std::int64_t> wrong() const { return parts_.wrong; }
  std::int64_t all_wrong() const { return parts_.all_wrong; }
  /// Elements that are right, at most some thousands, spread over the tensor.
  std::span<const std::int64_t> right() const { return right_; }
  static constexpr std::int64_t most_looked_at = 1 << 16;

  /// The integers that the output may hold.
  double lowest() const { return lowest_; }
  double highest() const { return highest_; }

  /// Whether `predicted` explains what was got of a wrong element: it is that value, or, of floats and large
  /// errors of integers, much nearer to it than the expected one is.
  bool explains(std::int64_t i, double predicted) const;
  /// The share of the wrong elements for which `predict` gives what was got.
  double share_explained(const std::function<double(std::int64_t)>& predict) const;

  /// What it says that so many elements were predicted by one of `candidates` hypotheses, in bits: little
  /// where many elements hold one value, or few are wrong. (The collision entropy of what was got.)
  double evidence_bits(double explained, double candidates) const;

 private:
  Parts parts_;
  std::vector<std::int64_t> right_;
  double lowest_ = 0, highest_ = 0;
  double bits_of_element_ = 0;
};

/// Share of the wrong elements that a hypothesis must explain, and the evidence that there must be for it.
inline constexpr double least_share = 0.9;
inline constexpr double least_bits = 10;

}  // namespace assay
