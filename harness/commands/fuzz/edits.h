#pragma once

#include "harness/cases/case.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace assay::app {

/// One way to make a case simpler.
struct Edit {
  std::string place;  ///< what it changes; of edits of one place only one can be applied
  /// Returns the changed case; nothing if the op refuses it.
  std::function<std::optional<Case>(const Case&)> apply;
};

/// All ways to make the case simpler by one step: sizes towards 1, dims left out, parameters, forms, fills,
/// impl and tunables towards their defaults. Large steps come before small ones.
std::vector<Edit> simplifications(const Case& of);

/// How much there is to read in a case, and how large it is: an edit is an improvement if it makes this
/// smaller.
double complexity(const Case& of);

}  // namespace assay::app
