#pragma once

#include "harness/engine/diagnosis/wrong_output.h"

#include <cstdint>
#include <functional>
#include <string>

namespace assay {

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

}  // namespace assay
