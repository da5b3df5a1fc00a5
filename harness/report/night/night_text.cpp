#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/compare/compare_text.h"
#include "harness/report/night/night.h"
#include "harness/report/record/row_info.h"
#include "harness/report/record/run_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <sstream>

namespace assay {
namespace {

constexpr std::size_t label_width = 10;
constexpr std::size_t verdict_width = 18;  // "  UNEXPECTED_PASS "
constexpr std::size_t most_groups = 20;    // per device; nightly.json and the report have the others
constexpr std::size_t most_compared = 20;

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string duration(double seconds) {
  const auto whole = std::lround(std::max(seconds, 0.0));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

void line(std::string& text, const char* label, const std::string& value) {
  text += wrapped(fmt::format("  {:<{}}", label, label_width - 2), printable(value));
}

std::string name_of_row(const RowInfo& info) {
  return info.id + " (" + mode_words(info) + ")";
}

/// "10 PASS, 2 FAIL"
template <class Counts>
std::string counts_text(const Counts& counts) {
  std::string text;
  for (const auto& [word, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name_of(word));
  return text;
}

std::string totals_text(const ComparisonDigest& comparison) {
  std::string text = counts_text(comparison.totals);
  if (comparison.without_verdict > 0)
    text += fmt::format("{}{} without a verdict", text.empty() ? "" : ", ", comparison.without_verdict);
  return text;
}

/// Shows changes of things other than the program.
void add_changes(std::string& text, const RunInfo& before, const RunInfo& now) {
  if (driver_of(before.device) != driver_of(now.device))
    line(text, "driver", driver_of(before.device) + " -> " + driver_of(now.device));
  if (before.version != now.version) line(text, "assay", before.version + " -> " + now.version);
}

void add_last_good(std::string& text, const DeviceNight& device) {
  if (!device.last_good) return;
  const ComparisonDigest& comparison = device.last_good->comparison;
  line(text, "against", comparison.base.run_id + ": " + totals_text(comparison));
  if (comparison.cross_device)
    line(text, "", "a different device then (" + comparison.base.device.name + "): speed is not compared");
  if (device.run) add_changes(text, comparison.base, device.run->run);
  if (comparison.changed_exact == 0) return;
  line(text, "answers",
       counted(comparison.changed_exact, "exact row") +
           " right, but with different bits than then: the reference has changed");
}

/// "; new since the last good night", "; 3 of them new since the last good night"
std::string news_of(const FailureGroup& group) {
  if (group.is_new == 0) return "";
  const bool are_all = group.is_new == group.rows.size();
  return fmt::format("; {}new since the last good night",
                     are_all ? "" : fmt::format("{} of them ", group.is_new));
}

void add_group(std::string& text, const FailureGroup& group) {
  text += wrapped(fmt::format("  {:<{}}", name_of(group.status), verdict_width - 2),
                  printable(group_text(group) + news_of(group)));
  const std::string indent(verdict_width, ' ');
  text += wrapped(indent, printable(group.example));
  if (!group.story.empty()) text += wrapped(indent, printable(group.story));
}

/// A failure in full, as failure_text() has it: its lines wrapped.
void add_example(std::string& text, const std::string& failure) {
  text += "\n  The first of these in full:\n";
  std::istringstream lines(failure);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t head = line.starts_with("  ") ? std::min(label_width, line.size()) : 0;
    const std::string indent = "  " + line.substr(0, head);
    const bool is_command = line.starts_with("  again");
    text += is_command ? wrapped_command(indent, line.substr(head)) : wrapped(indent, line.substr(head));
  }
}

void add_failures(std::string& text, const DeviceNight& device) {
  const std::vector<FailureGroup>& groups = device.run->groups;
  for (std::size_t i = 0; i < std::min(groups.size(), most_groups); ++i) add_group(text, groups[i]);
  if (groups.size() > most_groups) {
    text += fmt::format("  and {} more kinds; `assay show {} --group failure` counts them all\n",
                        groups.size() - most_groups, printable(device.report));
  }
  // Rows that never ran have nothing to look at.
  if (groups.empty() || groups.front().status == Status::Missing) return;
  if (groups.front().rows.size() > 1) {
    text += wrapped_command("  rows    ",
                            printable("assay show " + device.report + " " + listing_option(groups.front())));
  }
  add_example(text, device.run->example);
}

std::string times_of(const RowVerdict& row) {
  if (!(row.ratio > 0)) return row.reason.substr(0, row.reason.find('\n'));
  return times_line(row);
}

/// "changed again: 1.10x was accepted in 2026-01-02"
std::string accepted_text(const AcceptedChange& change) {
  const std::string what = change.ratio > 0 ? times_text(change.ratio) : std::string(name_of(change.verdict));
  return fmt::format("changed again: {} was accepted in {}", what, change.night);
}

/// Rows that failed tonight, or that tonight's run lost, are listed among its failures.
bool is_among_failures(const RowVerdict& row) {
  return row.next && class_of(row.next->status) != StatusClass::Fine;
}

void add_compared(std::string& text, const DeviceNight& device) {
  if (!device.last_good) return;
  std::vector<const RowVerdict*> rows;
  for (const RowVerdict& row : device.last_good->comparison.rows) {
    if (device.failing.contains(*row.verdict) && !is_among_failures(row) && !device.is_accepted_row(row.info))
      rows.push_back(&row);
  }
  const std::size_t shown = std::min(rows.size(), most_compared);
  for (std::size_t i = 0; i < shown; ++i) {
    const RowVerdict& row = *rows[i];
    text += wrapped(fmt::format("  {:<{}}", name_of(*row.verdict), verdict_width - 2),
                    printable(name_of_row(row.info)));
    const std::string indent(verdict_width, ' ');
    if (const std::string times = times_of(row); !times.empty()) text += wrapped(indent, printable(times));
    if (const auto change = device.changed_again.find(key_of(row.info)); change != device.changed_again.end())
      text += wrapped(indent, printable(accepted_text(change->second)));
  }
  const std::size_t left_out = device.last_good->comparison.rows_left_out;
  if (rows.size() > shown || left_out > 0)
    text += "  and more; `assay compare` of the two reports shows them all\n";
}

std::string outlook(const DeviceNight& device) {
  if (device.becomes_last_good) {
    return device.is_accepted || device.accepted > 0 ? "it becomes the last good night, as accepted"
                                                     : "it becomes the last good night";
  }
  return device.last_good ? "the last good night remains " + device.last_good->comparison.base.run_id : "";
}

void add_run(std::string& text, const DeviceNight& device) {
  const RunDigest& digest = *device.run;
  line(text, "device", digest.run.device.name + ", " + driver_of(digest.run.device));
  line(text, "run",
       fmt::format("{}, {}, {}{}", digest.run.run_id, duration(device.duration_s), bytes_text(device.bytes),
                   digest.complete ? "" : "; it did not finish"));
  line(text, "rows", fmt::format("{}: {}", digest.rows, counts_text(digest.statuses)));
  if (!device.has_strict_notes) return;
  const std::vector<std::string> notes = strict_notes(device);
  line(text, "strict", counted(notes.size(), "rule") + " of the expectations to review");
  for (const std::string& note : std::span(notes).first(std::min(notes.size(), most_groups)))
    line(text, "rule", note);
}

/// "3 rows whose change was accepted, 2 of them in an earlier night"
std::string accepted_rows_text(const DeviceNight& device) {
  const std::string text = counted(device.accepted, "row") + " whose change was accepted";
  const std::size_t earlier = device.carried_over.size();
  if (earlier == 0) return text;
  return text + (earlier == device.accepted ? "" : fmt::format(", {} of them", earlier)) +
         " in an earlier night";
}

std::string device_text(const DeviceNight& device) {
  std::string text = "\n" + std::string(name_of(device.verdict())) + "  " + printable(device.slug) + "\n";
  for (const std::string& problem : device.all_problems()) line(text, "problem", problem);
  for (const std::string& warning : device.all_warnings()) line(text, "warning", warning);
  if (device.run) add_run(text, device);
  add_last_good(text, device);
  if (!device.note.empty()) line(text, "against", device.note);
  if (device.accepted > 0) line(text, "worse", accepted_rows_text(device));
  if (const std::string next = outlook(device); !next.empty()) line(text, "next", next);
  if (!device.report.empty()) line(text, "report", device.report);
  add_compared(text, device);
  if (device.run) add_failures(text, device);
  return text;
}

/// The problems of the night in a few words.
std::string totals_of(const Night& night) {
  std::size_t failing = 0, lost = 0, worse = 0;
  for (const DeviceNight& device : night.devices) {
    failing += device.run ? device.run->count(StatusClass::Failing) : 0;
    lost += device.run ? device.run->count(StatusClass::Infrastructure) : 0;
    worse += device.is_accepted ? 0 : device.regressions();
  }
  std::string text;
  if (failing > 0) text += ", " + counted(failing, "row") + " failed";
  if (lost > 0) text += ", " + counted(lost, "row") + " lost";
  if (worse > 0) text += ", " + counted(worse, "row") + " worse than in the last good night";
  for (const DeviceNight& device : night.devices) {
    if (!device.shift()) continue;
    text += (night.devices.size() > 1 ? ", " + printable(device.slug) + ": " : ", ") +
            shift_brief(*device.shift());
  }
  return text;
}

std::string headline(const Night& night) {
  if (night.devices.empty()) return "no report of any device";
  return fmt::format("{} of {} good{}", night.good(), counted(night.devices.size(), "device"),
                     totals_of(night));
}

SummaryRow compared_row(const RowVerdict& row) {
  SummaryRow summary{
      .id = row.info.id, .mode = mode_words(row.info), .word = std::string(name_of(*row.verdict))};
  if (row.ratio > 0) {
    summary.figure = times_line(row);
  }
  summary.reason = row.reason;
  return summary;
}

/// Rows that failed tonight are in the table of failures.
bool is_failure(const RowVerdict& row) {
  return row.next && class_of(row.next->status) != StatusClass::Fine;
}

/// The failures of a group as one row of the table, with its example.
SummaryRow group_row(const FailureGroup& group, const FailedRow& example) {
  const std::string story = group.story.empty() ? "" : ": " + group.story;
  return summary_row(example.info, group.status, group_text(group) + story, example.repro);
}

void add_compared(SummaryDevice& summary, const DeviceNight& device) {
  if (!device.last_good) return;
  std::size_t failed = 0;
  for (const RowVerdict& row : device.last_good->comparison.rows) {
    if (!device.failing.contains(*row.verdict) || device.is_accepted_row(row.info)) continue;
    is_failure(row) ? void(++failed) : summary.compared.push_back(compared_row(row));
  }
  const std::size_t listed = summary.compared.size() + failed;
  summary.compared_left_out = std::max(device.regressions(), listed) - listed;
}

SummaryDevice device_of(const DeviceNight& device) {
  SummaryDevice summary{.title = device.slug,
                        .verdict = std::string(name_of(device.verdict())),
                        .notes = device.all_problems()};
  for (const std::string& warning : device.all_warnings()) summary.notes.push_back(warning);
  for (const std::string& note : strict_notes(device)) summary.notes.push_back(note);
  add_compared(summary, device);
  if (!device.run) return summary;
  summary.statuses = device.run->statuses;
  for (std::size_t i = 0; i < device.run->groups.size(); ++i)
    summary.failures.push_back(group_row(device.run->groups[i], device.run->examples[i]));
  return summary;
}

}  // namespace

std::string night_text(const Night& night) {
  std::string text =
      fmt::format("{}: {}, {}\n", name_of(night.verdict()), printable(night.name), headline(night));
  for (const std::string& problem : night.problems) line(text, "problem", problem);
  for (const DeviceNight& device : night.devices) text += device_text(device);
  text += '\n';
  line(text, "disk",
       "the night has " + bytes_text(night.bytes) +
           (night.free_bytes ? ", " + bytes_text(*night.free_bytes) + " are free" : ""));
  line(text, "judged", night.when + " by assay " + night.version);
  return text;
}

GithubSummary night_summary(const Night& night) {
  GithubSummary summary{.title = "Night " + night.name};
  summary.answer = fmt::format("**{}**: {} of {} devices good", name_of(night.verdict()), night.good(),
                               night.devices.size());
  for (const DeviceNight& device : night.devices) summary.devices.push_back(device_of(device));
  return summary;
}

}  // namespace assay
