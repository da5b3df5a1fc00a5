#pragma once

#include "harness/cases/case.h"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace assay::app {

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
