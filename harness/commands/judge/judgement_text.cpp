#include "harness/commands/judge/judgement_text.h"

#include "harness/base/text.h"
#include "harness/report/console/style.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace assay::app {
namespace {

constexpr std::size_t most_of_a_reason = 600;
constexpr std::size_t most_files_named = 8;

std::string files_text(std::vector<std::string> files) {
  const std::size_t all = files.size();
  files.resize(std::min(all, most_files_named));
  return printable_line(fmt::format("{}", fmt::join(files, ", "))) +
         (all > most_files_named ? fmt::format(" and {} more", all - most_files_named) : "");
}

std::string ratio_text(double middle, double low, double high) {
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", middle, low, high);
}

/// Without the mean if it says too little.
std::string ratio_text(const OverallRatio& ratio) {
  if (ratio.is_narrow()) return ratio_text(ratio.geometric_mean, ratio.low, ratio.high);
  return fmt::format("[{:.3f}, {:.3f}]", ratio.low, ratio.high);
}

std::string times_text(const JudgedRow& row) {
  if (!row.median_us) return "";
  std::string text = fmt::format("  {} us", significant(*row.median_us, 4));
  if (row.ratio) {
    text += fmt::format(", {} of the baseline's {} us",
                        ratio_text(row.ratio->median, row.ratio->interval.low, row.ratio->interval.high),
                        significant(row.baseline_us.value_or(0), 4));
  }
  return text;
}

std::string finding_text(const Finding& finding) {
  return fmt::format("              {}: {}\n", finding.word,
                     indented(printable(shortened(finding.text, most_of_a_reason)), 16));
}

std::string row_text(const JudgedRow& row, bool color) {
  std::string text =
      fmt::format("{:<12}  {}  {}{}\n", name_of(row.stage),
                  painted(fmt::format("{:<13}", name_of(row.status)), ink_of(row.status), color),
                  printable_line(row.id), times_text(row));
  for (const Finding& reason : row.reasons) text += finding_text(reason);
  return text;
}

/// "accuracy 10 of 10 right, ..."
std::string counts_text(const Judgement& judgement) {
  std::vector<std::string> counts;
  for (const Stage stage : {Stage::Accuracy, Stage::Secret, Stage::Fuzz, Stage::Performance, Stage::Drawn}) {
    const auto is_of = [&](const JudgedRow& row) { return row.stage == stage; };
    const auto is_right = [&](const JudgedRow& row) { return is_of(row) && row.correct == true; };
    const auto all = std::ranges::count_if(judgement.rows, is_of);
    if (all == 0) continue;
    counts.push_back(
        fmt::format("{} {} of {}", name_of(stage), std::ranges::count_if(judgement.rows, is_right), all));
  }
  return counts.empty() ? "nothing was run" : fmt::format("right: {}", fmt::join(counts, ", "));
}

Ink ink_of_verdict(Verdict verdict) {
  if (verdict == Verdict::Trusted) return Ink::Green;
  return verdict == Verdict::Incomplete ? Ink::Yellow : Ink::Red;
}

std::string verdict_line(const Judgement& judgement, bool color) {
  const Verdict verdict = judgement.verdict();
  std::string line = painted(name_of(verdict), ink_of_verdict(verdict), color) + ": ";
  line += counts_text(judgement);
  const auto add_ratio = [&](const std::optional<OverallRatio>& ratio, std::string_view where) {
    if (ratio) line += fmt::format("{} {} ({} rows)", where, ratio_text(*ratio), ratio->rows);
  };
  add_ratio(judgement.ratio(), "; time over the baseline's at drawn points");
  add_ratio(judgement.public_ratio(), ", at the repository's");
  return line + '\n';
}

}  // namespace

std::string judgement_text(const Judgement& judgement, const JudgeFacts& facts, bool color) {
  std::string text = fmt::format(
      "judge         {} on {}\n"
      "shaders       {}; change the SPIR-V of {}; used by {} of {} selected cases (of {})\n"
      "drawn         accuracy from {} rows, performance from {}; seeds: --secret-seed {} --draw-seed {}\n",
      printable_line(facts.submission), printable_line(facts.device.name), files_text(facts.files),
      fmt::join(facts.ops, ", "), facts.mattering, facts.selected, facts.cases, facts.accuracy_of,
      facts.performance_of, facts.secret_seed, facts.draw_seed);
  for (const JudgedRow& row : judgement.rows) {
    const bool is_timed = row.stage == Stage::Performance || row.stage == Stage::Drawn;
    if (is_timed || !row.reasons.empty()) text += row_text(row, color);
  }
  for (const Finding& finding : judgement.findings) text += finding_text(finding);
  for (const Finding& finding : judgement.missing) text += finding_text(finding);
  return text + verdict_line(judgement, color);
}

}  // namespace assay::app
