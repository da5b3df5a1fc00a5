#pragma once

#include "harness/cases/case.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::app {

/// One way to make a case simpler.
struct Edit {
  std::string place;  ///< what it changes; of edits of one place only one can be applied
  /// Returns the changed case; nothing if the op refuses it.
  std::function<std::optional<Case>(const Case&)> apply;
};

/// All ways to make the case simpler by one step: sizes towards 1, dims left out or merged, parameters,
/// forms, fills, impl and tunables towards their defaults. Large steps come before small ones.
std::vector<Edit> simplifications(const Case& of);

/// How much there is to read in a case, and how large it is: an edit is an improvement if it makes this
/// smaller.
double complexity(const Case& of);

/// Says for each of the cases whether it fails as the first one did. Cases that no file could hold do not.
using StillFails = std::function<std::vector<bool>(std::span<const Case>)>;

struct Shrunk {
  Case smallest;
  std::size_t tried = 0;  ///< cases that were given to StillFails
};

/// Makes a failing case simpler, as long as it fails: each round tries every simplification of it
/// (simplifications()), then several of the good ones at once, and continues with the simplest case that
/// fails. Ends if nothing simpler fails, after a fixed number of rounds, or once `must_stop` is true.
Shrunk shrink(const Case& failing, const StillFails& still_fails, const std::function<bool()>& must_stop);

}  // namespace assay::app
