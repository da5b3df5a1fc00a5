#include "harness/report/console/console.h"

#include "harness/base/clock.h"
#include "harness/base/status.h"
#include "harness/base/text.h"
#include "harness/device/driver_name.h"
#include "harness/report/console/labelled_text.h"
#include "harness/report/console/perf_table.h"
#include "harness/report/console/summary.h"
#include "harness/report/console/terminal_text.h"
#include "harness/report/record/failure_groups.h"
#include "harness/report/record/report_totals.h"
#include "harness/report/record/words.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <ostream>
#include <utility>

namespace assay {
namespace {

/// Blocks per row before any row has ended: more than most rows need, as an estimate had better fall than
/// rise.
constexpr std::size_t guessed_blocks = 15;
/// An estimate that has not fallen for this long was too low.
constexpr double stuck_s = 30;

}  // namespace

void TimeLeft::plan(std::span<const RowInfo> planned, double now) {
  *this = {};
  since_ = now;
  for (const RowInfo& row : planned) ++kind_of(row).left;
}

void TimeLeft::ended(const RowInfo& row, double now) {
  Kind& kind = kind_of(row);
  if (kind.left > 0) --kind.left;
  ++kind.ended;
  kind.seconds += now - since_;
  since_ = now;
  const auto blocks = row.mode == "perf" ? blocks_of_.extract(row.id) : decltype(blocks_of_)::node_type();
  if (blocks) ended_blocks_ += blocks.mapped();
}

void TimeLeft::block(const RowInfo& row, double now) {
  perf_.seconds += now - since_;
  since_ = now;
  ++blocks_;
  ++blocks_of_[row.id];
}

/// The expected number of blocks of a row when it ends.
double TimeLeft::blocks_of_a_row() const {
  if (perf_.ended > 0) return static_cast<double>(ended_blocks_) / static_cast<double>(perf_.ended);
  std::size_t most = guessed_blocks;
  for (const auto& [id, blocks] : blocks_of_) most = std::max(most, blocks + 1);
  return static_cast<double>(most);
}

double TimeLeft::blocks_left() const {
  const double of_a_row = blocks_of_a_row();
  double blocks = static_cast<double>(perf_.left - std::min(perf_.left, blocks_of_.size())) * of_a_row;
  for (const auto& [id, had] : blocks_of_) blocks += std::max(1.0, of_a_row - static_cast<double>(had));
  return blocks;
}

std::optional<double> TimeLeft::accu_seconds() const {
  if (accu_.left == 0) return 0;
  if (accu_.ended == 0) return std::nullopt;
  return static_cast<double>(accu_.left) * accu_.seconds / static_cast<double>(accu_.ended);
}

std::optional<double> TimeLeft::perf_seconds() const {
  if (perf_.left == 0) return 0;
  if (blocks_ > 0) return blocks_left() * perf_.seconds / static_cast<double>(blocks_);
  if (perf_.ended == 0) return std::nullopt;
  return static_cast<double>(perf_.left) * perf_.seconds / static_cast<double>(perf_.ended);
}

std::optional<double> TimeLeft::seconds() {
  const std::optional<double> accu = accu_seconds();
  const std::optional<double> perf = perf_seconds();
  if (!accu || !perf || accu_.left + perf_.left == 0) return std::nullopt;
  const double estimate = *accu + *perf;
  if (!shown_ || estimate < *shown_ || since_ - shown_at_ > stuck_s) {
    shown_ = estimate;
    shown_at_ = since_;
  }
  return shown_;
}

std::string rule_note_lines(const RunInfo& run, bool color) {
  std::string lines;
  for (const RuleNote& rule : run.rule_notes) {
    lines += fmt::format("{}  {}:{}  {}  ({})\n    {}\n", painted(printable(rule.state), Ink::Yellow, color),
                         printable(rule.where.file), rule.where.line, printable(rule.match),
                         printable(rule.reason), printable(rule.note));
  }
  return lines;
}

namespace {

constexpr double terminal_interval_s = 0.1;
constexpr double plain_interval_s = 5;
constexpr std::size_t listed_groups = 40;
constexpr std::size_t lines_of_kind = 3;  ///< failures of one kind that are shown as they happen

std::string cases(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " case" : " cases");
}

// "8.3 s", "2 min 05 s", "1 h 02 min"
std::string duration(double seconds) {
  if (seconds < 60) return fixed(seconds, 1) + " s";
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string nanoseconds(double ns) {
  return ns < 1000 ? readable(ns, 3) + " ns" : readable(ns / 1e3, 3) + " us";
}

// The precision of the device's timer; empty if nothing was measured.
std::string timer_line(const TimerCalibration& timer) {
  if (!(timer.unit_ns > 0) && timer.note.empty()) return "";
  std::string line(name_of(timer.quality));
  if (timer.unit_ns > 0) line += ", unit " + nanoseconds(timer.unit_ns);
  if (timer.gpu_over_cpu > 0) line += ", GPU/CPU time " + fixed(timer.gpu_over_cpu, 4);
  return line + (timer.note.empty() ? "" : ": " + printable(timer.note));
}

bool has_imprecise_time(const RunReport& report) {
  return std::ranges::any_of(report.records, [](const Record& record) {
    return has_time(record) && !why_imprecise(*record.perf).empty();
  });
}

}  // namespace

Console::Console(std::ostream& out, std::ostream& log, ConsoleOptions options)
    : out_(out), log_(log), options_(std::move(options)) {
  if (!options_.now_seconds) options_.now_seconds = steady_seconds;
  started_ = last_progress_ = options_.now_seconds();
}

void Console::run(const RunInfo& info) {
  if (header_shown_) return;  // run() is called again when the ceilings were measured again
  header_shown_ = true;
  const DeviceInfo& device = info.device;
  out_ << painted("assay " + printable(info.version), Ink::Bold, options_.color) << "  run "
       << printable(info.run_id) << '\n';
  out_ << "device  " << painted(printable(device.name), Ink::Bold, options_.color);
  if (!device.type.empty()) out_ << " (" << printable(device.type) << ")";
  out_ << '\n';
  out_ << "driver  " << printable(driver_of(device));
  if (!device.api_version.empty()) out_ << ", Vulkan " << printable(device.api_version);
  out_ << '\n';
  if (const std::string timer = timer_line(info.timer); !timer.empty()) out_ << "timer   " << timer << '\n';
  if (!info.energy.empty()) out_ << "energy  " << printable(info.energy) << '\n';
  if (info.ceilings.measured()) out_ << "ceiling " << ceilings_line(info.ceilings) << '\n';
}

void Console::plan(std::span<const RowInfo> planned) {
  planned_ = planned.size();
  std::size_t perf = 0;
  for (const RowInfo& info : planned) perf += info.mode == "perf" ? 1 : 0;
  out_ << "cases   " << planned_;
  if (perf > 0) out_ << " (" << planned_ - perf << " accu, " << perf << " perf)";
  out_ << "\n\n";
  out_.flush();
  done_ = failed_ = 0;
  failed_of_kind_.clear();
  started_ = last_progress_ = options_.now_seconds();
  time_left_.plan(planned, started_);
}

void Console::begin(const RowInfo& info) {
  current_ = printable(info.id);
  progress(false);
}

void Console::block(const RowInfo& info, const Block& block) {
  current_ = printable(info.id);
  round_ = block.round + 1;
  time_left_.block(info, options_.now_seconds());
  progress(false);
}

void Console::record(const Record& record) {
  ++done_;
  time_left_.ended(record.info, options_.now_seconds());
  if (time_left_.taking_turns() == 0) round_ = 0;
  const bool bad = class_of(record.status) != StatusClass::Fine;
  failed_ += bad ? 1 : 0;
  if (record.status == Status::Missing && !options_.verbose) {
    clear_progress();  // it has no result to show: the totals count it and give the reason
  } else if (bad) {
    show_failure(record);
  } else if (options_.verbose) {
    clear_progress();
    out_ << painted(name_of(record.status), ink_of(record.status), options_.color) << "  "
         << printable(record.info.id) << "  " << fixed(record.total_ms, 1) << " ms";
    if (!record.reason.empty()) out_ << "  " << indented(printable(record.reason), 2);
    out_ << '\n';
  }
  progress(done_ == planned_);
}

/// Shows the first failure of each kind in full and some more in one line each; the rest is counted at the
/// end.
void Console::show_failure(const Record& record) {
  const std::size_t count = ++failed_of_kind_[record.info.op + "\n" + failure_of(record)->group];
  if (!options_.verbose && count > lines_of_kind) return;
  clear_progress();
  const std::string text = failure_text(record);
  const std::size_t head = text.find(' ');
  const bool is_new = count == 1 && failed_of_kind_.size() <= options_.full_failures;
  const bool in_full = options_.verbose || is_new;
  out_ << painted(text.substr(0, head), ink_of(record.status), options_.color)
       << (in_full ? text.substr(head) : text.substr(head, text.find('\n') + 1 - head));
  if (in_full) out_ << '\n';
  if (!options_.verbose && count == lines_of_kind)
    out_ << "Further failures of this kind are counted at the end (--verbose shows each in full).\n\n";
  out_.flush();
}

void Console::progress(bool now) {
  const double time = options_.now_seconds();
  const double interval = options_.is_terminal ? terminal_interval_s : plain_interval_s;
  if (time - last_progress_ < interval && !(now && options_.is_terminal)) return;
  last_progress_ = time;
  std::string line = std::to_string(done_) + "/" + std::to_string(planned_);
  if (failed_ > 0) line += "  " + std::to_string(failed_) + " failed";
  if (round_ > 0) {
    const std::size_t rows = time_left_.taking_turns();
    line +=
        fmt::format("  round {}, {}", round_, rows == 1 ? "1 row" : fmt::format("{} rows alternating", rows));
  }
  const std::optional<double> left = time_left_.seconds();
  if (left && time - started_ > 1) line += "  " + duration(*left) + " left";
  line += "  " + current_;
  if (options_.is_terminal) {
    // One column is left free: a full last column makes some terminals wrap.
    log_ << "\r\x1b[K" << shortened(line, options_.width > 1 ? options_.width - 1 : 1);
    progress_shown_ = true;
  } else {
    log_ << line << '\n';
  }
  log_.flush();
}

void Console::clear_progress() {
  if (!progress_shown_) return;
  log_ << "\r\x1b[K";
  log_.flush();
  progress_shown_ = false;
}

void Console::end() {
  clear_progress();
}

void Console::summary(const RunReport& report, const std::filesystem::path& directory) {
  clear_progress();
  if (!header_shown_) {  // the report was read back
    run(report.run);
    out_ << '\n';
  }
  if (const std::string table = perf_table(report, options_.color); !table.empty()) {
    out_ << painted("PERF", Ink::Bold, options_.color)
         << "  median with the half width of its interval; time relative to the group's first row; * fastest "
            "of its group"
         << (has_imprecise_time(report) ? "; imprecise: nothing should be decided from that time\n" : "\n")
         << table << '\n';
  }
  if (const std::string lines = comparison_lines(report, options_.color); !lines.empty()) {
    out_ << painted("COMPARISONS", Ink::Bold, options_.color)
         << "  ratio of times with its interval; the rows were sampled in the same rounds\n"
         << lines << '\n';
  }
  if (const std::string failures = failure_list(report, listed_groups, options_.color); !failures.empty()) {
    out_ << painted("FAILURES", Ink::Bold, options_.color)
         << "  by kind, with what they have in common; `assay show REPORT ID` shows one in full, "
            "docs/failures.md explains the words\n"
         << failures << '\n';
  }
  if (const std::string notes = rule_note_lines(report.run, options_.color); !notes.empty()) {
    out_ << painted("EXPECTATIONS", Ink::Bold, options_.color) << "  rules to review\n" << notes << '\n';
  }
  out_ << painted(cases(report.records.size()), Ink::Bold, options_.color);
  if (done_ > 0) out_ << " in " << duration(options_.now_seconds() - started_);
  out_ << '\n' << status_totals(report, options_.color);
  if (const std::string line = replay_line(report); !line.empty()) out_ << "replay  " << line << '\n';
  if (!report.complete) {
    out_ << painted("The run did not finish.", Ink::Magenta, options_.color)
         << (report.cut_off ? " The journal's last line was cut off." : "") << '\n';
  }
  if (const auto totals = time_totals(report)) out_ << "time    " << time_line(*totals) << '\n';
  if (!directory.empty()) out_ << "reports " << printable(directory.string()) << '\n';
  out_.flush();
}

}  // namespace assay
