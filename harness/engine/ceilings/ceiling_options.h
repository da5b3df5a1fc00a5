#pragma once

#include <cstdint>

namespace assay {

/// How ceilings are measured.
struct CeilingOptions {
  double timeout_s = 30;  ///< per submission
  /// The largest footprint of the bandwidth curve; 0: 1 GiB on a discrete GPU, 256 MiB elsewhere. It is
  /// reduced when the device has less than four times as much memory or cannot bind that much.
  std::uint64_t max_footprint_bytes = 0;
};

}  // namespace assay
