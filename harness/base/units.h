#pragma once

namespace assay {

// Factors between units of time.
inline constexpr double ns_per_us = 1e3;
inline constexpr double ns_per_ms = 1e6;
inline constexpr double ns_per_s = 1e9;
inline constexpr double us_per_ms = 1e3;
inline constexpr double us_per_s = 1e6;
inline constexpr double ms_per_s = 1e3;

}  // namespace assay
