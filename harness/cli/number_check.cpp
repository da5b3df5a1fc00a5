#include "harness/cli/number_check.h"

#include "harness/base/text.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <system_error>

namespace assay::cli {
namespace {

/// Returns the number if it is all of the text; nothing for other text, and for numbers that Number cannot
/// hold.
template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

/// Makes a check from the range in words and a function that says whether a text is in it.
CLI::Validator check_of(const char* kind, const std::string& range,
                        std::function<bool(const std::string& text)> is_in_range) {
  return {[=, is_in_range = std::move(is_in_range)](std::string& text) {
            if (is_in_range(text)) return std::string();
            return fmt::format("'{}' is not a {} {}", shortened(text, 60), kind, range);
          },
          "{" + range + "}"};
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const std::string to = most == most_seed ? "2^64 - 1" : most == most_exact ? "2^53" : std::to_string(most);
  return check_of("whole number", fmt::format("from {} to {}", least, to), [=](const std::string& text) {
    const auto value = number_in<std::uint64_t>(text);
    return value && *value >= least && *value <= most;
  });
}

CLI::Validator number(double least, double most) {
  return check_of("number", fmt::format("from {:g} to {:.10g}", least, most), [=](const std::string& text) {
    const auto value = number_in<double>(text);
    return value && *value >= least && *value <= most;  // false for NaN
  });
}

CLI::Validator positive_number(double most) {
  return check_of("number", fmt::format("above 0 and at most {:.10g}", most), [=](const std::string& text) {
    const auto value = number_in<double>(text);
    return value && *value > 0 && *value <= most;
  });
}

}  // namespace assay::cli
