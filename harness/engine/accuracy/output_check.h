#pragma once

#include "harness/cases/case.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/op/expected.h"
#include "harness/op/op.h"
#include "harness/report/record/accuracy_result.h"
#include "harness/tensor/dtype.h"
#include "harness/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace assay {

/// Everything besides the op and its reference that decides which answers are accepted.
struct AcceptanceTerms {
  UnitError unit_error;  ///< the impl's (Impl::unit_error)
  Tolerance tolerance;   ///< the case's; loosens bounded outputs and outputs with an `expected:` file only
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
  /// exactly, apart from the bits of a NaN.
  ElementVerdict judge(std::int64_t index, double value) const;
  /// Judges one element of an answer. One that is kept must have its bits.
  ElementVerdict judge(std::int64_t index, const HostTensor& got) const;
  /// Whether an element is right just where it is a number within its finite bound, which most elements of
  /// most outputs are: that is quicker to see than judge() is.
  bool is_bounded_alone() const {
    return class_ == OutputClass::Bounded && !is_loosened_ && expected_->kept.empty();
  }
  /// Whether the op leaves an element as it was (Expected::kept).
  bool is_kept(std::int64_t index) const {
    return !expected_->kept.empty() && expected_->kept[static_cast<std::size_t>(index)] != 0;
  }
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
  UnitError unit_error_;
  Tolerance tolerance_;
  bool is_loosened_;
  double expected_flips_ = 0;
};

/// The result of comparing one output with its expected values.
struct OutputCheck {
  bool pass = false;
  bool too_many_flips = false;  ///< banded: every element is acceptable, but too many are flips
  /// More elements need the case's tolerance than are allowed to; they count as mismatches.
  bool too_many_tolerated = false;
  std::int64_t mismatches = 0;
  std::optional<std::int64_t> first_bad;  ///< row-major index
  double max_abs_err = 0;
  /// The largest error of an element divided by its bound; infinity when an element without a bound is wrong.
  /// When too many elements flip or are tolerated: their number divided by the accepted number.
  double err_over_bound = 0;
  std::int64_t flips = 0;
  std::int64_t tolerated = 0;

  /// Whether an element with that verdict counts as wrong.
  bool is_bad(ElementVerdict verdict) const {
    return verdict == ElementVerdict::Wrong || (verdict == ElementVerdict::Tolerated && too_many_tolerated);
  }
};

/// Compares every element. `is_unwritten` says of an element whether no program stored it (empty: all were
/// stored); such an element holds poison, so if it is wrong it has no absolute error, and err_over_bound is
/// infinite. May be called from several threads. Throws std::logic_error for an answer of another dtype or
/// shape.
OutputCheck check_output(const Acceptance& acceptance, const HostTensor& got,
                         const std::function<bool(std::int64_t)>& is_unwritten = {});

/// A wrong output, and everything found out about it so far.
struct WrongElements {
  const Case& test_case;
  const DataSet& data;
  std::size_t output = 0;  ///< index among the op's outputs
  std::size_t tensor = 0;  ///< index among the op's tensors
  const Acceptance& accepted;
  const HostTensor& got;
  const OutputCheck& check;
  std::function<bool(std::int64_t)> is_unwritten;  ///< empty: everything was written
  /// Whether it differs between the runs, so that its value says nothing about the error.
  std::function<bool(std::int64_t)> is_unstable;
};

/// Adds the first and the worst wrong element, the input elements they were made from, and the diagnosis to
/// the result. Its cost is bounded: it samples when many elements are wrong.
void add_evidence(const WrongElements& wrong, AccuracyResult& result);

/// A small text picture of where errors are: the last dim runs across (at most 64 tiles), all others down (at
/// most 16). Each tile is one character: '.' no error, '1'-'9' that many tenths of its elements are wrong (at
/// least one tenth is shown), '#' all are wrong. The first line gives the size of a tile and explains the
/// characters.
std::string tile_map(const Shape& shape, const std::function<bool(std::int64_t)>& is_bad);

}  // namespace assay
