#pragma once

#include "harness/engine/accuracy/acceptance.h"
#include "harness/tensor/tensor.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace assay {

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

}  // namespace assay
