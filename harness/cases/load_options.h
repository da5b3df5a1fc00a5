#pragma once

#include <cstdint>
#include <optional>

namespace assay {

/// What loading case files may be told.
struct LoadOptions {
  /// The seed of cases that do not say their own `seed:`; 0 when absent.
  std::optional<std::uint64_t> seed;
  /// More cases than this, of one product or of all files together, are refused with the count.
  std::int64_t max_cases = 2000000;
};

}  // namespace assay
