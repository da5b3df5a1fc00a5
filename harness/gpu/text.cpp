#include "harness/gpu/text.h"

#include <fmt/format.h>

namespace assay::gpu {

std::string bytes_text(std::uint64_t bytes) {
  const double value = static_cast<double>(bytes);
  if (bytes < 10'000) {
    return fmt::format("{} bytes", bytes);
  }
  if (bytes < 1'000'000) {
    return fmt::format("{:.1f} kB", value / 1e3);
  }
  if (bytes < 1'000'000'000) {
    return fmt::format("{:.1f} MB", value / 1e6);
  }
  return fmt::format("{:.1f} GB", value / 1e9);
}

}  // namespace assay::gpu
