#pragma once

#include <cstdint>
#include <functional>

namespace assay {

/// Runs body(first, last) over [0, count) in contiguous chunks of at least `grain`, on all hardware threads.
/// Serial when there is one chunk. The first exception is rethrown here.
void parallel_for(std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace assay
