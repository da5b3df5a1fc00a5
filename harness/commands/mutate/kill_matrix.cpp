#include "harness/commands/mutate/kill_matrix.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/report/writers/csv.h"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace assay::app {
namespace {

/// The cells of a row by the names of their columns.
class NamedCells {
 public:
  void set_names(const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) places_[names[i]] = i;
  }

  void set_cells(const std::vector<std::string>& cells) { cells_ = &cells; }

  const std::string& operator[](const std::string& name) const {
    const auto place = places_.find(name);
    if (place == places_.end() || place->second >= cells_->size())
      throw Error(fmt::format("the column '{}' is missing", name));
    return (*cells_)[place->second];
  }

  template <class Number>
  Number number(const std::string& name) const {
    const std::string& text = (*this)[name];
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
      throw Error(fmt::format("'{}' in the column '{}' is no number", shortened(text, 40), name));
    return value;
  }

 private:
  std::map<std::string, std::size_t> places_;
  const std::vector<std::string>* cells_ = nullptr;
};

/// The part of a cell with the words of several kills that belongs to the next one, which is taken from it.
std::string next_word(std::string& words, bool is_last) {
  const std::size_t end = is_last ? std::string::npos : words.find("; ");
  std::string word = words.substr(0, end);
  words = end == std::string::npos ? "" : words.substr(end + 2);
  return word;
}

std::vector<Kill> kills_of(const NamedCells& cells) {
  constexpr std::size_t most_kills = 2;
  const auto count = cells.number<std::size_t>("kills");
  if (count > most_kills) throw Error(fmt::format("{} kills are more than a fault can have", count));
  std::string rows = cells["killed_by"], hows = cells["how"], words = cells["words"];
  std::vector<Kill> kills;
  for (std::size_t i = 1; i <= count; ++i) {
    kills.push_back({.row = next_word(rows, i == count),
                     .how = next_word(hows, i == count),
                     .word = next_word(words, i == count)});
  }
  return kills;
}

FaultRecord record_of(const NamedCells& cells) {
  return {.fault = {.id = cells["fault"],
                    .file = cells["file"],
                    .line = cells.number<int>("line"),
                    .column = cells.number<int>("column"),
                    .kind = cells["operator"],
                    .before = cells["before"],
                    .after = cells["after"],
                    .line_hash = cells["line_hash"]},
          .result = {.id = cells["fault"],
                     .end = parse_fault_end(cells["status"]),
                     .kills = kills_of(cells),
                     .rows_ran = cells.number<std::size_t>("rows_ran"),
                     .rows_left = cells.number<std::size_t>("rows_left"),
                     .cpu_s = cells.number<double>("cpu_s"),
                     .why = cells["reason"]}};
}

}  // namespace

std::vector<FaultRecord> read_kill_matrix(std::string_view csv) {
  std::vector<FaultRecord> records;
  NamedCells named;
  bool is_first = true;
  for_each_csv_row(csv, [&](const std::vector<std::string>& cells, std::size_t line) {
    if (std::exchange(is_first, false)) return named.set_names(cells);
    named.set_cells(cells);
    try {
      records.push_back(record_of(named));
    } catch (const Error& error) {
      throw Error(fmt::format("line {}: {}", line, error.what()));
    }
  });
  return records;
}

}  // namespace assay::app
