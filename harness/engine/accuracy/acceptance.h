#pragma once

#include "harness/cases/case.h"
#include "harness/op/expected.h"
#include "harness/op/op.h"
#include "harness/tensor/float_error.h"
#include "harness/tensor/tensor.h"

#include <cstdint>

namespace assay {

/// What beside the op and its reference decides which answers are accepted.
struct AcceptanceTerms {
  double unit_error = 0;  ///< of the impl (Impl::unit_error)
  Tolerance tolerance;    ///< of the case; what loosens counts for bounded outputs and those with a file
  const HostTensor* file = nullptr;  ///< values of an `expected:` file, judged instead of the reference's
};

/// How one element compares with what is expected of it.
enum class ElementVerdict : std::uint8_t {
  Right,      ///< as the output's class demands
  Flip,       ///< banded: off by one beside a rounding tie
  Tolerated,  ///< wrong, but within the case's tolerance
  Wrong
};

/// Which answers are accepted for one output of a row. Made once a row; refers to the expected values, which
/// must outlive it.
class Acceptance {
 public:
  Acceptance(const TensorSpec& spec, const Expected& expected, const AcceptanceTerms& terms = {});

  OutputClass output_class() const { return class_; }
  /// Of an answer. The expected values of a bounded output may be float64.
  DType dtype() const { return dtype_; }
  const HostTensor& values() const { return *values_; }
  std::int64_t numel() const { return values_->numel(); }
  double expected(std::int64_t index) const { return values_->at(index); }

  /// The same with the reference's own values, where a file's are judged. An exact output has no allowance
  /// then: it is for the file's.
  Acceptance without_file() const;

  /// Values of any dtype travel as double, which holds every device dtype exactly.
  ElementVerdict judge(std::int64_t index, double value) const;
  /// Largest absolute difference that is allowed of an element; 0 where it must be the expected one, but for
  /// the flips of a band.
  double bound(std::int64_t index) const;

  /// Banded: how many flips are to be expected, the sum of 2e (at most 1 an element) over the elements that
  /// are not clamped, e being the largest error before rounding.
  double expected_flips() const { return expected_flips_; }
  /// How many are accepted: the expected number plus six standard deviations of a Poisson count.
  double allowed_flips() const;
  /// How many elements may be Tolerated (Tolerance::share).
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
