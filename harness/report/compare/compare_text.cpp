#include "harness/report/compare/compare_text.h"

#include "harness/base/statistics.h"
#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/compare/compare.h"
#include "harness/report/compare/machine_shift.h"
#include "harness/report/console/labelled_text.h"
#include "harness/report/record/device_name.h"
#include "harness/report/record/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

namespace assay {
namespace {

constexpr std::size_t column_count = 9;
using Cells = std::array<std::string, column_count>;

struct Line {
  Cells cells;
  Ink ink = Ink::Plain;
  std::string reason;  // shown on the next line
};

std::string name_of_row(const RowVerdict& row) {
  return printable(row.info.id) + " (" + printable(mode_words(row.info)) + ")";
}

std::string time_of(const std::optional<RowSide>& side) {
  return side && side->has_time() ? fixed(side->time_us, 2) : "";
}

// Percentages say little about times that are far apart.
std::string change_of(double ratio) {
  if (!(ratio > 0)) return "";
  if (ratio < 0.5 || ratio > 2) return readable(ratio, 3) + "x";
  const double percent = 100 * (ratio - 1);
  return (percent < 0 ? "" : "+") + fixed(percent, 1) + " %";
}

std::string peaks_of(const RowVerdict& row) {
  const auto of = [](const std::optional<RowSide>& side) {
    return side && side->pct_peak > 0 ? fixed(side->pct_peak, 1) : std::string("?");
  };
  const std::string peaks = of(row.base) + " -> " + of(row.next);
  return peaks == "? -> ?" ? "" : peaks;
}

// Whether the row's figures already explain its verdict.
bool needs_no_reason(const RowVerdict& row) {
  if (!row.brief.empty()) return true;
  if (!row.verdict) return row.ratio > 0;
  switch (*row.verdict) {
    case Verdict::Slower:
    case Verdict::Faster:
    case Verdict::Same:
      return true;
    case Verdict::New:
    case Verdict::Gone:
      return !row.base || !row.next;
    default:
      return false;
  }
}

Line line_of(const RowVerdict& row) {
  Line line;
  line.cells = {row.verdict ? std::string(name_of(*row.verdict)) : "-",
                time_of(row.base),
                time_of(row.next),
                change_of(row.ratio),
                net_text(row),
                row.needed_pct > 0 ? fixed(row.needed_pct, 1) + " %" : "",
                peaks_of(row),
                name_of_row(row),
                row.brief};
  if (row.verdict) line.ink = ink_of(*row.verdict);
  if (!needs_no_reason(row)) line.reason = printable(row.reason);
  return line;
}

std::string text_of(const Line& line, const std::array<std::size_t, column_count>& widths, bool color) {
  std::string text;
  for (std::size_t i = 0; i < column_count; ++i) {
    if (widths[i] == 0) continue;
    const std::string blanks(widths[i] - columns_of(line.cells[i]), ' ');
    const bool left = i == 0 || i + 2 >= column_count;
    const std::string cell = i == 0 ? painted(line.cells[i], line.ink, color) : line.cells[i];
    text += "  " + (left ? cell + blanks : blanks + cell);
  }
  while (text.ends_with(' ')) text.pop_back();
  text += '\n';
  if (!line.reason.empty()) text += painted(indented("      " + line.reason, 6), Ink::Dim, color) + '\n';
  return text;
}

std::string rows_table(const RunComparison& comparison, const CompareView& view) {
  const std::vector<const RowVerdict*> rows = listed_rows(comparison, view);
  if (rows.empty()) return "";
  std::vector<Line> lines = {
      {.cells = {"", "base us", "new us", "time", "without shift", "needed", "% ceiling", "row", ""}}};
  for (const RowVerdict* row : rows) lines.push_back(line_of(*row));
  std::array<std::size_t, column_count> widths{};
  for (std::size_t i = 0; i < column_count; ++i) {
    const bool is_used =
        std::any_of(lines.begin() + 1, lines.end(), [i](const Line& line) { return !line.cells[i].empty(); });
    for (const Line& line : lines) widths[i] = is_used ? std::max(widths[i], columns_of(line.cells[i])) : 0;
  }
  std::string text;
  for (const Line& line : lines) text += text_of(line, widths, view.color);
  return text + '\n';
}

std::string runs_text(const std::vector<RunReport>& runs, const char* side, bool with_ceilings) {
  std::string text;
  for (const RunReport& report : runs) {
    const RunInfo& run = report.run;
    text += fmt::format("{:<5} {}  {}, {}  assay {}{}\n", side, printable(run.run_id),
                        printable(run.device.name), printable(driver_of(run.device)), printable(run.version),
                        report.complete ? "" : "  (did not finish)");
    if (with_ceilings && run.ceilings.measured())
      text += "      ceilings: " + ceilings_line(run.ceilings) + '\n';
  }
  return text;
}

std::string factor(double ratio) {
  return ratio < 0.1 ? readable(ratio, 3) : fixed(ratio, 3);
}

std::string mean_line(const GeometricMean& mean, const std::string& of_what, bool cross_device) {
  std::string text = fmt::format("  {}x  {}, {}", factor(mean.ratio), of_what, significant_text(mean));
  if (cross_device && mean.peak_rows > 0)
    text += fmt::format("; {}x the base's share of the ceiling", factor(mean.peak_ratio));
  return text + '\n';
}

// Whether nothing changed, so that the mean need not be shown. Means of two devices are always shown.
bool is_quiet(const GeometricMean& mean, bool cross_device) {
  constexpr double still = 0.01;
  return !cross_device && mean.significant == 0 && std::abs(mean.ratio - 1) <= still;
}

std::string means_text(const RunComparison& comparison, bool all) {
  if (comparison.means.empty()) return "";
  std::string text =
      "geometric means of new time / base time; significant: all blocks separate, by more than the row "
      "needs\n";
  if (std::ranges::any_of(comparison.rows, [](const RowVerdict& row) { return row.machine_ratio > 0; }))
    text += "  (of the times as measured: the machine's shift is in them)\n";
  std::size_t quiet = 0;
  for (const GeometricMean& mean : comparison.means) {
    if (!all && is_quiet(mean, comparison.cross_device)) {
      ++quiet;
      continue;
    }
    const std::string cache = mean.cache.empty() ? "" : " " + mean.cache;
    text += mean_line(mean, printable(mean.op) + " " + printable(mean.impl) + cache, comparison.cross_device);
  }
  if (comparison.means.size() > 1) text += mean_line(comparison.mean_of_all, "all", comparison.cross_device);
  if (quiet > 0) {
    text += fmt::format("  {} of {} ops and impls within 1 %, without a significant row\n", quiet,
                        comparison.means.size());
  }
  return text + '\n';
}

// The smallest difference that one run per side can report, and why.
std::string one_run_text(const RunComparison& comparison) {
  double largest = 0;
  for (const RowVerdict& row : comparison.rows) largest = std::max(largest, row.between_runs_pct);
  if (!comparison.knows_run_noise) {
    return fmt::format(
        "One run per side: differences up to {} % are not reported, as the noise between runs of this\n"
        "device is unknown. Several runs per side (--base A --base B) or --run-noise FILE\n"
        "(docs/compare.md) lower this limit.\n",
        significant(largest, 3));
  }
  if (!(largest > 0)) return "";
  return fmt::format(
      "One run per side: differences up to {} % are not reported, as runs of one program on this\n"
      "device have differed by that much.\n",
      significant(largest, 3));
}

/// For each device on both sides, a pair of its runs.
std::vector<std::pair<const RunInfo*, const RunInfo*>> pairs_of_runs(const RunComparison& comparison) {
  std::map<std::string, const RunInfo*> before, now;
  for (const RunReport& report : comparison.base) before[device_key(report.run)] = &report.run;
  for (const RunReport& report : comparison.next) now[device_key(report.run)] = &report.run;
  std::vector<std::pair<const RunInfo*, const RunInfo*>> pairs;
  for (const auto& [device, run] : before) {
    if (now.contains(device)) pairs.emplace_back(run, now.at(device));
  }
  return pairs;
}

// "600 q8ta_linear, 55 linear_q8csw, 12 of 3 other ops": rows by op, the largest counts first.
std::string ops_text(const std::vector<const RowVerdict*>& rows) {
  constexpr std::size_t most = 4;
  std::map<std::string, std::size_t> by_op;
  for (const RowVerdict* row : rows) ++by_op[row->info.op];
  std::vector<std::pair<std::string, std::size_t>> ops(by_op.begin(), by_op.end());
  std::ranges::stable_sort(ops, std::ranges::greater(), &std::pair<std::string, std::size_t>::second);
  std::string text;
  std::size_t others = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (i >= most) {
      others += ops[i].second;
      continue;
    }
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", ops[i].second, printable(ops[i].first));
  }
  if (others > 0) text += fmt::format(", {} of {} other ops", others, ops.size() - most);
  return text;
}

std::string folded_line(const RunComparison& comparison, Verdict verdict, const char* what) {
  std::vector<const RowVerdict*> rows;
  for (const RowVerdict& row : comparison.rows) {
    if (row.verdict == verdict) rows.push_back(&row);
  }
  if (rows.empty()) return "";
  return fmt::format("{:<4}  {} row{} {}: {}\n", name_of(verdict), rows.size(), rows.size() == 1 ? "" : "s",
                     what, ops_text(rows));
}

// How large a difference the SAME rows could hide.
std::string resolution_line(const RunComparison& comparison) {
  std::vector<double> needed;
  for (const RowVerdict& row : comparison.rows) {
    if (row.verdict == Verdict::Same && row.needed_pct > 0) needed.push_back(row.needed_pct);
  }
  if (needed.empty()) return "";
  const double largest = *std::ranges::max_element(needed);
  return fmt::format(
      "SAME: half of these rows would have shown a difference above {} %, all of them one above {} %\n",
      fixed(median(needed), 1), fixed(largest, 1));
}

bool is_new_or_gone(const RowVerdict& row) {
  return row.verdict == Verdict::New || row.verdict == Verdict::Gone;
}

// Order of the rows: the worst first, rows without a partner last.
int rank(const RowVerdict& row) {
  constexpr std::array order = {Verdict::Broken,    Verdict::Slower,      Verdict::Suspect, Verdict::Drifted,
                                Verdict::Ambiguous, Verdict::Environment, Verdict::Faster,  Verdict::Same};
  if (is_new_or_gone(row)) return static_cast<int>(order.size()) + (row.verdict == Verdict::New ? 2 : 1);
  if (!row.verdict) return static_cast<int>(order.size());
  return static_cast<int>(std::ranges::find(order, *row.verdict) - order.begin());
}

void explain_side(Page& page, const RowSide& side, const char* name) {
  page.section(name);
  std::string runs;
  for (const std::string& run : side.runs) runs += (runs.empty() ? "" : ", ") + run;
  page.line("runs", runs);
  page.line("status", std::string(name_of(side.status)) + (side.reason.empty() ? "" : ": " + side.reason));
  if (!side.has_time()) return;
  std::string blocks;
  for (const double us : side.block_us) blocks += (blocks.empty() ? "" : "  ") + readable(us, 6);
  page.line("blocks, us", blocks);
  page.line("median", readable(side.time_us, 6) + " us +- " + fixed(side.ci_pct, 2) + " %, of " +
                          std::to_string(side.samples) + " samples");
  if (side.clock_ratio > 0)
    page.line("clock", fixed(side.clock_ratio, 3) + " of full clock, by the clock probe");
  page.line("spread", fixed(side.spread_pct, 2) + " % between the blocks");
  if (side.energy_j > 0) page.line("energy", significant(side.energy_j, 6) + " J");
  if (side.pct_peak > 0) {
    page.line("% ceiling",
              fixed(side.pct_peak, 1) + (side.limited_by.empty() ? "" : ", limited by " + side.limited_by));
  }
}

}  // namespace

std::vector<const RowVerdict*> shown_rows(const RunComparison& comparison, const CompareView& view) {
  std::vector<const RowVerdict*> rows;
  for (const RowVerdict& row : comparison.rows) {
    const bool is_folded = is_new_or_gone(row) && !view.new_and_gone;
    const bool is_quiet = row.verdict ? *row.verdict == Verdict::Same || is_folded : !(row.ratio > 0);
    if (view.all || !is_quiet) rows.push_back(&row);
  }
  // Two devices: the rows in which the new one is slowest come first.
  std::ranges::stable_sort(rows, {}, [&](const RowVerdict* row) {
    return std::pair(rank(*row), comparison.cross_device ? -row->ratio : 0.0);
  });
  return rows;
}

std::string machines_text(const RunComparison& comparison) {
  std::string text;
  for (const MachineShift& shift : comparison.machines) {
    std::string line = shift_text(shift);
    if (line.empty()) continue;
    if (comparison.machines.size() > 1) {
      line.insert(0, printable(shift.device) + ": ");
    } else {
      line[0] = 'T';
    }
    if (!shift.is_ignored) {
      line += shift.evidence == ShiftEvidence::Measured ? "; rows of other programs are judged against that"
                                                        : "; rows of other programs are AMBIGUOUS";
    }
    text += line + '\n';
  }
  return text;
}

std::string net_text(const RowVerdict& row) {
  if (!(row.net_ratio > 0)) return "";
  return fmt::format("{} ({} .. {})", times_text(row.net_ratio), fixed(row.net_low, 2),
                     fixed(row.net_high, 2));
}

std::string times_line(const RowVerdict& row) {
  const std::string net = net_text(row);
  return fmt::format("{} -> {} us, {}x{}", fixed(row.base->time_us, 2), fixed(row.next->time_us, 2),
                     readable(row.ratio, 4), net.empty() ? "" : ", without the machine's shift " + net);
}

std::vector<const RowVerdict*> listed_rows(const RunComparison& comparison, const CompareView& view) {
  std::vector<const RowVerdict*> rows = shown_rows(comparison, view);
  if (view.all || !has_broken_groups(comparison)) return rows;
  std::erase_if(rows, [](const RowVerdict* row) { return row->verdict == Verdict::Broken; });
  return rows;
}

std::string new_and_gone_text(const RunComparison& comparison) {
  return folded_line(comparison, Verdict::Gone, "of the base without a result now") +
         folded_line(comparison, Verdict::New, "without a result in the base");
}

std::string significant_text(const GeometricMean& mean) {
  return fmt::format("{} of {} row{} significant",
                     mean.significant == 0 ? "none" : std::to_string(mean.significant), mean.rows,
                     mean.rows == 1 ? "" : "s");
}

std::string ceilings_text(const RunComparison& comparison) {
  constexpr double agreement = 0.05;
  std::string text;
  if (comparison.cross_device) return text;
  const auto pairs = pairs_of_runs(comparison);
  for (const auto& [before, now] : pairs) {
    if (!before->ceilings.measured() || !now->ceilings.measured()) continue;
    for (const CeilingChange& change : ceiling_changes(before->ceilings, now->ceilings, agreement)) {
      text += fmt::format("  {}: {} -> {}{}{}\n", change.what, change.before, change.now,
                          change.percent != 0 ? fmt::format(" ({:+.1f} %)", change.percent) : "",
                          pairs.size() > 1 ? " on " + printable(now->device.name) : "");
    }
  }
  if (text.empty()) return text;
  return "The runs' ceilings differ by more than 5 %; each % ceiling refers to its own run's:\n" + text;
}

std::string totals_line(const RunComparison& comparison) {
  std::string text;
  for (const auto& [verdict, count] : comparison.totals())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name_of(verdict));
  const std::size_t silent = comparison.without_verdict();
  if (silent > 0) {
    text +=
        fmt::format("{}{} row{} without a verdict", text.empty() ? "" : "; ", silent, silent == 1 ? "" : "s");
  }
  return text + '\n';
}

std::string chance_text(const RunComparison& comparison) {
  if (comparison.judged == 0) return "";
  return fmt::format(
      "By chance alone, at most {} of the {} judged times would have completely separated blocks: 2 /\n"
      "C(b+n, b) for b and n blocks, summed. An alarm needs a large enough effect as well. The bound\n"
      "takes the blocks of both sides as exchangeable: it does not include differences between runs that\n"
      "the blocks of one run do not show. Several runs per side (--base A --base B) bring these into the\n"
      "spread. There is no p-value, as samples of one block are correlated.\n",
      fixed(comparison.expected_separations, 2), comparison.judged);
}

std::string compare_text(const RunComparison& comparison, const CompareView& view) {
  std::string text = machines_text(comparison) + runs_text(comparison.base, "base", comparison.cross_device) +
                     runs_text(comparison.next, "new", comparison.cross_device);
  if (comparison.cross_device) {
    text +=
        "Two devices: speed gets no verdict; shown are the times and each device's share of its ceiling.\n";
  }
  text += ceilings_text(comparison) + '\n';
  if (!view.all) text += broken_groups_text(comparison, view.color);
  text += rows_table(comparison, view);
  if (const std::string folded = new_and_gone_text(comparison); !folded.empty()) {
    const bool are_listed = view.all || view.new_and_gone;
    text += folded + (are_listed ? "\n" : "      --new-and-gone lists them\n\n");
  }
  text += means_text(comparison, view.all) + totals_line(comparison) + resolution_line(comparison);
  if (comparison.judged > 0) text += one_run_text(comparison);
  return text + chance_text(comparison);
}

std::string explain(const RowVerdict& row, bool color) {
  Page page(color);
  page.title(row.verdict ? name_of(*row.verdict) : "-", row.verdict ? ink_of(*row.verdict) : Ink::Plain,
             name_of_row(row));
  page.line("device", row.device);
  page.line("reason", row.reason);
  if (row.base) explain_side(page, *row.base, "base");
  if (row.next) explain_side(page, *row.next, "new");
  page.section("conditions; the last one decided");
  for (const Condition& condition : row.conditions) page.line(condition.name, condition.finding);
  return page.text();
}

}  // namespace assay
