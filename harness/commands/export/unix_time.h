#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace assay::app {

/// Seconds since 1970 of a time as utc_text() writes it, "2026-01-02T03:04:05Z"; absent if it is none.
std::optional<std::int64_t> unix_seconds(const std::string& utc);

}  // namespace assay::app
