#include "harness/report/words.h"

#include "harness/core/status.h"
#include "harness/report/text.h"

#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace assay {
namespace {

std::string place(const AccuracyResult& a) {
  return a.output + (a.first_bad.empty() ? "" : bracketed(a.first_bad));
}

std::string values(const AccuracyResult& a) {
  if (a.first_bad.empty()) return "";
  return ": expected " + shortest(a.expected) + ", got " + shortest(a.got) + " (bound " + shortest(a.bound) +
         ")";
}

std::string extent(const AccuracyResult& a) {
  if (a.mismatches <= 0 || a.elements <= 0) return "";
  const double percent = 100.0 * static_cast<double>(a.mismatches) / static_cast<double>(a.elements);
  return "; " + std::to_string(a.mismatches) + " of " + std::to_string(a.elements) + " elements (" +
         significant(percent, 2) + " %)";
}

// "" when the metric needs more than a place.
std::string what_of_metric(const std::string& metric) {
  using Words = std::pair<std::string_view, std::string_view>;
  static constexpr std::array sentences = {
      Words{"wrong_value", "wrong value at"},
      Words{"unwritten", "never written:"},
      Words{"write_out_of_bounds", "write outside the tensor's data:"},
      Words{"depends_on_padding", "the answer depends on what is in the padding, first at"},
      Words{"depends_on_old_output", "the answer depends on what the output held before, first at"},
      Words{"nondeterministic", "two runs gave different answers, first at"},
      Words{"input_modified", "an input was changed by the run:"},
  };
  for (const auto& [name, sentence] : sentences) {
    if (name == metric) return std::string(sentence);
  }
  return "";
}

std::string trivial_answer(const std::string& metric) {
  if (metric == "all_zeros") return "an answer of all zeros";
  if (metric == "constant") return "the best constant";
  if (metric == "copied_input") return "a copy of the input";
  if (metric == "shifted") return "the answer shifted by one element";
  return "";
}

void add_line(std::string& text, std::string_view label, std::string_view value) {
  constexpr std::size_t value_column = 10;
  if (value.empty()) return;
  std::string line = "  " + std::string(label);
  line.resize(value_column, ' ');
  while (value.ends_with('\n')) value.remove_suffix(1);
  text += '\n' + line + indented(printable(value), value_column);
}

std::string error_of(const AccuracyResult& a) {
  if (a.mismatches == 0 || a.max_abs_err == 0) return "";
  std::string text = "at most " + significant(a.max_abs_err, 6);
  if (a.bound > 0 && std::isfinite(a.err_over_bound)) {
    text += ", " + significant(a.err_over_bound, 3) + " times the bound";
  }
  return text;
}

}  // namespace

std::string describe(const AccuracyResult& a) {
  if (a.metric.empty()) return "";
  if (const std::string what = what_of_metric(a.metric); !what.empty()) {
    return what + " " + place(a) + values(a) + extent(a);
  }
  if (const std::string answer = trivial_answer(a.metric); !answer.empty()) {
    return answer + " would pass for " + a.output + " too: this case proves nothing";
  }
  if (a.metric == "too_many_flips") {
    return std::to_string(a.flips) + " elements of " + a.output +
           " are off by one beside a rounding tie, about " + significant(a.expected_flips, 3) +
           " were expected";
  }
  return a.metric + " at " + place(a) + values(a) + extent(a);
}

std::string failure_text(const Record& record) {
  std::string text = std::string(name_of(record.status)) + "  " + printable(record.info.id);
  if (!record.info.mode.empty()) text += " (" + printable(record.info.mode) + ")";
  const SourceLocation& where = record.info.where;
  if (!where.file.empty()) add_line(text, "at", where.file + ":" + std::to_string(where.line));
  std::string what;
  if (record.accuracy) what = describe(*record.accuracy);
  add_line(text, "what", what);
  if (record.reason != what) add_line(text, "why", record.reason);
  if (record.accuracy) {
    add_line(text, "error", error_of(*record.accuracy));
    add_line(text, "map", record.accuracy->tile_map);
  }
  if (record.validation_messages > 0) {
    add_line(text, "layer", std::to_string(record.validation_messages) + " messages of the validation layer");
  }
  add_line(text, "again", record.repro);
  return text + '\n';
}

bool has_time(const Record& record) {
  switch (record.status) {
    case Status::Pass:
    case Status::Suspect:
    case Status::UnexpectedPass:
      return record.perf.has_value();
    default:
      return false;
  }
}

}  // namespace assay
