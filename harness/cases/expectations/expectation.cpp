#include "harness/cases/expectations/expectation.h"

#include "harness/cases/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace assay {
namespace {

/// Returns whether `pairs` contains "name=value".
bool has_pair(std::string_view pairs, const std::string& name, const std::string& value) {
  while (!pairs.empty()) {
    const std::size_t end = std::min(pairs.find(' '), pairs.size());
    const std::string_view pair = pairs.substr(0, end);
    const bool is_name = pair.starts_with(name) && pair.substr(name.size()).starts_with('=');
    if (is_name) return pair.substr(name.size() + 1) == value;
    pairs.remove_prefix(std::min(end + 1, pairs.size()));
  }
  return false;
}

/// Parses decimal digits only.
std::optional<int> parse_digits(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size() && text[0] != '-';
  return is_number ? std::optional(number) : std::nullopt;
}

}  // namespace

bool Expectation::matches(const RowWords& row) const {
  const bool is_meant =
      glob_matches(match, row.id) || (!row.case_id.empty() && glob_matches(match, row.case_id));
  return is_meant && (mode.empty() || mode == row.mode) && (impl.empty() || glob_matches(impl, row.impl)) &&
         std::ranges::all_of(
             params, [&](const auto& param) { return has_pair(row.params, param.first, param.second); });
}

std::span<const std::string_view> failure_metrics() {
  static constexpr std::array<std::string_view, 17> metrics{"wrong_value",
                                                            "unwritten",
                                                            "write_out_of_bounds",
                                                            "depends_on_padding",
                                                            "reads_out_of_bounds",
                                                            "depends_on_old_output",
                                                            "nondeterministic",
                                                            "input_modified",
                                                            "too_many_flips",
                                                            "all_zeros",
                                                            "constant",
                                                            "copied_input",
                                                            "shifted",
                                                            "saturated",
                                                            no_answer,
                                                            layer_messages,
                                                            later_run};
  return metrics;
}

bool Expectation::expects(Status status, std::string_view metric) const {
  if (kind != Kind::Fail || std::ranges::find(statuses, status) == statuses.end()) return false;
  const bool has_metric = status == Status::Fail || status == Status::Mistrusted;
  return metrics.empty() || !has_metric || std::ranges::find(metrics, metric) != metrics.end();
}

std::string Expectation::why() const {
  return link.empty() ? reason : reason + ", " + link;
}

std::chrono::sys_days today_utc() {
  return std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
}

std::string date_text(std::chrono::sys_days day) {
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::optional<std::chrono::sys_days> parse_date(std::string_view text) {
  constexpr std::size_t length = 10;  // "2026-01-31"
  if (text.size() != length || text[4] != '-' || text[7] != '-') return std::nullopt;
  const std::optional<int> year = parse_digits(text.substr(0, 4));
  const std::optional<int> month = parse_digits(text.substr(5, 2));
  const std::optional<int> day = parse_digits(text.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  return date.ok() ? std::optional(std::chrono::sys_days(date)) : std::nullopt;
}

}  // namespace assay
