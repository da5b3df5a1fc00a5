#pragma once

#include "harness/commands/points/draw.h"

#include <cstdint>

namespace assay::app {

/// Draws a size at which kernels are more often wrong, up to about 300: 1, a few, primes, multiples of a
/// vector or a tile and their neighbours.
std::int64_t drawn_size(Draw& draw);

}  // namespace assay::app
