#pragma once

#include <array>
#include <cstdint>

namespace assay {

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC'11), a counter-based
/// generator: element i of a tensor can be computed without the others. It reproduces the known answers of
/// Random123.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

}  // namespace assay
