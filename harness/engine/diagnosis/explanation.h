#pragma once

#include "harness/engine/diagnosis/wrong_output.h"
#include "harness/report/record/diagnoses.h"

#include <functional>
#include <optional>
#include <string>

namespace assay {

/// What a hypothesis says of a wrong output.
struct Explanation {
  ErrorKind kind = ErrorKind::Index;
  std::string text;
  double share = 0;  ///< of the wrong elements
};

/// A hypothesis about an error: what it explains of it, or nothing where that is less than least_share or
/// says little.
using Hypothesis = std::function<std::optional<Explanation>(const WrongOutput&)>;

/// The explanation, where its share is large enough.
inline std::optional<Explanation> if_enough(Explanation explanation) {
  if (explanation.share < least_share) return std::nullopt;
  return explanation;
}

}  // namespace assay
