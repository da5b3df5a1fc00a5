#pragma once

#include <CLI/App.hpp>

#include <cstdint>
#include <limits>

namespace assay::cli {

/// The largest seed.
inline constexpr std::uint64_t most_seed = std::numeric_limits<std::uint64_t>::max();
/// The largest number that every JSON reader represents exactly, as it does all smaller ones.
inline constexpr std::uint64_t most_exact = std::uint64_t{1} << 53;
/// The longest time, in seconds, that an option may name: a week.
inline constexpr double most_seconds = 7 * 24 * 3600;

/// Checks that an option's value is a whole number from `least` to `most`, in decimal digits. The error
/// quotes the value and says the range, as does the help.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);

/// Checks that an option's value is a number from `least` to `most`: neither infinite nor NaN.
CLI::Validator number(double least, double most);

/// Checks that an option's value is a number above 0 and at most `most`.
CLI::Validator positive_number(double most);

}  // namespace assay::cli
