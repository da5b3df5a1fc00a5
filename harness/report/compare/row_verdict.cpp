#include "harness/report/compare/row_verdict.h"

#include "harness/base/text.h"
#include "harness/report/compare/machine_shift.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace assay {
namespace {

constexpr int time_digits = 5;

std::string number(double us) {
  return readable(us, time_digits);
}

std::string us(double value) {
  return number(value) + " us";
}

std::string pct(double value) {
  return fixed(value, std::fabs(value) < 10 ? 2 : 1) + " %";
}

std::string range(const RowSide& side) {
  return number(side.lowest_us()) + " to " + us(side.highest_us());
}

std::string ending(const RowSide& side) {
  return std::string(name_of(side.status)) + (side.reason.empty() ? "" : " (" + side.reason + ")");
}

std::string changed(const char* what, const std::string& before, const std::string& after) {
  if (before == after) return "";
  return fmt::format("; {} {} before, {} now", what, before.empty() ? "none" : before,
                     after.empty() ? "none" : after);
}

std::string listed(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& item : list) text += (text.empty() ? "" : ", ") + (item.empty() ? "unknown" : item);
  return text;
}

/// An unexpected pass is right too, as the expectations are wrong.
bool is_right(Status status) {
  return class_of(status) == StatusClass::Fine || status == Status::UnexpectedPass;
}

/// Judges one row, condition by condition, until one decides. Methods named decide_if_* are conditions and
/// return true if they decided.
class Judge {
 public:
  Judge(RowVerdict& verdict, const CompareOptions& options, const MachineShift* machine)
      : j_(verdict), options_(options), machine_(machine) {}

  void run() {
    if (decide_if_alone()) return;
    figures();
    if (decide_if_another_task() || decide_if_broken()) return;
    const std::string drift = drift_of();
    if (j_.info.mode != "perf") return accuracy(drift);
    speed();
    if (drift.empty() || j_.verdict == Verdict::Slower || j_.verdict == Verdict::Suspect) return;
    decide(Verdict::Drifted, drift + "; " + j_.reason);
  }

 private:
  const RowSide& base() const { return *j_.base; }
  const RowSide& next() const { return *j_.next; }

  void note(const char* name, std::string finding) {
    if (options_.keep_conditions) j_.conditions.push_back({name, std::move(finding)});
  }

  bool decide(std::optional<Verdict> verdict, std::string reason, const char* brief = "") {
    j_.verdict = verdict;
    j_.reason = std::move(reason);
    j_.brief = brief;
    return true;
  }

  bool decide_if_alone() {
    const bool before = j_.base && base().has_result(), now = j_.next && next().has_result();
    const auto of = [](const std::optional<RowSide>& side) {
      return side ? ending(*side) : std::string("no such row");
    };
    note("result", fmt::format("base: {}; new: {}", of(j_.base), of(j_.next)));
    if (before && now) return false;
    if (!before && !now)
      return decide({}, fmt::format("no result on either side: {}, {}", of(j_.base), of(j_.next)));
    if (before && j_.next && next().status == Status::ExpectedFail)  // known by a rule: no change to look at
      return decide({}, fmt::format("a known failure: {} before, {} now", ending(base()), ending(next())));
    if (now) return decide(Verdict::New, fmt::format("new: {}; base: {}", of(j_.next), of(j_.base)));
    return decide(Verdict::Gone, fmt::format("base: {}; new: {}", of(j_.base), of(j_.next)));
  }

  bool decide_if_another_task() {
    for (const RowSide* side : {&base(), &next()}) {
      if (side->conflict.empty()) continue;
      note("same task", "no");
      return refuse("the runs of one side have different tasks under this id: " + side->conflict);
    }
    const std::string difference = task_difference(base(), next());
    note("same task", difference.empty() ? "yes" : "no");
    if (difference.empty()) return false;
    return refuse("not comparable: the case was changed but kept its id, " + difference);
  }

  bool refuse(std::string reason) {
    j_.ratio = j_.peak_ratio = j_.effect_pct = 0;
    return decide(Verdict::Ambiguous, std::move(reason));
  }

  bool decide_if_broken() {
    const bool right = is_right(base().status), right_now = is_right(next().status);
    const std::string both = fmt::format("{} before, {} now", ending(base()), ending(next()));
    note("status", both);
    if (right && right_now) return false;
    if (base().status == Status::Suspect || next().status == Status::Suspect) {
      if (j_.info.mode == "perf" && base().has_time() && next().has_time()) return false;
      return decide(Verdict::Suspect, both);
    }
    if (right) return decide(Verdict::Broken, both);
    if (right_now) return decide(Verdict::New, "right again: " + both);
    return decide({}, "no result on either side: " + both);
  }

  std::string drift_of() {
    if (options_.cross_device) return "";
    const double before = base().err_over_bound, now = next().err_over_bound;
    note("accuracy",
         fmt::format("error/bound {} before, {} now", significant(before, 4), significant(now, 4)));
    if (!(now - before > drift_limit)) return "";
    return fmt::format("error/bound is {}, and was {} before", significant(now, 4), significant(before, 4));
  }

  void accuracy(const std::string& drift) { decide(drift.empty() ? Verdict::Same : Verdict::Drifted, drift); }

  static double effect_of(double ratio) { return 100 * (std::max(ratio, 1 / ratio) - 1); }

  // Computed before anything is judged, as rows that are not judged show their times too.
  void figures() {
    if (!base().has_time() || !next().has_time()) return;
    j_.ratio = next().time_us / base().time_us;
    j_.effect_pct = effect_of(j_.ratio);
    if (base().pct_peak > 0 && next().pct_peak > 0) j_.peak_ratio = next().pct_peak / base().pct_peak;
  }

  void speed() {
    if (decide_if_untimed() || decide_if_tuned_differently() || decide_if_suspect() ||
        decide_if_two_devices() || decide_if_too_few_blocks())
      return;
    j_.is_same_program = is_same_program(base(), next());
    take_out_shift();
    const bool counts = measure();
    note_run_noise();
    if (counts && (decide_if_another_clock() || decide_if_same_program())) return;
    if (decide_if_machine_is_doubtful()) return;
    conclude(counts);
  }

  bool decide_if_untimed() {
    if (base().has_time() && next().has_time()) return false;
    note("time", fmt::format("base: {}; new: {}", base().has_time() ? "measured" : "none",
                             next().has_time() ? "measured" : "none"));
    return decide(Verdict::Ambiguous,
                  fmt::format("the {} has no samples", base().has_time() ? "new side" : "base"));
  }

  static std::string none_if_empty(const std::vector<std::string>& tunes) {
    std::string text;
    for (const std::string& tune : tunes)
      text += (text.empty() ? "" : " and ") + (tune.empty() ? "none" : tune);
    return text;
  }

  static bool are_the_same(const std::vector<std::string>& before, const std::vector<std::string>& now) {
    return before == now && before.size() == 1;
  }

  /// Another size of workgroup or tile is another program by intent: its time is no change of this one,
  /// unless what a tuning file says of it is to be judged like a commit.
  bool decide_if_tuned_differently() {
    if (are_the_same(base().tunables, next().tunables)) return false;
    const std::string tunes =
        fmt::format("{} before, {} now", none_if_empty(base().tunables), none_if_empty(next().tunables));
    if (options_.allow_tuning && are_the_same(base().tunes, next().tunes)) {
      note("same tunables", tunes + ": judged anyway, as asked (--allow-tuning)");
      return false;
    }
    note("same tunables", tunes);
    return refuse("not compared: tunables " + tunes);
  }

  bool decide_if_suspect() {
    const auto suspect = [&](std::string why) {
      note("trust", why);
      return decide(Verdict::Suspect, std::move(why));
    };
    if (!base().suspect.empty()) return suspect("base: " + base().suspect);
    if (!next().suspect.empty()) return suspect("new: " + next().suspect);
    if (base().clocks != next().clocks || base().clocks.size() != 1) {
      return suspect(fmt::format("the times come from different clocks: {} before, {} now",
                                 listed(base().clocks), listed(next().clocks)));
    }
    note("trust", "no reason to doubt the times of either side");
    return false;
  }

  bool decide_if_two_devices() {
    if (!options_.cross_device) return false;
    note("same device", "no: speed is judged only on one device");
    const bool has_blocks = std::min(base().block_us.size(), next().block_us.size()) >= fewest_blocks;
    j_.is_significant =
        has_blocks && is_separated() && j_.effect_pct > std::max(floor_pct(), between_runs_pct());
    std::string reason = us(base().time_us) + " and " + us(next().time_us);
    if (j_.peak_ratio > 0) {
      reason += fmt::format(", {} and {} of the ceilings of the two devices", pct(base().pct_peak),
                            pct(next().pct_peak));
    }
    return decide({}, std::move(reason));
  }

  bool decide_if_too_few_blocks() {
    const std::size_t before = base().block_us.size(), now = next().block_us.size();
    const std::string finding =
        fmt::format("{} before, {} now; each side needs {}", before, now, fewest_blocks);
    note("blocks", finding);
    if (std::min(before, now) >= fewest_blocks) return false;
    return decide(Verdict::Ambiguous, "too few blocks: " + finding, "too few blocks");
  }

  bool has_machine(ShiftEvidence evidence) const {
    return machine_ && machine_->evidence == evidence && !j_.is_same_program;
  }

  /// Judges the row by what its time would be on the machine as it was before. Rows of the same program are
  /// judged as measured: they are the estimate.
  void take_out_shift() {
    if (!has_machine(ShiftEvidence::Measured)) return;
    shift_ = machine_->ratio;
    clock_shift_ = machine_->clock_ratio;
    width_pct_ = machine_->width_pct();
    const double half_pct = std::hypot(base().ci_pct, next().ci_pct, width_pct_);
    j_.machine_ratio = shift_;
    j_.net_ratio = j_.ratio / shift_;
    j_.net_low = j_.net_ratio / (1 + half_pct / 100);
    j_.net_high = j_.net_ratio * (1 + half_pct / 100);
    j_.effect_pct = effect_of(j_.net_ratio);
    note("machine", fmt::format("{}; without that the row is {} ({} to {})", shift_text(*machine_),
                                times_slower(j_.net_ratio), times_text(j_.net_low), times_text(j_.net_high)));
  }

  bool is_shifted() const { return j_.machine_ratio > 0; }

  /// New time / base time on one machine.
  double net() const { return j_.ratio / shift_; }

  bool is_separated() const { return is_separated(shift_); }
  bool is_separated(double shift) const {
    return next().lowest_us() / shift > base().highest_us() ||
           next().highest_us() / shift < base().lowest_us();
  }

  /// With several runs per side, the spread of their blocks shows the noise between runs.
  double between_runs_pct() const {
    return std::min(base().runs.size(), next().runs.size()) > 1 ? 0 : options_.between_runs_pct;
  }

  double floor_pct() const {
    return std::max({options_.smallest_effect_pct, base().timer_pct, next().timer_pct});
  }

  /// The effect that the row needs because of its own runs; needed_pct() adds the noise between runs, and how
  /// far single rows are from the machine's shift.
  double own_needed_pct() const {
    return std::max({floor_pct(), scatter_pct(base()), scatter_pct(next(), shift_)});
  }
  double needed_pct() const { return with_shift(std::max(own_needed_pct(), between_runs_pct())); }

  /// Adds an independent uncertainty.
  double with_shift(double percent) const { return std::hypot(percent, width_pct_); }

  /// A side's spread as a share of the shorter of the two times, like the effect. Relative to its own time, a
  /// side with a slow mode would need less than the mode makes it differ.
  double scatter_pct(const RowSide& side, double shift = 1) const {
    return 100 * (side.highest_us() - side.lowest_us()) / shift /
           std::min(base().time_us, next().time_us / shift_);
  }

  /// Whether the difference counts: the blocks separate completely, and by more than the row needs.
  bool measure() {
    j_.chance = chance_of_separation(base().block_us.size(), next().block_us.size());
    j_.needed_pct = needed_pct();
    j_.between_runs_pct = between_runs_pct();
    const bool separated = is_separated();
    note("separation", fmt::format("blocks {} before, {} now: {}", range(base()), range(next()),
                                   separated ? "completely separated" : "they overlap"));
    note("effect",
         fmt::format("{}; more than {} is needed, the largest of: minimum {}, between runs {}, "
                     "timer {}, spread {} before and {} now{}",
                     pct(j_.effect_pct), pct(j_.needed_pct), pct(options_.smallest_effect_pct),
                     pct(between_runs_pct()), pct(std::max(base().timer_pct, next().timer_pct)),
                     pct(scatter_pct(base())), pct(scatter_pct(next(), shift_)),
                     width_pct_ > 0 ? "; with " + pct(width_pct_) + " of the machine's shift" : ""));
    j_.is_significant = separated && j_.effect_pct > j_.needed_pct;
    return j_.is_significant;
  }

  /// A shift that all rows share is none of the noise between two runs.
  void note_run_noise() {
    if (!j_.is_same_program) return;
    const bool has_shift = machine_ && machine_->evidence == ShiftEvidence::Measured;
    const double shift = has_shift ? machine_->ratio : 1;
    const double effect_pct = effect_of(j_.ratio / shift);
    const bool stands_out = is_separated(shift) && effect_pct > own_needed_pct() && !clock_explains();
    if (stands_out) j_.run_noise_pct = effect_pct;
  }

  std::string difference() const {
    const std::string times = us(base().time_us) + " -> " + us(next().time_us);
    const std::string effect = pct(j_.effect_pct) + (net() > 1 ? " slower" : " faster");
    if (!is_shifted()) return times + ", " + effect;
    return fmt::format("{}, {}: {} ({} to {}) apart from the machine, which was {}", times,
                       times_slower(j_.ratio), effect, times_text(j_.net_low), times_text(j_.net_high),
                       times_slower(shift_));
  }

  /// The blocks now, on the machine as it was before.
  std::string range_now() const {
    if (!is_shifted()) return range(next());
    return fmt::format("{} to {} apart from the machine", number(next().lowest_us() / shift_),
                       us(next().highest_us() / shift_));
  }

  /// Whether the clock probes may explain the whole difference that is left without the machine's shift. The
  /// clock's part in that shift is what the unchanged rows' probes show.
  bool clock_explains() const {
    const double before = base().clock_ratio, now = next().clock_ratio;
    if (!(before > 0) || !(now > 0)) return false;
    // How much slower the device was on the side that took longer.
    const double slower = net() > 1 ? before / now / clock_shift_ : now / before * clock_shift_;
    return slower > clock_limit && 1 + j_.effect_pct / 100 <= clock_explained_times * slower;
  }

  bool decide_if_another_clock() {
    const double before = base().clock_ratio, now = next().clock_ratio;
    if (!(before > 0) || !(now > 0)) {
      note("clock", "no clock probe ran on both sides");
      return false;
    }
    const bool explains = clock_explains();
    const std::string finding =
        fmt::format("by the clock probe the device ran at {} of its full clock before, at {} now",
                    fixed(before, 3), fixed(now, 3));
    note("clock", finding + (explains ? ": that may be the whole difference" : ""));
    return explains &&
           decide(Verdict::Environment, difference() + ", but " + finding, "the device itself was slower");
  }

  bool decide_if_same_program() {
    const bool same = j_.is_same_program;
    note("same program", fmt::format("{} before, {} now: {}{}", listed(base().programs),
                                     listed(next().programs), same ? "the same" : "not known to be the same",
                                     base().drivers == next().drivers ? "" : ", with a different driver"));
    if (!same) return false;
    if (options_.judge_same_programs) {
      note("same program", "judged anyway, as asked (--judge-same-programs)");
      return false;
    }
    return decide(Verdict::Environment,
                  difference() +
                      ", but the device ran the same program with the same driver: the difference comes from "
                      "its environment (clocks, load, memory)",
                  "the same program");
  }

  std::string circumstances() const {
    return changed("driver", listed(base().drivers), listed(next().drivers)) +
           changed("shaders", base().info->shaders.value_or("embedded"),
                   next().info->shaders.value_or("embedded")) +
           changed("tuning file", none_if_empty(base().tunings), none_if_empty(next().tunings));
  }

  /// Whether the runs' own blocks show a difference that is within run noise, of programs not known to be
  /// equal.
  bool is_less_than_runs_differ_by() const {
    return is_separated() && j_.effect_pct > own_needed_pct() &&
           j_.effect_pct <= with_shift(between_runs_pct()) && !j_.is_same_program;
  }

  bool decide_if_machine_is_doubtful() {
    if (!has_machine(ShiftEvidence::Suspected)) return false;
    note("machine", shift_text(*machine_));
    return decide(Verdict::Ambiguous,
                  difference() + ", but " + shift_text(*machine_) +
                      ": whether the program or the machine changed is unknown",
                  "the machine may have changed");
  }

  bool is_small() const {
    if (j_.effect_pct <= floor_pct()) return true;
    if (j_.is_same_program && j_.effect_pct <= between_runs_pct()) return true;
    return !is_separated() && j_.effect_pct <= j_.needed_pct;
  }

  void conclude(bool counts) {
    const bool separated = is_separated();
    const std::string needed = pct(j_.needed_pct);
    if (counts) {
      decide(net() > 1 ? Verdict::Slower : Verdict::Faster,
             fmt::format("{}: all blocks now ({}) are {} all blocks before ({}), by more than the {} that "
                         "this row needs{}",
                         difference(), range_now(), net() > 1 ? "above" : "below", range(base()), needed,
                         circumstances()));
    } else if (is_less_than_runs_differ_by()) {
      decide(Verdict::Ambiguous,
             fmt::format("{}: the blocks are completely separated, but by no more than the {} by which two "
                         "runs of one program may differ; run several times per side",
                         difference(), needed),
             "within run noise");
    } else if (is_small()) {
      if (j_.needed_pct > std::max(coarsest_pct, options_.smallest_effect_pct)) {
        decide(Verdict::Ambiguous,
               fmt::format("{}: too noisy, only a difference above {} would show", difference(), needed),
               "too noisy");
      } else {
        decide(Verdict::Same, fmt::format("{}: no difference above {}", difference(), needed));
      }
    } else if (separated) {
      decide(Verdict::Ambiguous,
             fmt::format("{}: the blocks are completely separated, but by less than the {} by which they "
                         "scatter on one side",
                         difference(), needed),
             "less than the scatter");
    } else {
      decide(
          Verdict::Ambiguous,
          fmt::format("{}: more than the {} that this row needs, but the blocks overlap ({} before, {} now)",
                      difference(), needed, range(base()), range_now()),
          "blocks overlap");
    }
  }

  RowVerdict& j_;
  const CompareOptions& options_;
  const MachineShift* machine_;
  double shift_ = 1;        ///< the part of the ratio that is the machine's
  double clock_shift_ = 1;  ///< the clock's part in that
  double width_pct_ = 0;    ///< how far single rows are from it
};

}  // namespace

RowVerdict row_verdict(std::optional<RowSide> base, std::optional<RowSide> next,
                       const CompareOptions& options, const MachineShift* machine) {
  RowVerdict made;
  made.info = next ? *next->info : *base->info;
  made.base = std::move(base);
  made.next = std::move(next);
  Judge(made, options, machine).run();
  for (std::optional<RowSide>* side : {&made.base, &made.next}) {
    if (*side) (*side)->info.reset();
  }
  return made;
}

double chance_of_separation(std::size_t base_blocks, std::size_t next_blocks) {
  double chance = 2;
  for (std::size_t i = 1; i <= base_blocks; ++i)
    chance *= static_cast<double>(i) / static_cast<double>(next_blocks + i);
  return std::min(chance, 1.0);
}

}  // namespace assay
