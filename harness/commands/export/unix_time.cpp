#include "harness/commands/export/unix_time.h"

#include "harness/base/clock.h"

#include <chrono>
#include <ctime>

namespace assay::app {

std::optional<std::int64_t> unix_seconds(const std::string& utc) {
  std::tm parts{};
  if (::strptime(utc.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == nullptr) return std::nullopt;
  const std::time_t seconds = ::timegm(&parts);
  const bool is_exact = utc_text(std::chrono::system_clock::from_time_t(seconds)) == utc;  // no 31 February
  return is_exact ? std::optional<std::int64_t>(seconds) : std::nullopt;
}

}  // namespace assay::app
