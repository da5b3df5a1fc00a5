#include "harness/report/console/perf_table.h"

#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/report/console/terminal_text.h"
#include "harness/report/record/words.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace assay {

namespace {

std::string shape_word(const RowInfo& info) {
  return "shape=" + info.shape;
}

std::set<std::string> common_to(const std::set<std::string>& some, const std::vector<std::string>& words) {
  std::set<std::string> common;
  for (const std::string& word : words) {
    if (some.contains(word)) common.insert(word);
  }
  return common;
}

void append(std::string& text, const std::string& word, const char* separator) {
  if (!text.empty()) text += separator;
  text += word;
}

/// Short headings for groups of cases: op, shape and the parameters that distinguish the shown cases of the
/// op. A parameter with one value in all of them is in common() instead, and one that only repeats the shape
/// is left out. Cases that differ in op, shape or parameters never get the same heading.
class Headings {
 public:
  /// `shown` are the records of all groups in one table.
  explicit Headings(std::span<const Record* const> shown);

  /// The heading, printable: "q8ta_pixel_shuffle 1x96x16x9 y=0.013:5". `info` belongs to one of the shown
  /// records.
  std::string of(const RowInfo& info) const;
  /// The parameters that all shown cases of an op have in common: "upscale_factor=2 x=0.5:0", printable; may
  /// be empty.
  std::string common(const std::string& op) const;

 private:
  struct OpWords {
    std::set<std::string> common;  ///< "name=value" words that every shown case of the op has
    bool repeats_shape = false;    ///< every case has a parameter "shape=" that equals its shape
  };

  std::map<std::string, OpWords> ops_;
};

Headings::Headings(std::span<const Record* const> shown) {
  std::map<std::string, std::set<std::string>> full;
  for (const Record* record : shown) {
    const RowInfo& info = record->info;
    const std::vector<std::string> words = words_in(info.params);
    const bool repeats_shape = std::ranges::find(words, shape_word(info)) != words.end();
    const auto [at, is_first] =
        ops_.try_emplace(info.op, OpWords{{words.begin(), words.end()}, repeats_shape});
    if (!is_first) {
      at->second.common = common_to(at->second.common, words);
      at->second.repeats_shape = at->second.repeats_shape && repeats_shape;
    }
    full[info.op].insert(info.shape + '\n' + info.params);
  }
  // Words are separated by blanks, which a value may contain as well: if that makes two cases look alike,
  // their op keeps all of its words.
  std::map<std::string, std::set<std::string>> shortened;
  for (const Record* record : shown) shortened[record->info.op].insert(of(record->info));
  for (auto& [op, words] : ops_) {
    if (shortened[op].size() < full[op].size()) words = {};
  }
}

std::string Headings::of(const RowInfo& info) const {
  std::string heading = info.op + "  " + info.shape;
  const auto at = ops_.find(info.op);
  if (at == ops_.end() || (at->second.common.empty() && !at->second.repeats_shape)) {
    return printable(info.params.empty() ? heading : heading + "  " + info.params);
  }
  std::string rest;
  for (const std::string& word : words_in(info.params)) {
    if (at->second.common.contains(word)) continue;
    if (at->second.repeats_shape && word == shape_word(info)) continue;
    append(rest, word, " ");
  }
  return printable(rest.empty() ? heading : heading + "  " + rest);
}

std::string Headings::common(const std::string& op) const {
  const auto at = ops_.find(op);
  if (at == ops_.end()) return "";
  std::string text;
  for (const std::string& word : at->second.common) {
    if (!(at->second.repeats_shape && word.starts_with("shape="))) append(text, word, " ");
  }
  return printable(text);
}

constexpr std::size_t column_count = 9;
using Row = std::array<std::string, column_count>;

/// The columns of the table, in their order.
namespace column {
enum Index : std::size_t { Impl, Forms, Median, Interval, Bandwidth, Rate, Ceiling, Ratio, Note };
}

bool is_right_aligned(std::size_t index) {
  return index >= column::Median && index <= column::Ratio;
}

struct Line {
  Row cells;
  Ink ink = Ink::Plain;
  bool is_fastest = false;
};

struct Group {
  std::string heading;
  std::string common;  // only in the first group of an op: what all its rows have in common
  std::vector<const Record*> records;
  std::vector<Line> lines;
};

// A heading with the case's name and fill, for groups whose rows would look the same without them.
std::string long_heading(const std::string& heading, const RowInfo& info) {
  return heading + printable("  (" + info.name + ", " + info.fill + ")");
}

std::string row_key(const std::string& heading, const RowInfo& info) {
  return heading + '\n' + info.impl + '\n' + info.tune + '\n' + info.forms + '\n' + info.cache + '\n' +
         info.shaders.value_or("");
}

std::vector<const Record*> perf_records(const RunReport& report) {
  std::vector<const Record*> records;
  for (const Record& record : report.records) {
    if (record.info.mode == "perf") records.push_back(&record);
  }
  return records;
}

std::set<std::string> ambiguous_headings(const std::vector<const Record*>& records,
                                         const Headings& headings) {
  std::set<std::string> seen, ambiguous;
  for (const Record* record : records) {
    const std::string heading = headings.of(record->info);
    if (!seen.insert(row_key(heading, record->info)).second) ambiguous.insert(heading);
  }
  return ambiguous;
}

std::string common_line(const std::string& op, const Headings& headings) {
  const std::string common = headings.common(op);
  return common.empty() ? "" : printable(op) + "  all rows: " + common;
}

std::vector<Group> groups_of(const std::vector<const Record*>& records, const Headings& headings) {
  const std::set<std::string> ambiguous = ambiguous_headings(records, headings);
  std::vector<Group> groups;
  std::map<std::string, std::size_t> index;
  std::set<std::string> ops;
  for (const Record* record : records) {
    const RowInfo& info = record->info;
    std::string heading = headings.of(info);
    if (ambiguous.contains(heading)) heading = long_heading(heading, info);
    if (info.cache == "cold") heading += "  cold";
    const auto [at, is_new] = index.try_emplace(heading, groups.size());
    if (is_new) groups.push_back({.heading = heading});
    if (ops.insert(info.op).second) groups[at->second].common = common_line(info.op, headings);
    groups[at->second].records.push_back(record);
  }
  return groups;
}

// "x=buffer/4W4C y=texture3d/CP" without "buffer/", which most forms have.
std::string short_forms(std::string forms) {
  constexpr std::string_view usual = "=buffer/";
  for (auto at = forms.find(usual); at != forms.npos; at = forms.find(usual, at)) {
    forms.erase(at + 1, usual.size() - 1);
  }
  return printable(forms);
}

std::string impl_shown(const RowInfo& info) {
  return printable(info.tune.empty() ? info.impl : info.impl + " [" + info.tune + "]");
}

std::string rate(std::int64_t amount, double time_us) {
  if (amount <= 0 || !(time_us > 0)) return "";
  const double giga = static_cast<double>(amount) / time_us / 1e3;
  return fixed(giga, giga < 10 ? 2 : 1);
}

std::string note_of(const PerfResult& perf) {
  std::string note;
  const auto add = [&](const std::string& text) { note += (note.empty() ? "" : ", ") + text; };
  if (!why_imprecise(perf).empty()) add("imprecise");
  if (perf.stop == "budget") add("stopped by the time budget");
  if (perf.clock == "wall") add("wall clock");
  if (perf.timer == "coarse" || perf.timer == "broken") add(perf.timer + " timer");
  if (perf.discarded > 0)
    add(std::to_string(perf.discarded) + (perf.discarded == 1 ? " sample" : " samples") + " discarded");
  if (!perf.suspect.empty()) add("too fast for the device");
  if (!perf.verified) add("not verified");
  return note;
}

Line timed_line(const Record& record, double first_us) {
  const PerfResult& perf = *record.perf;
  Line line;
  line.cells[column::Impl] = impl_shown(record.info);
  line.cells[column::Forms] = short_forms(record.info.forms);
  line.cells[column::Median] = fixed(perf.time_us_p50, 2);
  line.cells[column::Interval] = fixed(perf.ci_pct, 1) + " %";
  line.cells[column::Bandwidth] = rate(perf.bytes, perf.time_us_p50);
  line.cells[column::Rate] = rate(perf.operations, perf.time_us_p50);
  const double share = percent_of_peak(perf);
  if (share > 0) line.cells[column::Ceiling] = fixed(share, 1);
  if (first_us > 0) line.cells[column::Ratio] = fixed(perf.time_us_p50 / first_us, 2) + "x";
  line.cells[column::Note] = note_of(perf);
  if (record.status != Status::Pass) {
    line.cells[column::Note] = std::string(name_of(record.status)) +
                               (line.cells[column::Note].empty() ? "" : ", ") + line.cells[column::Note];
    line.ink = ink_of(record.status);
  }
  return line;
}

Line untimed_line(const Record& record) {
  Line line;
  line.cells[column::Impl] = impl_shown(record.info);
  line.cells[column::Forms] = short_forms(record.info.forms);
  line.cells[column::Median] += '-';
  line.cells[column::Note] = std::string(name_of(record.status));
  line.ink = ink_of(record.status);
  return line;
}

// A time that is impossible, or whose answer was not verified, cannot be the fastest.
bool may_win(const Record& record) {
  return has_time(record) && record.status != Status::Suspect && record.perf->verified;
}

void mark_fastest(Group& group) {
  std::size_t timed = 0;
  std::size_t fastest = group.records.size();
  for (std::size_t i = 0; i < group.records.size(); ++i) {
    timed += has_time(*group.records[i]) ? 1 : 0;
    if (!may_win(*group.records[i])) continue;
    const auto time_of = [&](std::size_t row) { return group.records[row]->perf->time_us_p50; };
    if (fastest == group.records.size() || time_of(i) < time_of(fastest)) fastest = i;
  }
  if (timed > 1 && fastest < group.records.size()) group.lines[fastest].is_fastest = true;
}

// If a group has two versions of the shaders, each row names its version.
void name_shaders(Group& group) {
  const auto shaders = [](const Record* record) { return record->info.shaders; };
  if (std::ranges::adjacent_find(group.records, std::ranges::not_equal_to(), shaders) == group.records.end())
    return;
  for (std::size_t i = 0; i < group.records.size(); ++i) {
    group.lines[i].cells[column::Impl] += "  " + printable(shaders(group.records[i]).value_or("(embedded)"));
  }
}

void fill_lines(Group& group) {
  double first_us = 0;
  for (const Record* record : group.records) {
    if (!has_time(*record)) {
      group.lines.push_back(untimed_line(*record));
      continue;
    }
    if (first_us == 0) first_us = record->perf->time_us_p50;
    group.lines.push_back(timed_line(*record, first_us));
  }
  mark_fastest(group);
  name_shaders(group);
}

using Widths = std::array<std::size_t, column_count>;

Widths widths_of(const Row& header, const std::vector<Group>& groups) {
  Widths widths{};
  const auto widen = [&](const Row& cells) {
    for (std::size_t i = 0; i < column_count; ++i) widths[i] = std::max(widths[i], columns_of(cells[i]));
  };
  widen(header);
  for (const Group& group : groups) {
    for (const Line& line : group.lines) widen(line.cells);
  }
  return widths;
}

std::string text_of(const Line& line, const Widths& widths) {
  std::string text;
  for (std::size_t i = 0; i < column_count; ++i) {
    if (widths[i] == 0) continue;
    const std::string& cell = line.cells[i];
    const std::string blanks(widths[i] - columns_of(cell), ' ');
    text += text.empty() && line.is_fastest ? "* " : "  ";
    text += is_right_aligned(i) ? blanks + cell : cell + blanks;
  }
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

Row header_of(const std::vector<Group>& groups) {
  Row header{"impl", "forms", "median us", "+-", "GB/s", "GOP/s", "% ceiling", "time", ""};
  for (const column::Index index : {column::Rate, column::Ceiling}) {
    const bool is_used = std::ranges::any_of(groups, [index](const Group& group) {
      return std::ranges::any_of(group.lines,
                                 [index](const Line& line) { return !line.cells[index].empty(); });
    });
    if (!is_used) header[index].clear();
  }
  return header;
}

}  // namespace

std::string perf_table(const RunReport& report, bool color) {
  const std::vector<const Record*> records = perf_records(report);
  if (records.empty()) return "";
  std::vector<Group> groups = groups_of(records, Headings(records));
  for (Group& group : groups) fill_lines(group);
  const Line header{.cells = header_of(groups)};
  const Widths widths = widths_of(header.cells, groups);
  std::string text = painted(text_of(header, widths), Ink::Bold, color) + '\n';
  for (const Group& group : groups) {
    if (!group.common.empty()) text += painted(group.common, Ink::Dim, color) + '\n';
    text += painted(group.heading, Ink::Bold, color) + '\n';
    for (const Line& line : group.lines) text += painted(text_of(line, widths), line.ink, color) + '\n';
  }
  return text;
}

}  // namespace assay
