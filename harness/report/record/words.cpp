#include "harness/report/record/words.h"

#include "harness/base/statistics.h"
#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/report/record/block.h"
#include "harness/report/record/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>

namespace assay {
namespace {

constexpr std::array table = {
    DiagnosisWords{ErrorKind::Unwritten, "unwritten", "never written",
                   "nothing stores them: they hold what was there before",
                   "the grid (workgroups, folding), an early return, the condition around the store"},
    DiagnosisWords{
        ErrorKind::Nan, "nan", "NaN", "they are NaN where a number is expected",
        "0 / 0, infinity - infinity, a root or logarithm of a negative number, memory not written"},
    DiagnosisWords{ErrorKind::Sign, "sign", "sign",
                   "their sign is flipped, or signed integers were read as unsigned",
                   "a minus, the order of a subtraction, sign extension where bytes are unpacked"},
    DiagnosisWords{
        ErrorKind::Clamp, "clamp", "clamp",
        "the expected value is at an end of the range, or the answer stops short of it",
        "the ends of the clamp, its place before or after the zero point, a relu that is left out"},
    DiagnosisWords{
        ErrorKind::Packing, "packing", "packing",
        "lanes of a word, quad or texel, bytes, halves or nibbles are in another order; a nibble is "
        "swapped, or used twice",
        "shifts of packing and unpacking, swizzles, which nibble comes first"},
    DiagnosisWords{
        ErrorKind::Layout, "layout", "layout",
        "they hold what is expected at a transposed place, with the stride of rows for columns, or at "
        "the place of another layout",
        "the layout that the kernel was given, the order of strides, a transposition in registers"},
    DiagnosisWords{
        ErrorKind::Index, "index", "index", "they hold what is expected at a neighbour or at one other place",
        "an offset of one, a stride, padding or dilation, a batch or row that is left out of an index"},
    DiagnosisWords{ErrorKind::ZeroPoint, "zero_point", "zero point",
                   "they look as if a zero point had another value, or was left out",
                   "where that zero point is added or subtracted, which tensor it belongs to, and its sign"},
    DiagnosisWords{ErrorKind::Scale, "scale", "scale",
                   "they look as if a scale or factor had another value, or was left out",
                   "where that scale is multiplied, its reciprocal, the number of steps of the range"},
    DiagnosisWords{
        ErrorKind::Block, "block", "block",
        "they look as if they were made with another block's, channel's, row's or group's parameters",
        "the index into scales and zero points, how often they are reloaded"},
    DiagnosisWords{ErrorKind::Edge, "edge", "edge",
                   "they lie at the edges of images, or padding does not stand for real zero",
                   "the value that stands for places outside the image: it is the zero point, not 0"},
    DiagnosisWords{
        ErrorKind::Accumulation, "accumulation", "accumulation",
        "they are sums in which some terms are missing: a tail, half of the reduction, a tap, the bias",
        "the bounds of the loop along K, its tail, slabs, groups, taps, the bias, a barrier"},
    DiagnosisWords{ErrorKind::Rounding, "rounding", "rounding",
                   "they are off by one, in one direction, among elements that are right",
                   "roundEven where round, floor, trunc or an added half stands; the order of operations"},
    DiagnosisWords{ErrorKind::Tail, "tail", "tail",
                   "only the last rows, columns, channels, lanes or batches are wrong",
                   "sizes that are not a multiple of a tile, word or vector; the last workgroup"},
};

std::string place(const AccuracyResult& a) {
  return a.output + (a.first_bad.empty() ? "" : bracketed(a.first_bad));
}

std::string values(const AccuracyResult& a) {
  if (a.first_bad.empty()) return "";
  const bool is_unwritten = a.first && a.first->unwritten;
  return ": expected " + value_text(a.expected) + (is_unwritten ? "" : ", got " + value_text(a.got)) +
         " (bound " + shortest(a.bound) + ")";
}

std::string extent(const AccuracyResult& a) {
  if (a.mismatches <= 0 || a.elements <= 0) return "";
  const double percent = 100.0 * static_cast<double>(a.mismatches) / static_cast<double>(a.elements);
  return "; " + std::to_string(a.mismatches) + " of " + std::to_string(a.elements) + " elements (" +
         significant(percent, 2) + " %)";
}

constexpr std::array metric_table = {
    MetricWords{"wrong_value", "wrong value", "wrong value at"},
    MetricWords{"unwritten", "elements never written", "never written:"},
    MetricWords{"write_out_of_bounds", "write out of bounds", "write outside the data of"},
    MetricWords{"depends_on_padding", "depends on padding",
                "depends on the content of the padding, first at"},
    MetricWords{"reads_out_of_bounds", "reads out of bounds",
                "depends on memory before or past a tensor's data, first at"},
    MetricWords{"reads_uninitialized", "reads an uninitialized variable",
                "depends on a variable that is read before it is set, first at"},
    MetricWords{"depends_on_old_output", "depends on the output's old content",
                "depends on the output's old content, first at"},
    MetricWords{"nondeterministic", "not deterministic", "two runs gave different answers, first at"},
    MetricWords{"input_modified", "input modified", "the run modified the input"},
    MetricWords{"scratch_not_zero", "scratch not zero", "scratch must hold zeros after a run:"},
    MetricWords{"too_many_flips", "too many flips", ""},
    MetricWords{"all_zeros", "all zeros would pass", ""},
    MetricWords{"constant", "a constant would pass", ""},
    MetricWords{"copied_input", "a copy of the input would pass", ""},
    MetricWords{"shifted", "a shifted answer would pass", ""},
    MetricWords{"saturated", "most of the output is at the ends of its range", ""},
};

MetricWords words_of(const std::string& metric) {
  for (const MetricWords& words : metric_table) {
    if (words.metric == metric) return words;
  }
  return {metric, metric, metric};
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
  std::string text = "largest " + significant(a.max_abs_err, 6);
  if (a.bound > 0 && std::isfinite(a.err_over_bound)) {
    text += ", " + significant(a.err_over_bound, 3) + " times the bound";
  }
  return text;
}

void add_evidence(std::string& text, const AccuracyResult& a) {
  add_line(text, "first", a.first ? element_text(*a.first) : "");
  add_line(text, "worst", a.worst ? element_text(*a.worst) : "");
  add_line(text, "error", error_of(a));
  add_line(text, "map", a.tile_map);
}

/// A count of a journal, which may be damaged.
std::size_t counted(int count) {
  return static_cast<std::size_t>(std::max(count, 0));
}

std::string runs_words(int runs) {
  if (runs == 0) return "in the run before";
  return fmt::format("in {} {}", runs, runs == 1 ? "run" : "runs");
}

}  // namespace

std::span<const DiagnosisWords> known_diagnoses() {
  return table;
}

std::string_view name_of(ErrorKind kind) {
  const auto* found = std::ranges::find(table, kind, &DiagnosisWords::kind);
  if (found == table.end()) throw std::logic_error("name_of: not a kind of error");
  return found->word;
}

std::string_view diagnosis_name(std::string_view word) {
  const auto* found = std::ranges::find(table, word, &DiagnosisWords::word);
  return found == table.end() ? word : found->name;
}

std::string why_imprecise(const PerfResult& perf) {
  if (perf.blocks < static_cast<int>(fewest_blocks)) {
    return fmt::format("only {} block{}, of the {} that are needed", perf.blocks, perf.blocks == 1 ? "" : "s",
                       fewest_blocks);
  }
  if (perf.ci_pct <= coarsest_pct) return "";
  return fmt::format("its interval is +- {} %", fixed(perf.ci_pct, 1));
}

std::string value_text(double value) {
  constexpr int digits = 9;
  return std::trunc(value) == value ? shortest(value) : significant(value, digits);
}

std::span<const MetricWords> known_metrics() {
  return metric_table;
}

std::string metric_name(const std::string& metric) {
  return std::string(words_of(metric).name);
}

std::string element_text(const WrongElement& element) {
  std::string text = bracketed(element.at) + ": expected " + value_text(element.expected);
  text += element.unwritten ? ", never written" : ", got " + value_text(element.got);
  text += " (bound " + shortest(element.bound);
  std::string error;
  const auto add = [&error](const std::string& part) { error += (error.empty() ? "; " : ", ") + part; };
  if (element.relative > 0) add("relative error " + significant(element.relative, 6));
  if (element.ulp > 0) add(significant(element.ulp, 6) + " ulp");
  if (element.before_rounding) add("before rounding " + value_text(*element.before_rounding));
  text += error + ")";
  for (std::size_t i = 0; i < element.made_from.size(); ++i) {
    text += (i == 0 ? ", from " : ", ") + element.made_from[i];
  }
  return text;
}

std::string diagnosis_text(const AccuracyResult& a) {
  if (!a.diagnosis) return "";
  // Rounded down, so that "100 %" means all of them.
  const double percent = std::floor(100 * a.diagnosis->share);
  return std::string(diagnosis_name(a.diagnosis->word)) + ": " + a.diagnosis->text + " (explains " +
         shortest(percent) + " % of the wrong elements)";
}

std::string layer_text(const Record& record) {
  if (record.validation_messages == 0) return "";
  std::string text = std::to_string(record.validation_messages) +
                     (record.validation_messages == 1 ? " message" : " messages") +
                     " from the validation layer";
  for (const std::string& said : record.validation_texts) text += '\n' + said;
  return text;
}

std::string describe(const AccuracyResult& a) {
  if (a.metric.empty()) return "";
  const MetricWords words = words_of(a.metric);
  if (!words.sentence.empty()) return std::string(words.sentence) + " " + place(a) + values(a) + extent(a);
  if (a.metric == "too_many_flips") {
    return std::to_string(a.flips) + " elements of " + a.output +
           " are off by one at a rounding tie, but about " + significant(a.expected_flips, 3) +
           " were expected";
  }
  return std::string(words.name) + " as " + a.output + " too: this case proves nothing";
}

std::string failure_text(const Record& record) {
  std::string text = std::string(name_of(record.status)) + "  " + printable(record.info.id);
  if (!record.info.mode.empty()) text += " (" + printable(mode_words(record.info)) + ")";
  const SourceLocation& where = record.info.where;
  if (!where.file.empty()) add_line(text, "at", where.file + ":" + std::to_string(where.line));
  if (record.accuracy) {
    const AccuracyResult& a = *record.accuracy;
    // The reason already gives the figures of every finding; with it the name is enough.
    add_line(text, "what", record.reason.empty() ? describe(a) : words_of(a.metric).name);
  }
  if (record.accuracy) add_line(text, "kind", diagnosis_text(*record.accuracy));
  add_line(text, "why", record.reason);
  if (record.accuracy) add_evidence(text, *record.accuracy);
  add_line(text, "layer", layer_text(record));
  add_line(text, "again", record.repro);
  return text + '\n';
}

std::size_t different_answers(const Replay& replay) {
  return replay.answers.size() + counted(replay.more_answers);
}

std::string replay_text(const Replay& replay) {
  constexpr std::size_t hash_digits = 12, most_listed = 4;
  const std::size_t runs = counted(replay.runs), wrong = counted(replay.wrong);
  const Interval rate = share_interval(std::min(wrong, runs), runs);
  const auto percent = [](double share) { return fixed(100 * share, 1); };
  std::string text;
  if (wrong == 0) {
    text = fmt::format("right in all {} runs: at most {} % of runs are wrong (95 %)", runs,
                       percent(unseen_share(runs)));
  } else {
    text = fmt::format(
        "wrong in {} of {} runs ({} %, 95 % interval {} to {} %): {} of {} on a busy device, {} of {} "
        "on a rested one",
        wrong, runs, percent(static_cast<double>(wrong) / static_cast<double>(runs)), percent(rate.low),
        percent(rate.high), replay.hot_wrong, replay.hot_runs, replay.wrong - replay.hot_wrong,
        replay.runs - replay.hot_runs);
  }
  const std::size_t answers = different_answers(replay);
  if (answers < 2) return text;
  text += fmt::format("; {} different answers:", answers);
  const std::size_t listed = std::min(most_listed, replay.answers.size());
  for (std::size_t i = 0; i < listed; ++i) {
    const ReplayedAnswer& answer = replay.answers[i];
    text += fmt::format("{} {} {}{}", i == 0 ? "" : ",", answer.hash.substr(0, hash_digits),
                        runs_words(answer.runs), answer.right ? "" : " (wrong)");
  }
  return text + (answers > listed ? fmt::format(" and {} more", answers - listed) : "");
}

bool varies(const Replay& replay) {
  return replay.wrong > 0 || replay.answers.size() > 1;
}

double percent_of_peak(const PerfResult& perf) {
  return std::max(perf.pct_peak_bw, perf.pct_peak_ops);
}

double gops_per_joule(const PerfResult& perf) {
  if (perf.operations <= 0 || !perf.energy || !(perf.energy->joules > 0)) return 0;
  return static_cast<double>(perf.operations) / perf.energy->joules / 1e9;
}

double us_to_gain(const Record& row) {
  const double percent = percent_of_peak(*row.perf);
  if (!(percent > 0)) return 0;
  const auto calls = static_cast<double>(std::max<std::int64_t>(1, row.info.calls));
  return row.perf->time_us_p50 * calls * std::max(0.0, 1 - percent / 100);
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
