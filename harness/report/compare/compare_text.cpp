#include "harness/report/compare/compare_text.h"

#include "harness/base/statistics.h"
#include "harness/base/text.h"
#include "harness/report/console/page.h"
#include "harness/report/record/row_key.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace assay {
namespace {

constexpr std::size_t column_count = 8;
using Cells = std::array<std::string, column_count>;

struct Line {
  Cells cells;
  Ink ink = Ink::Plain;
  std::string reason;  // stands below
};

std::string name_of_row(const RowVerdict& row) {
  return printable(row.info.id) + " (" + printable(mode_words(row.info)) + ")";
}

std::string time_of(const std::optional<RowSide>& side) {
  return side && side->has_time() ? fixed(side->time_us, 2) : "";
}

// Percents say nothing of times that are far apart.
std::string change_of(double ratio) {
  if (!(ratio > 0)) return "";
  if (ratio < 0.5 || ratio > 2) return significant(ratio, 3) + "x";
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

// The figures of these say it all.
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
  const std::vector<const RowVerdict*> rows = shown_rows(comparison, view.all);
  if (rows.empty()) return "";
  std::vector<Line> lines = {{.cells = {"", "base us", "new us", "time", "needed", "% ceiling", "row", ""}}};
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

std::string runs_text(const std::vector<RunReport>& runs, const char* side) {
  std::string text;
  for (const RunReport& report : runs) {
    const RunInfo& run = report.run;
    text += fmt::format("{:<5} {}  {}, {}  assay {}{}\n", side, printable(run.run_id),
                        printable(run.device.name), printable(driver_of(run)), printable(run.version),
                        report.complete ? "" : "  (did not finish)");
  }
  return text;
}

std::string factor(double ratio) {
  return ratio < 0.1 ? significant(ratio, 3) : fixed(ratio, 3);
}

std::string means_text(const RunComparison& comparison) {
  if (comparison.means.empty()) return "";
  std::string text = "geometric means of the new time over the base's\n";
  for (const GeometricMean& mean : comparison.means) {
    text +=
        fmt::format("  {}x  {} {}{}, {} row{}", factor(mean.ratio), printable(mean.op), printable(mean.impl),
                    mean.cache.empty() ? "" : " " + mean.cache, mean.rows, mean.rows == 1 ? "" : "s");
    if (comparison.cross_device && mean.peak_rows > 0)
      text += fmt::format("; {}x of its device's ceiling", factor(mean.peak_ratio));
    text += '\n';
  }
  return text + '\n';
}

// How large a difference the rows that are the same could hide.
std::string resolution_line(const RunComparison& comparison) {
  std::vector<double> needed;
  for (const RowVerdict& row : comparison.rows) {
    if (row.verdict == Verdict::Same && row.needed_pct > 0) needed.push_back(row.needed_pct);
  }
  if (needed.empty()) return "";
  const double largest = *std::ranges::max_element(needed);
  return fmt::format(
      "SAME: half of these times would have shown a difference over {} %, all of them one over {} %\n",
      fixed(median(needed), 1), fixed(largest, 1));
}

// Worst first.
int rank(const RowVerdict& row) {
  constexpr std::array order = {Verdict::Broken,  Verdict::Slower,    Verdict::Gone,        Verdict::Suspect,
                                Verdict::Drifted, Verdict::Ambiguous, Verdict::Environment, Verdict::Faster,
                                Verdict::New,     Verdict::Same};
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
  for (const double us : side.block_us) blocks += (blocks.empty() ? "" : "  ") + significant(us, 6);
  page.line("blocks, us", blocks);
  page.line("median", significant(side.time_us, 6) + " us +- " + fixed(side.ci_pct, 2) + " %, of " +
                          std::to_string(side.samples) + " samples");
  if (side.clock_ratio > 0)
    page.line("clock", fixed(side.clock_ratio, 3) + " of full clock, by the clock probe");
  page.line("spread", fixed(side.spread_pct, 2) + " % between the blocks");
  if (side.pct_peak > 0) {
    page.line("% ceiling",
              fixed(side.pct_peak, 1) + (side.limited_by.empty() ? "" : ", limited by " + side.limited_by));
  }
}

}  // namespace

std::vector<const RowVerdict*> shown_rows(const RunComparison& comparison, bool all) {
  std::vector<const RowVerdict*> rows;
  for (const RowVerdict& row : comparison.rows) {
    const bool is_quiet = row.verdict ? *row.verdict == Verdict::Same : !(row.ratio > 0);
    if (all || !is_quiet) rows.push_back(&row);
  }
  std::ranges::stable_sort(rows, {}, [](const RowVerdict* row) { return rank(*row); });
  return rows;
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
      "By chance alone at most {} of the {} times judged would have their blocks separated completely, and "
      "an\n"
      "alarm needs an effect besides: 2 / C(b+n, b) for b and n blocks, summed. It takes the blocks of both "
      "sides\n"
      "as exchangeable; what differs between two runs and not between the blocks of one is not in it: "
      "several\n"
      "runs a side (--base A --base B) bring it into the spread. There is no p-value, as samples of one "
      "block are\n"
      "correlated.\n",
      fixed(comparison.expected_separations, 2), comparison.judged);
}

std::string compare_text(const RunComparison& comparison, const CompareView& view) {
  std::string text = runs_text(comparison.base, "base") + runs_text(comparison.next, "new");
  if (comparison.cross_device) {
    text +=
        "Two devices: verdicts of speed are for one device; here are times, and what share of its limit each "
        "reaches.\n";
  }
  text += '\n' + rows_table(comparison, view) + means_text(comparison) + totals_line(comparison) +
          resolution_line(comparison) + chance_text(comparison);
  return text;
}

std::string explain(const RowVerdict& row, bool color) {
  Page page(color);
  page.title(row.verdict ? name_of(*row.verdict) : "-", row.verdict ? ink_of(*row.verdict) : Ink::Plain,
             name_of_row(row));
  page.line("device", row.device);
  page.line("reason", row.reason);
  if (row.base) explain_side(page, *row.base, "base");
  if (row.next) explain_side(page, *row.next, "new");
  page.section("what was looked at; the last decided");
  for (const Condition& condition : row.conditions) page.line(condition.name, condition.finding);
  return page.text();
}

}  // namespace assay
