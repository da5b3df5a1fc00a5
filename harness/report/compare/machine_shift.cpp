#include "harness/report/compare/machine_shift.h"

#include "harness/base/names.h"
#include "harness/base/statistics.h"
#include "harness/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace assay {
namespace {

struct Rate {
  std::string_view what;
  std::function<double(const Ceilings&)> value;
  std::string_view unit;
  bool is_ceiling = true;
};

double far_copy(const Ceilings& ceilings) {
  return ceilings.bandwidth.empty() ? 0 : ceilings.bandwidth.back().copy_gbps;
}

std::array<Rate, 7> rates() {
  return {{
      {"ceiling bandwidth", far_copy, " GB/s"},
      {"ceiling fp32", [](const Ceilings& c) { return c.fp32_gops; }, " GOP/s"},
      {"ceiling fp16", [](const Ceilings& c) { return c.fp16_gops; }, " GOP/s"},
      {"ceiling dot4x8", [](const Ceilings& c) { return c.dot4x8_gops; }, " GOP/s"},
      {"ceiling coop_int8", [](const Ceilings& c) { return c.coop_int8_gops; }, " GOP/s"},
      {"ceiling coop_fp16", [](const Ceilings& c) { return c.coop_fp16_gops; }, " GOP/s"},
      {"dispatch spacing", [](const Ceilings& c) { return c.dispatch_us; }, " us", false},
  }};
}

std::string rate_text(double value, std::string_view unit) {
  if (!(value > 0)) return "not measured";
  return readable(value, 4) + std::string(unit);
}

/// The median over the runs that measured it; 0: none did.
double median_rate(const Rate& rate, std::span<const Ceilings* const> runs) {
  std::vector<double> values;
  for (const Ceilings* ceilings : runs) {
    if (const double value = rate.value(*ceilings); value > 0) values.push_back(value);
  }
  return values.empty() ? 0 : median(std::move(values));
}

constexpr Names<3> evidence_names{"none", "measured", "suspected"};

bool is_trusted(const RowSide& side) {
  return side.status == Status::Pass && side.suspect.empty() && side.conflict.empty() && side.has_time() &&
         side.block_us.size() >= fewest_blocks && side.clocks.size() == 1;
}

/// Whether a difference of the row can only come from the machine.
bool is_unchanged(const RowSide& base, const RowSide& next) {
  return is_trusted(base) && is_trusted(next) && base.clocks == next.clocks && is_same_program(base, next) &&
         task_difference(base, next).empty();
}

/// Journals are untrusted: a ratio may be infinite.
bool has_probe(const RowSide& side) {
  return side.clock_ratio > 0 && std::isfinite(side.clock_ratio);
}

/// Logarithms of new / base; of times, and by how much slower the clock probe says the device's clock was.
struct LogRatios {
  std::vector<double> times;
  std::vector<double> clocks;  ///< only of rows with a clock probe on both sides

  void add(const RowSide& base, const RowSide& next) {
    times.push_back(std::log(next.time_us / base.time_us));
    if (has_probe(base) && has_probe(next)) clocks.push_back(std::log(base.clock_ratio / next.clock_ratio));
  }
};

LogRatios unchanged_rows_of(const MachineEvidence& evidence) {
  LogRatios ratios;
  for (const auto& [base, next] : evidence.rows) {
    if (is_unchanged(*base, *next)) ratios.add(*base, *next);
  }
  return ratios;
}

/// How many unchanged rows on either side are left out of the width: 2.5 %, from eight rows on at least one,
/// as a single row that scatters would hide every change of the others.
std::size_t rows_left_out(std::size_t rows) {
  constexpr std::size_t fewest = 8;
  return rows < fewest ? 0 : std::max<std::size_t>(1, rows / 40);
}

/// The median of logarithms: 2x slower and 2x faster cancel.
void estimate(MachineShift& shift, LogRatios ratios, double least_pct) {
  std::vector<double>& logs = ratios.times;
  std::ranges::sort(logs);
  const std::size_t trimmed = rows_left_out(logs.size());
  shift.ratio = std::exp(median(logs));
  shift.low = std::exp(logs[trimmed]);
  shift.high = std::exp(logs[logs.size() - 1 - trimmed]);
  if (!ratios.clocks.empty()) shift.clock_ratio = std::exp(median(ratios.clocks));
  const MedianInterval interval = median_interval(logs);
  const bool is_clear = interval.low > 0 || interval.high < 0;
  if (is_clear && shift.pct() > least_pct) shift.evidence = ShiftEvidence::Measured;
}

std::vector<const Ceilings*> measured_ceilings(const std::vector<const RunInfo*>& runs) {
  std::vector<const Ceilings*> ceilings;
  for (const RunInfo* run : runs) {
    if (run->ceilings.measured()) ceilings.push_back(&run->ceilings);
  }
  return ceilings;
}

/// The ceilings that moved. Other kernels reach other ceilings, which say nothing about the machine.
std::vector<CeilingChange> moved_ceilings(const MachineEvidence& evidence) {
  const auto before = measured_ceilings(evidence.base), now = measured_ceilings(evidence.next);
  std::vector<CeilingChange> moved;
  if (before.empty() || now.empty()) return moved;
  const auto has_other_kernels = [&](const Ceilings* c) { return c->kernels != before.front()->kernels; };
  if (std::ranges::any_of(before, has_other_kernels) || std::ranges::any_of(now, has_other_kernels))
    return moved;
  for (CeilingChange& change : ceiling_changes(before, now, moved_pct / 100)) {
    if (change.time_ratio > 0) moved.push_back(std::move(change));
  }
  return moved;
}

/// The clock probe's change. One program draws more power than another, and its clock is lower for that: a
/// few rows say nothing about the machine.
std::optional<CeilingChange> moved_clock(const MachineEvidence& evidence) {
  std::vector<double> before, now, logs;
  for (const auto& [base, next] : evidence.rows) {
    if (!has_probe(*base) || !has_probe(*next)) continue;
    before.push_back(base->clock_ratio);
    now.push_back(next->clock_ratio);
    logs.push_back(std::log(base->clock_ratio / next->clock_ratio));
  }
  if (logs.size() < fewest_unchanged_rows) return std::nullopt;
  const double ratio = std::exp(median(logs));
  if (100 * (std::max(ratio, 1 / ratio) - 1) <= moved_pct) return std::nullopt;
  const auto shown = [](const std::vector<double>& ratios) { return fixed(median(ratios), 3) + " of full"; };
  return CeilingChange{"clock probe", shown(before), shown(now), 100 * (1 / ratio - 1), ratio};
}

void suspect(MachineShift& shift, const MachineEvidence& evidence) {
  shift.moved = moved_ceilings(evidence);
  if (auto clock = moved_clock(evidence)) shift.moved.push_back(std::move(*clock));
  if (shift.moved.empty()) return;
  shift.evidence = ShiftEvidence::Suspected;
  const auto size = [](const CeilingChange& change) { return std::fabs(std::log(change.time_ratio)); };
  shift.ratio = shift.low = shift.high = std::ranges::max_element(shift.moved, {}, size)->time_ratio;
}

std::string rows_counted(std::size_t rows) {
  return fmt::format("{} unchanged row{}", rows, rows == 1 ? "" : "s");
}

std::string measured_text(const MachineShift& shift) {
  const bool slower = shift.ratio > 1;
  const double low = slower ? shift.low : 1 / shift.high, high = slower ? shift.high : 1 / shift.low;
  return fmt::format("{} ({} to {})", shift_brief(shift), times_text(low), times_text(high));
}

std::string suspected_text(const MachineShift& shift) {
  std::string moved;
  for (const CeilingChange& change : shift.moved) {
    moved += fmt::format("{}{} {} -> {} ({:+.1f} %)", moved.empty() ? "" : ", ", change.what, change.before,
                         change.now, change.percent);
  }
  const std::string rows = shift.unchanged_rows == 0
                               ? std::string("no unchanged rows")
                               : fmt::format("{} of the {} that are needed",
                                             rows_counted(shift.unchanged_rows), fewest_unchanged_rows);
  return fmt::format("{}: {}, but {}", shift_brief(shift), rows, moved);
}

}  // namespace

std::vector<CeilingChange> ceiling_changes(const Ceilings& before, const Ceilings& now, double share) {
  const Ceilings *const one = &before, *const other = &now;
  return ceiling_changes({&one, 1}, {&other, 1}, share);
}

std::vector<CeilingChange> ceiling_changes(std::span<const Ceilings* const> before,
                                           std::span<const Ceilings* const> now, double share) {
  std::vector<CeilingChange> changes;
  for (const Rate& rate : rates()) {
    const double was = median_rate(rate, before), is = median_rate(rate, now);
    if (std::abs(was - is) <= share * std::max(was, is)) continue;
    const bool has_both = was > 0 && is > 0;
    changes.push_back({std::string(rate.what), rate_text(was, rate.unit), rate_text(is, rate.unit),
                       has_both ? 100 * (is / was - 1) : 0, has_both && rate.is_ceiling ? was / is : 0});
  }
  return changes;
}

std::string_view name_of(ShiftEvidence evidence) {
  return name_in(evidence_names, evidence);
}

double MachineShift::pct() const {
  return 100 * (std::max(ratio, 1 / ratio) - 1);
}

double MachineShift::width_pct() const {
  return 100 * (std::max(high / ratio, ratio / low) - 1);
}

bool MachineShift::is_finding() const {
  return evidence != ShiftEvidence::None && pct() > shift_finding_pct;
}

MachineShift machine_shift(const MachineEvidence& evidence, double least_pct) {
  MachineShift shift;
  LogRatios ratios = unchanged_rows_of(evidence);
  shift.unchanged_rows = ratios.times.size();
  if (shift.unchanged_rows >= fewest_unchanged_rows) {
    estimate(shift, std::move(ratios), least_pct);
  } else {
    suspect(shift, evidence);
  }
  return shift;
}

std::string shift_text(const MachineShift& shift) {
  if (shift.evidence == ShiftEvidence::None) return "";
  const bool is_measured = shift.evidence == ShiftEvidence::Measured;
  return (is_measured ? measured_text(shift) : suspected_text(shift)) +
         (shift.is_ignored ? "; times are judged as measured, as asked" : "");
}

std::string shift_brief(const MachineShift& shift) {
  if (shift.evidence == ShiftEvidence::None) return "";
  if (shift.evidence == ShiftEvidence::Suspected)
    return "the machine may have been " + times_slower(shift.ratio);
  return fmt::format("the machine was {}: {}", times_slower(shift.ratio), rows_counted(shift.unchanged_rows));
}

std::string times_text(double ratio) {
  return fixed(ratio, ratio < 10 ? 2 : 1) + "x";
}

std::string times_slower(double ratio) {
  return times_text(std::max(ratio, 1 / ratio)) + (ratio < 1 ? " faster" : " slower");
}

}  // namespace assay
