#include "harness/commands/import/times_file.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/report/writers/csv.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

namespace assay::app {
namespace {

constexpr std::uintmax_t most_bytes = std::uintmax_t{1} << 26;
constexpr std::array known_columns{"id", "op", "shape", "params", "cache", "us", "source"};

/// The cells of one entry by the name of their column.
using Cells = std::map<std::string, std::string>;

[[noreturn]] void fail(const std::string& place, const std::string& what) {
  throw Error(fmt::format("importing times: {}: {}", printable(place), what));
}

void refuse_unknown_column(const std::string& name, const std::string& place) {
  if (std::ranges::find(known_columns, name) != known_columns.end()) return;
  fail(place,
       fmt::format("'{}' is no column; known are {}", printable(name), fmt::join(known_columns, ", ")));
}

double time_of_cell(const std::string& text, const std::string& place) {
  double us = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), us);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(us) || us <= 0)
    fail(place, fmt::format("us is '{}', not a positive number of microseconds", printable(text)));
  return us;
}

ForeignTime time_of(Cells cells, const std::string& place) {
  for (const auto& [name, cell] : cells) refuse_unknown_column(name, place);
  ForeignTime time{.id = cells["id"],
                   .op = cells["op"],
                   .shape = cells["shape"],
                   .params = cells["params"],
                   .cache = cells["cache"],
                   .us = time_of_cell(cells["us"], place),
                   .source = cells["source"],
                   .place = place};
  if (time.id.empty() == (time.op.empty() || time.shape.empty()))
    fail(place, "give either the id of a row, or op and shape");
  if (!time.cache.empty() && time.cache != "hot" && time.cache != "cold")
    fail(place, fmt::format("cache is '{}'; it is hot, cold or empty", printable(time.cache)));
  return time;
}

std::vector<ForeignTime> times_in_csv(const std::string& text, const std::string& name) {
  std::vector<std::string> header;
  std::vector<ForeignTime> times;
  for_each_csv_row(text, [&](const std::vector<std::string>& cells, std::size_t line) {
    const std::string place = fmt::format("{}:{}", name, line);
    if (header.empty()) {
      header = cells;
      for (const std::string& column : header) refuse_unknown_column(column, place);
      return;
    }
    if (cells.size() != header.size())
      fail(place, fmt::format("it has {} cells, the header has {}", cells.size(), header.size()));
    Cells named;
    for (std::size_t i = 0; i < cells.size(); ++i) named[header[i]] = cells[i];
    times.push_back(time_of(std::move(named), place));
  });
  return times;
}

std::string text_of(const nlohmann::json& value, const std::string& key, const std::string& place) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  fail(place, fmt::format("'{}' is neither text nor a number", printable(key)));
}

std::vector<ForeignTime> times_in_json(const std::string& text, const std::string& name) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_array()) fail(name, "it is no JSON array of objects");
  std::vector<ForeignTime> times;
  for (const nlohmann::json& entry : json) {
    const std::string place = fmt::format("{}: entry {}", name, times.size() + 1);
    if (!entry.is_object()) fail(place, "it is no object");
    Cells cells;
    for (const auto& [key, value] : entry.items()) cells[key] = text_of(value, key, place);
    times.push_back(time_of(std::move(cells), place));
  }
  return times;
}

}  // namespace

std::vector<ForeignTime> read_times(const std::filesystem::path& file) {
  const std::string name = file.string();
  const auto text = whole_regular_file(file, most_bytes);
  if (!text) fail(name, "it is not a regular file, has more than 64 MiB or cannot be read");
  const std::size_t first = text->find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string::npos && (*text)[first] == '[';
  std::vector<ForeignTime> times = is_json ? times_in_json(*text, name) : times_in_csv(*text, name);
  if (times.empty()) fail(name, "it has no time");
  return times;
}

}  // namespace assay::app
