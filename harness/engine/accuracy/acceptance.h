#pragma once

#include "harness/cases/case.h"
#include "harness/op/expected.h"
#include "harness/op/op.h"
#include "harness/tensor/dtype.h"
#include "harness/tensor/tensor.h"

#include <cstdint>

namespace assay {

/// Everything besides the op and its reference that decides which answers are accepted.
struct AcceptanceTerms {
  double unit_error = 0;  ///< the impl's (Impl::unit_error)
  Tolerance tolerance;    ///< the case's; loosens bounded outputs and outputs with an `expected:` file only
  const HostTensor* file = nullptr;  ///< values of an `expected:` file, which replace the reference's
};

/// How one element compares with its expected value.
enum class ElementVerdict : std::uint8_t {
  Right,      ///< within what the output's class allows
  Flip,       ///< banded: off by one next to a rounding tie
  Tolerated,  ///< wrong, but within the case's tolerance
  Wrong
};

/// Decides which answers are accepted for one output of a row. Made once per row; refers to the expected
/// values, which must outlive it.
class Acceptance {
 public:
  Acceptance(const TensorSpec& spec, const Expected& expected, const AcceptanceTerms& terms = {});

  OutputClass output_class() const { return class_; }
  /// The dtype of an answer. The expected values of a bounded output may be float64 instead.
  DType dtype() const { return dtype_; }
  const HostTensor& values() const { return *values_; }
  std::int64_t numel() const { return values_->numel(); }
  double expected(std::int64_t index) const { return values_->at(index); }

  /// The acceptance by the reference's values, when this one uses a file's. The tolerance of an exact output
  /// is dropped, because it was meant for the file.
  Acceptance without_file() const;

  /// Judges one element. Values of any dtype are passed as double, which represents every device dtype
  /// exactly.
  ElementVerdict judge(std::int64_t index, double value) const;
  /// The largest absolute error that is allowed for an element; 0 when it must equal the expected value,
  /// apart from the flips of a banded output.
  double bound(std::int64_t index) const;

  /// Banded outputs: the expected number of flips, the sum of 2e (at most 1 per element) over the elements
  /// that are not clamped, where e is the largest error before rounding.
  double expected_flips() const { return expected_flips_; }
  /// The accepted number of flips: the expected number plus six standard deviations of a Poisson count.
  double allowed_flips() const;
  /// The number of elements that may be Tolerated (Tolerance::share).
  std::int64_t allowed_tolerated() const;

 private:
  bool is_right(std::int64_t index, double want, double value) const;
  bool is_flip(std::int64_t index, double want, double value) const;
  double class_bound(std::int64_t index) const;
  double tolerance_bound(double want) const;
  double error_before_rounding(std::int64_t index) const;
  double count_expected_flips() const;

  const Expected* expected_;
  const HostTensor* values_;
  OutputClass class_;
  DType dtype_;
  double lowest_ = 0, highest_ = 0;  ///< banded: the integers that the output may hold
  double unit_error_;
  Tolerance tolerance_;
  bool is_loosened_;
  double expected_flips_ = 0;
};

}  // namespace assay
