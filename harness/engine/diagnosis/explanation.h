#pragma once

#include "harness/engine/diagnosis/wrong_output.h"
#include "harness/report/record/diagnoses.h"

#include <functional>
#include <optional>
#include <string>

namespace assay {

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
