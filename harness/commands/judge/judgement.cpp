#include "harness/commands/judge/judgement.h"

#include "harness/base/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>

namespace assay::app {
namespace {

/// A part of a reason that the engine gives, and the word for it. The first match counts.
struct Phrase {
  std::string_view in_reason;
  std::string_view word;
};
constexpr std::array phrases{
    Phrase{"the shader uses the SPIR-V capability", "refused_capability"},
    Phrase{"its SPIR-V has ", "refused_spirv"},
    Phrase{"its SPIR-V is invalid", "refused_spirv"},
    Phrase{"which no dispatch before it writes", "reads_old_scratch"},
    Phrase{"has written after it had read scratch", "keeps_scratch"},
    Phrase{"could spare itself the work", "keeps_scratch"},
    Phrase{"what the program before left there", "reads_output"},
    Phrase{"an input: what it leaves there the next program finds", "writes_input"},
    Phrase{"it is set-up and reads the scratch", "reads_old_scratch"},
    Phrase{"which set-up wrote: set-up is done once", "changes_setup"},
    Phrase{"which set-up wrote once and all runs read", "changes_setup"},
    Phrase{"which must hold zeros after each run", "changes_when_timed"},
    Phrase{"that it could not know", "wrong_on_secret_data"},
    Phrase{"did not compute the answer that was judged", "changes_when_timed"},
    Phrase{"the timed runs changed memory that they may not write", "changes_when_timed"},
    Phrase{"an include names a file below the shader folder", "include_outside"},
    Phrase{"the time is too short, the work is not done", "above_ceilings"},
    Phrase{"faster when repeated", "faster_when_repeated"},
    Phrase{"faster on known data", "faster_on_known_data"},
    Phrase{"checking the shader", "does_not_fit"},
    Phrase{": error: ", "does_not_compile"},
    Phrase{"compiling it failed", "does_not_compile"},
    Phrase{"ERROR: Linking", "does_not_compile"},
    Phrase{"compiler", "does_not_compile"},
};

/// How much slower drawn points may be, compared with public ones: their sizes suit tiles less.
constexpr double most_gap = 1.5;

constexpr std::array<std::string_view, 18> distrusting{
    "refused_capability",
    "refused_spirv",
    "spirv_intrinsics",
    "reads_output",
    "writes_input",
    "reads_old_scratch",
    "keeps_scratch",
    "changes_setup",
    "suspect",
    "symbolic_link",
    "wrong_on_secret_data",
    "changes_when_timed",
    "include_outside",
    "above_ceilings",
    "faster_when_repeated",
    "faster_on_known_data",
    "faster_at_public_points",
    "replaces_harness_shader",
};

std::string lower(std::string_view text) {
  std::string made(text);
  std::ranges::transform(made, made.begin(), [](unsigned char c) { return std::tolower(c); });
  return made;
}

/// The reason as reports quote it. Compilers quote lines of sources, which may have megabytes.
std::string quoted(const std::string& reason) {
  constexpr std::size_t most_bytes = 2048;
  if (reason.size() <= most_bytes) return reason;
  std::size_t end = most_bytes - 3;
  while (end > 0 && (static_cast<unsigned char>(reason[end]) & 0xC0U) == 0x80U) --end;
  return reason.substr(0, end) + "...";
}

/// Whether there is no answer to compare with, as the op's reference in Python failed. The reason begins so:
/// a submission decides no reason's beginning. A timed row may have been right on its own data before, and
/// then has `accuracy`.
bool is_without_answer(const Record& record) {
  return record.status == Status::Fail && record.reason.starts_with("running the reference ");
}

/// A word for the reason, else the metric of a wrong answer, else the status.
std::string word_of(const Record& record) {
  if (is_without_answer(record)) return "reference_failed";
  for (const Phrase& phrase : phrases) {
    if (record.reason.find(phrase.in_reason) != std::string::npos) return std::string(phrase.word);
  }
  if (record.status == Status::Fail && record.accuracy && !record.accuracy->metric.empty())
    return record.accuracy->metric;
  return lower(name_of(record.status));
}

/// Whether the answer was right; nullopt if the row does not show it.
std::optional<bool> was_right(Status status) {
  switch (status) {
    case Status::Pass:
    case Status::Suspect:
    case Status::UnexpectedPass:
      return true;
    case Status::Fail:
    case Status::Crash:
    case Status::Timeout:
    case Status::Flaky:
    case Status::DeviceLost:
    case Status::ExpectedFail:  // the expectations allow the device to be wrong, but the submission is
    case Status::Unsupported:   // only cases that the device can run are judged, so the shader asks for too
                                // much
      return false;
    default:
      return std::nullopt;
  }
}

/// Whether the row was planned but shows nothing.
bool was_cut_short(Status status) {
  return status == Status::Missing || status == Status::Interrupted || status == Status::Skipped ||
         status == Status::OutOfMemory || status == Status::Invalid;
}

/// Whether the rows are of points or data that the judge draws.
bool is_drawn(Stage stage) {
  return stage == Stage::Secret || stage == Stage::Fuzz || stage == Stage::Drawn;
}

bool is_timed(Stage stage) {
  return stage == Stage::Performance || stage == Stage::Drawn;
}

void add_times(JudgedRow& row, const Record& record, const Record* baseline) {
  if (record.perf) row.median_us = record.perf->time_us_p50;
  if (baseline != nullptr && baseline->perf) row.baseline_us = baseline->perf->time_us_p50;
  if (record.comparison && record.comparison->ratio > 0) {
    const Comparison& made = *record.comparison;
    row.ratio = Ratio{made.ratio, {made.ratio_low, made.ratio_high}, made.blocks};
  }
  if (!is_timed(row.stage) || row.correct != true || !row.trusted || row.ratio) return;
  row.incomplete = true;
  row.reasons.push_back({"not_compared", record.comparison && !record.comparison->note.empty()
                                             ? "not compared: " + record.comparison->note
                                             : "not compared: the run has no baseline for this row"});
}

/// The ratio over all timed rows of the stage; nothing if there is none.
std::optional<OverallRatio> ratio_of(std::span<const JudgedRow> rows, Stage stage) {
  double mean = 0;
  double below = 0;
  double above = 0;
  std::size_t count = 0;
  for (const JudgedRow& row : rows) {
    if (row.stage != stage || !row.ratio || !(row.ratio->interval.low > 0)) continue;
    const double log = std::log(row.ratio->median);
    mean += log;
    below += std::pow(log - std::log(row.ratio->interval.low), 2);
    above += std::pow(std::log(row.ratio->interval.high) - log, 2);
    ++count;
  }
  if (count == 0) return std::nullopt;
  const auto n = static_cast<double>(count);
  mean /= n;
  return OverallRatio{std::exp(mean), std::exp(mean - std::sqrt(below) / n),
                      std::exp(mean + std::sqrt(above) / n), count};
}

}  // namespace

std::string_view name_of(Stage stage) {
  constexpr std::array names{std::string_view("accuracy"), std::string_view("secret"),
                             std::string_view("fuzz"), std::string_view("performance"),
                             std::string_view("drawn")};
  return names.at(static_cast<std::size_t>(stage));
}

std::string_view name_of(Verdict verdict) {
  constexpr std::array names{std::string_view("trusted"), std::string_view("distrusted"),
                             std::string_view("wrong"), std::string_view("incomplete")};
  return names.at(static_cast<std::size_t>(verdict));
}

bool is_distrust(std::string_view word) {
  return std::ranges::find(distrusting, word) != distrusting.end();
}

JudgedRow judged_row(Stage stage, const Record& record, const Record* baseline) {
  JudgedRow row{.stage = stage,
                .id = record.info.id,
                .op = record.info.op,
                .impl = record.info.impl,
                .shape = record.info.shape,
                .forms = record.info.forms,
                .status = record.status,
                .correct = was_right(record.status),
                .incomplete = was_cut_short(record.status),
                .reasons = {},
                .median_us = {},
                .baseline_us = {},
                .ratio = {},
                .repro = record.repro};
  if (record.status != Status::Pass) {
    row.reasons.push_back({word_of(record), quoted(record.reason)});
    row.trusted = !is_distrust(row.reasons.back().word);
  }
  if (is_without_answer(record)) {
    row.correct.reset();
    // The reference need not accept a point or data that the judge has drawn.
    row.incomplete = !is_drawn(stage) && !record.accuracy;
  }
  if (record.accuracy && record.accuracy->guards.find("=none") != std::string::npos) {
    row.incomplete = true;
    row.reasons.push_back(
        {"guards",
         "the kernel asks for a buffer's length, so that no write behind that buffer can be seen (" +
             record.accuracy->guards + ")"});
  }
  add_times(row, record, baseline);
  return row;
}

void note_empty_stages(Judgement& judgement, std::span<const Stage> stages,
                       std::span<const std::string> ops) {
  for (const Stage stage : stages) {
    for (const std::string& op : ops) {
      const auto shows_or_tells = [&](const JudgedRow& row) {
        return row.stage == stage && row.op == op && (row.correct.has_value() || row.incomplete);
      };
      if (std::ranges::any_of(judgement.rows, shows_or_tells)) continue;
      judgement.missing.push_back(
          {"nothing_shown", fmt::format("no row of op '{}' has a result in stage '{}'", op, name_of(stage))});
    }
  }
}

void note_updated_in_place(Judgement& judgement, std::span<const Case* const> cases) {
  std::set<std::string> ops;
  for (const Case* one : cases) {
    if (!is_updated_in_place(one->tensors) || !ops.insert(one->op->name).second) continue;
    judgement.missing.push_back(
        {"inout", fmt::format("op '{}' updates an output in place: its programs run one by one on data that "
                              "are restored before each, so that one can tell when it is timed",
                              one->op->name)});
  }
}

void note_faster_at_public_points(Judgement& judgement) {
  const auto at_public = ratio_of(judgement.rows, Stage::Performance);
  const auto at_drawn = ratio_of(judgement.rows, Stage::Drawn);
  if (!at_public || !at_drawn) return;
  // Noisy times (a device that others use, too) have wide intervals that may miss the true ratio by as much
  // again: the gap must be larger than half of the wider one.
  const double gap = std::log(at_drawn->low / at_public->high);
  const double width = std::log(std::max(at_drawn->high / at_drawn->low, at_public->high / at_public->low));
  if (gap <= width / 2 || at_drawn->geometric_mean < most_gap * at_public->geometric_mean) return;
  judgement.findings.push_back(
      {"faster_at_public_points",
       fmt::format("the time over the baseline's is {:.3f} [{:.3f}, {:.3f}] at the repository's points and "
                   "{:.3f} [{:.3f}, {:.3f}] at points that were drawn near them",
                   at_public->geometric_mean, at_public->low, at_public->high, at_drawn->geometric_mean,
                   at_drawn->low, at_drawn->high)});
}

void need_plain_rows(std::vector<JudgedRow>& rows, std::span<const JudgedRow> plain) {
  for (JudgedRow& row : rows) {
    if (row.correct != true) continue;
    const auto same = std::ranges::find(plain, row.id, &JudgedRow::id);
    if (same != plain.end()) {
      if (same->correct != true) row = *same;
      continue;
    }
    row.status = Status::Missing;
    row.correct.reset();
    row.incomplete = true;
    row.reasons.push_back({"not_run", "it was not run as a plain `assay run` does"});
  }
}

void note_wrong_on_secret_data(Judgement& judgement) {
  const auto is_right_on_its_own = [&](const std::string& id) {
    return std::ranges::any_of(judgement.rows, [&](const JudgedRow& row) {
      return row.stage == Stage::Accuracy && row.id == id && row.correct == true;
    });
  };
  for (JudgedRow& row : judgement.rows) {
    const bool is_wrong = row.status == Status::Fail && row.correct == false;
    if (row.stage != Stage::Secret || !is_wrong || !is_right_on_its_own(row.id)) continue;
    row.trusted = false;
    row.reasons.insert(row.reasons.begin(),
                       Finding{"wrong_on_secret_data",
                               "right on the case's own data, wrong on data that it could not know"});
  }
}

bool Judgement::correct() const {
  const auto is_wrong = [](const JudgedRow& row) { return row.correct == false; };
  const auto is_right = [](const JudgedRow& row) { return row.correct == true; };
  const auto is_mistake = [](const Finding& finding) { return !is_distrust(finding.word); };
  return std::ranges::none_of(findings, is_mistake) && std::ranges::none_of(rows, is_wrong) &&
         std::ranges::any_of(rows, is_right);
}

bool Judgement::is_complete() const {
  return missing.empty() && std::ranges::none_of(rows, &JudgedRow::incomplete);
}

Verdict Judgement::verdict() const {
  const auto is_distrusted = [](const JudgedRow& row) { return !row.trusted; };
  const auto counts_as_cheat = [](const Finding& finding) { return is_distrust(finding.word); };
  if (std::ranges::any_of(findings, counts_as_cheat) || std::ranges::any_of(rows, is_distrusted))
    return Verdict::Distrusted;
  const auto is_wrong = [](const JudgedRow& row) { return row.correct == false; };
  if (!findings.empty() || std::ranges::any_of(rows, is_wrong)) return Verdict::Wrong;
  return correct() && is_complete() ? Verdict::Trusted : Verdict::Incomplete;
}

std::optional<OverallRatio> Judgement::ratio() const {
  return is_trusted() ? ratio_of(rows, Stage::Drawn) : std::nullopt;
}

std::optional<OverallRatio> Judgement::public_ratio() const {
  return is_trusted() ? ratio_of(rows, Stage::Performance) : std::nullopt;
}

}  // namespace assay::app
