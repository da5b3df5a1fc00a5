#include "harness/commands/tune/tune.h"

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/cases/expansion/load.h"
#include "harness/commands/loaded_cases.h"
#include "harness/commands/run/setup/device_session.h"
#include "harness/commands/tune/ranges.h"
#include "harness/commands/tune/search.h"
#include "harness/commands/tune/tuned_class.h"
#include "harness/commands/tune/tuning_points.h"
#include "harness/commands/tune/tuning_runs.h"
#include "harness/commands/tune/tuning_table.h"
#include "harness/commands/tuning_files.h"
#include "harness/device/driver_name.h"
#include "harness/engine/run/run_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <ostream>
#include <span>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

/// How many times as much each row samples when what was found is confirmed.
constexpr double confirming_times = 3;
/// How many candidates a run times. Where hundreds are wanted anyway, the start of a run should cost little.
constexpr std::size_t many = 256, few_of_a_batch = 12, many_of_a_batch = 64;
/// The most candidates of a class that are confirmed at each of its points.
constexpr std::size_t most_confirmed = 8;

std::string counted(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string ratio_text(const Ratio& ratio) {
  return fmt::format("{:.3f}x ({:.3f} .. {:.3f})", ratio.median, ratio.interval.low, ratio.interval.high);
}

RunOptions device_options(const TuneOptions& options) {
  RunOptions run;
  if (!options.device.empty()) run.devices = {options.device};
  return run;
}

/// The device's facts; it is not opened in this process.
DeviceInfo device_of(const TuneOptions& options) {
  RunDevices devices(device_options(options));
  if (devices.opened().size() != 1) throw Error("tuning: --device must choose one device");
  return devices.opened().front().info;
}

/// A search of hours must not end with a file that cannot be written. Makes the folder of the file.
void refuse_unwritable(const fs::path& file) {
  if (file.empty()) return;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  make_directories(folder);
  if (::access(folder.c_str(), W_OK) == 0 && !fs::is_directory(file)) return;
  throw Error(fmt::format("tuning: '{}' cannot be written; choose another file", file.string()),
              ExitCode::Infrastructure);
}

class Tuner {
 public:
  Tuner(const TuneOptions& options, const Context& context, const Terminal& terminal,
        const std::function<bool()>& stop_requested)
      : options_(options),
        context_(with_ops(context, options.cases.op_folders)),
        terminal_(terminal),
        stop_requested_(stop_requested),
        device_(device_of(options)),
        out_(options.out.empty() ? fs::path("tuning") / tuning_file_name(device_) : options.out),
        kept_(kept_entries()),
        runs_(options, context_, terminal, fs::path("assay-out") / "tune" / new_run_id()) {}

  ExitCode run() {
    refuse_unwritable(out_);
    refuse_unwritable(options_.csv);
    load();
    search();
    confirm();
    std::vector<TuningEntry> found = found_entries();
    if (const char* why = why_nothing_is_written(found)) {
      terminal_.out << "tune: " << why << "; no tuning file is written\n";
      return ExitCode::Failures;
    }
    write(std::move(found));
    return has_failed_ ? ExitCode::Failures : ExitCode::Fine;
  }

 private:
  bool is_stopped() const { return stop_requested_ && stop_requested_(); }

  /// The entries of a file that is there already.
  std::vector<TuningEntry> kept_entries() const {
    if (!fs::exists(out_)) return {};
    if (!options_.overwrite) {
      throw Error(
          fmt::format("tuning: '{}' exists; choose another --out, or give --overwrite, which replaces "
                      "the entries all of whose points are measured again",
                      out_.string()));
    }
    std::optional<DeviceTuning> before = tuning_for(out_.string(), device_, context_.registry);
    if (before->note.empty()) return std::move(before->tuning.entries);
    throw Error(
        fmt::format("tuning: '{}' was {}; remove it, or choose another --out", out_.string(), before->note));
  }

  void load() {
    CaseOptions cases = options_.cases;
    cases.mode = name_of(Mode::Perf);
    loaded_ = load_and_complain(cases, context_.registry, terminal_.errors);
    has_failed_ = !loaded_.errors.empty();
    const std::vector<const Case*> selected = selected_cases(cases, loaded_.cases);
    if (selected.empty()) throw_nothing_selected(cases, loaded_.cases);
    const DeviceCases here(selected, device_);
    std::size_t points = 0;
    for (TuningClass& group : tuning_classes(here.all(), device_)) {
      if (!has_searched_tunable(*group.impl)) continue;
      points += group.points.size();
      classes_.push_back({.group = std::move(group)});
    }
    if (points == 0) {
      throw Error(printable_line(fmt::format(
          "tuning: none of {} has an impl with {} that runs on {}, sets none itself and takes no data from "
          "files",
          counted(selected.size(), "timed case"),
          options_.tunables.empty() ? "tunables"
                                    : fmt::format("a tunable {}", fmt::join(options_.tunables, " or ")),
          device_.name)));
    }
    terminal_.log << printable(fmt::format("tune: {}, {} of {}, seed {}\n", device_.name,
                                           counted(points, "point"), counted(classes_.size(), "kind"),
                                           options_.seed));
    points_left_ = points;
  }

  bool has_searched_tunable(const Impl& impl) const {
    const auto is_searched = [&](const Tunable& tunable) {
      return options_.tunables.empty() ||
             std::ranges::find(options_.tunables, tunable.name) != options_.tunables.end();
    };
    return std::ranges::any_of(impl.tunables, is_searched);
  }

  void search() {
    for (TunedClass& one : classes_) {
      for (const TuningPoint& point : one.group.points) {
        if (is_stopped()) return;
        search_point(one, point);
        --points_left_;
      }
    }
  }

  double searched_s() const { return watch_.s() - lost_s_; }

  /// Searches at one point for its share of the time that is left.
  void search_point(TunedClass& one, const TuningPoint& point) {
    const TuningSpace space = tuning_space(point, device_, options_.tunables);
    const double begin_s = searched_s();
    const double end_s = begin_s + (options_.seconds - begin_s) / static_cast<double>(points_left_);
    SearchLimits limits{
        .most_candidates = 1'000'000,
        .exhaustive_up_to = options_.exhaustive_up_to,
        .candidates_of_a_batch = options_.exhaustive_up_to > many ? many_of_a_batch : few_of_a_batch,
        .seed = options_.seed};
    const auto is_over = [&] { return is_stopped() || (has_timed_ && searched_s() > end_s); };
    limits.must_stop = [&] { return is_over() || !problem_.empty() || is_point_over_; };
    problem_.clear();
    is_point_over_ = has_found_ = false;
    const SearchResult found = coordinate_search(
        space, limits,
        [&](std::span<const Candidate> batch) { return times_of(one, point, space, batch, is_over); },
        places_of(sound_candidates(one), space));
    if (!problem_.empty() && is_stopped()) return;  // it was not reached
    if (!problem_.empty() && !is_failure_ && point.is_also_hot) {
      lost_s_ += searched_s() - begin_s;
      // Few tensors are too small to be cold, and the hot point is another one.
      terminal_.log << printable_line(fmt::format("{} {}: not tuned: with the built-in defaults {}",
                                                  one.group.text(), place_text(point), problem_))
                    << std::endl;
      return;
    }
    if (!problem_.empty()) {
      terminal_.out << printable_line(fmt::format("{} {}: not tuned: with the built-in defaults {}",
                                                  one.group.text(), place_text(point), problem_))
                    << std::endl;
      has_failed_ = has_failed_ || is_failure_;
      return;
    }
    tell(one, point, space, found);
    // A point without a timed candidate says nothing, and one that was stopped less than an older entry.
    const bool is_searched = has_found_ || found.candidates == 0U;
    if (is_searched && !is_stopped()) one.searched.insert(point.at);
    if (!is_searched) ++unsearched_;
    const Tune best = tune_of(space, found.best);
    if (!best.empty() && std::ranges::find(one.candidates, best) == one.candidates.end())
      one.candidates.push_back(best);
  }

  /// The places of values that were best at other points.
  static std::vector<Candidate> places_of(std::span<const Tune> tunes, const TuningSpace& space) {
    std::vector<Candidate> places;
    for (const Tune& tune : tunes) places.push_back(candidate_of(space, tune));
    return places;
  }

  static std::vector<Tune> sound_candidates(const TunedClass& one) {
    std::vector<Tune> sound = one.candidates;
    std::erase_if(sound, [&](const Tune& tune) { return one.failed.contains(tune); });
    return sound;
  }

  /// Runs candidates, and those that did not fail once more if that gives nothing though there is time: what
  /// fails now and then, such as a worker that cannot start, should not cost hours of searching. Never throws
  /// Error.
  TriedTunes tried_twice(const TuningPoint& point, std::span<const Tune> tunes, double row_seconds,
                         const std::function<bool()>& must_stop) {
    TriedTunes tried = tried_once(point, tunes, row_seconds, must_stop);
    if ((!tried.is_failure && !tried.is_cut_short) || must_stop()) return tried;
    terminal_.log << printable_line(fmt::format(
                         "{} {}: {}; trying once more", point.base.op->name, place_text(point),
                         tried.is_cut_short ? "several candidates hung"
                                            : "with the built-in defaults " + tried.default_problem))
                  << std::endl;
    std::vector<Tune> rest;
    for (const TriedTune& each : tried.tried) {
      if (!is_failing(each)) rest.push_back(each.tune);
    }
    TriedTunes again = tried_once(point, rest, row_seconds, must_stop);
    for (TriedTune& each : tried.tried) {
      const auto found = std::ranges::find(again.tried, each.tune, &TriedTune::tune);
      if (found != again.tried.end()) each = std::move(*found);
    }
    again.tried = std::move(tried.tried);
    return again;
  }

  static bool is_failing(const TriedTune& tried) {
    const bool has_no_answer = tried.status == Status::Missing || tried.status == Status::Interrupted ||
                               tried.status == Status::Suspect;
    return !has_no_answer && class_of(tried.status) != StatusClass::Fine;
  }

  TriedTunes tried_once(const TuningPoint& point, std::span<const Tune> tunes, double row_seconds,
                        const std::function<bool()>& must_stop) try {
    return runs_.run(point, tunes, row_seconds, must_stop);
  } catch (const Error& error) {
    TriedTunes none{.default_problem = std::string("there is no time: ") + error.what(), .is_failure = true};
    for (const Tune& tune : tunes) none.tried.push_back({.tune = tune});
    return none;
  }

  /// Leaves out candidates that fail at the point from all of the class, and says so.
  void leave_out_failing(TunedClass& one, const TuningPoint& point, const TriedTunes& tried) {
    for (const TriedTune& each : tried.tried) {
      if (!is_failing(each) || !one.leave_out(each.tune)) continue;
      has_failed_ = true;
      terminal_.out << printable_line(fmt::format("{} {}: left out at all shapes: {} is {}{}",
                                                  one.group.text(), place_text(point),
                                                  candidate_text(each.tune), name_of(each.status),
                                                  each.reason.empty() ? "" : ": " + each.reason))
                    << std::endl;
    }
  }

  std::vector<std::optional<double>> times_of(TunedClass& one, const TuningPoint& point,
                                              const TuningSpace& space, std::span<const Candidate> batch,
                                              const std::function<bool()>& is_over) {
    std::vector<Tune> tunes;
    for (const Candidate& candidate : batch) tunes.push_back(tune_of(space, candidate));
    if (tunes.size() == 1 && tunes.front().empty()) return {1.0};  // the defaults, by which all are divided
    // The first batch of a point may take longer than its share: with nothing timed there is no result.
    const TriedTunes tried = tried_twice(point, tunes, options_.row_seconds,
                                         [&] { return has_found_ ? is_over() : is_stopped(); });
    if (has_found_ && !tried.default_problem.empty()) {
      is_point_over_ = true;  // what was found before counts
      note_lost_batch(one, point, tried, is_over());
    } else {
      problem_ = tried.default_problem;
      is_failure_ = tried.is_failure && !is_stopped();
      has_found_ = problem_.empty();
      has_timed_ = has_timed_ || has_found_;
    }
    leave_out_failing(one, point, tried);
    std::vector<std::optional<double>> times;
    for (const TriedTune& each : tried.tried) {
      times.push_back(each.ratio ? std::optional(each.ratio->median) : std::nullopt);
      ++statuses_[each.status];
    }
    note(one, point, tried);
    return times;
  }

  void note_lost_batch(const TunedClass& one, const TuningPoint& point, const TriedTunes& tried,
                       bool is_over) {
    if (is_over || is_stopped()) return;  // its time was up
    has_failed_ = has_failed_ || tried.is_failure;
    terminal_.out << printable_line(
                         fmt::format("{} {}: its search ended early: with the built-in defaults {}",
                                     one.group.text(), place_text(point), tried.default_problem))
                  << std::endl;
  }

  void note(const TunedClass& one, const TuningPoint& point, const TriedTunes& tried) {
    for (const TriedTune& each : tried.tried) {
      if (each.status == Status::Missing || each.status == Status::Interrupted) continue;
      table_.push_back({.kernel = one.group.text() + " " + place_text(point),
                        .tune = each.tune,
                        .status = each.status,
                        .ratio = each.ratio,
                        .time_us = each.time_us});
    }
    // Written after each run: a search that is killed loses nothing.
    if (!options_.csv.empty()) replace_file(options_.csv, tuning_table_csv(table_));
  }

  void tell(const TunedClass& one, const TuningPoint& point, const TuningSpace& space,
            const SearchResult& found) const {
    const std::string of = found.candidates ? fmt::format(" of {}", *found.candidates) : "";
    const std::string timed =
        fmt::format("{}{} timed, {}", found.tried.size() - 1, of, counted(found.restarts, "restart"));
    terminal_.log << printable_line(fmt::format("{} {}: {}; best {:.3f}x {}", one.group.text(),
                                                place_text(point), timed, found.best_time,
                                                candidate_text(tune_of(space, found.best))))
                  << std::endl;
  }

  /// Times what was best at any point of a class at all of its points, as another run would: the best of many
  /// measurements is not as good as it looks.
  void confirm() {
    const Stopwatch watch;
    const auto is_over = [&] { return is_stopped() || watch.s() > options_.seconds / 2; };
    for (TunedClass& one : classes_) {
      one.candidates = sound_candidates(one);
      if (one.candidates.size() > most_confirmed) one.candidates.resize(most_confirmed);
      if (one.candidates.empty()) continue;
      for (const TuningPoint& point : one.group.points) {
        if (is_over()) {
          ++unconfirmed_;
        } else {
          confirm_at(one, point, is_over);
        }
      }
    }
  }

  void confirm_at(TunedClass& one, const TuningPoint& point, const std::function<bool()>& is_over) {
    const TuningSpace space = tuning_space(point, device_, options_.tunables);
    std::vector<Tune> tunes;
    std::vector<std::size_t> numbers;
    const std::vector<Candidate> places = places_of(one.candidates, space);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!space.may_run(places[i])) continue;
      tunes.push_back(one.candidates[i]);
      numbers.push_back(i + 1);
    }
    const TriedTunes tried = tried_twice(point, tunes, confirming_times * options_.row_seconds,
                                         [&] { return has_confirmed_ ? is_over() : is_stopped(); });
    leave_out_failing(one, point, tried);
    if (!tried.default_problem.empty()) {
      ++unconfirmed_;
      note_lost_batch(one, point, tried, is_over());
      return;
    }
    has_confirmed_ = true;
    MeasuredShape shape{.at = point.at, .ratios = {}};
    for (std::size_t i = 0; i < tunes.size(); ++i) {
      if (!tried.tried[i].ratio) continue;
      shape.ratios[numbers[i]] = *tried.tried[i].ratio;
      terminal_.log << printable_line(fmt::format("confirmed {} {}: {} {}", one.group.text(),
                                                  place_text(point), ratio_text(*tried.tried[i].ratio),
                                                  candidate_text(tunes[i])))
                    << std::endl;
    }
    one.shapes.push_back(std::move(shape));
  }

  std::vector<TuningEntry> found_entries() const {
    std::vector<TuningEntry> found;
    for (const TunedClass& one : classes_) std::ranges::move(entries_of(one), std::back_inserter(found));
    return found;
  }

  /// A file says of the points without an entry that the defaults are the best there: it must not be written
  /// by a search that knows nothing of them. Null: it may be.
  const char* why_nothing_is_written(std::span<const TuningEntry> found) const {
    if (!found.empty()) return nullptr;
    if (is_stopped()) return "stopped before anything better was confirmed";
    const auto is_known = [](const TunedClass& one) {
      return std::ranges::any_of(one.group.points,
                                 [&](const TuningPoint& point) { return one.is_tuned_at(point); });
    };
    return std::ranges::any_of(classes_, is_known) ? nullptr : "no point was searched and confirmed";
  }

  void write(std::vector<TuningEntry> found) {
    Tuning tuning{.device = device_.name,
                  .driver = driver_of(device_),
                  .version = context_.build.version,
                  .entries = {}};
    const std::size_t before = kept_.size(), all_found = found.size();
    std::erase_if(kept_, [&](const TuningEntry& entry) { return is_replaced(entry, classes_); });
    for (TuningEntry& entry : found) {
      tell(entry);
      if (!gives_way(entry)) tuning.entries.push_back(std::move(entry));
    }
    const std::size_t written = tuning.entries.size();
    tuning.entries.insert(tuning.entries.end(), kept_.begin(), kept_.end());
    write_checked(heading() + tuning_yaml(tuning));
    if (before > 0) {
      terminal_.out << fmt::format("tune: of {} before, {} replaced and {} kept\n",
                                   before == 1 ? "1 entry" : fmt::format("{} entries", before),
                                   before - kept_.size(), kept_.size());
    }
    if (all_found == 0)
      terminal_.out << "tune: nothing clearly better than the built-in defaults was found\n";
    terminal_.out << printable_line(summary(written)) << '\n';
  }

  /// Whether a kept entry is about some of the same points, and others that were not measured again: both
  /// cannot be in one file.
  bool gives_way(const TuningEntry& entry) const {
    const auto older = std::ranges::find_if(kept_, [&](const TuningEntry& one) { return one.meets(entry); });
    if (older == kept_.end()) return false;
    terminal_.out
        << printable_line(fmt::format(
               "{} {}: left out, as it overlaps the entry of line {}, some of whose points were not "
               "measured again; tune all of its cases at once, or choose another --out",
               entry.op, entry.impl, older->line))
        << '\n';
    return true;
  }

  /// An older file stays as it is until the new one is known to be good.
  void write_checked(const std::string& text) const {
    const fs::path made = out_.string() + ".new";
    replace_file(made, text);
    check_named_tuning(made.string(), context_.registry);
    std::error_code error;
    fs::rename(made, out_, error);
    if (error) {
      throw Error(fmt::format("tuning: '{}' cannot be renamed to '{}': {}", made.string(), out_.string(),
                              error.message()),
                  ExitCode::Infrastructure);
    }
  }

  std::string heading() const {
    return printable_line(fmt::format("# Written by assay tune, seed {}, {:.0f} s: docs/tuning.md.",
                                      options_.seed, watch_.s())) +
           "\n";
  }

  void tell(const TuningEntry& entry) const {
    const Ratio ratio{
        .median = entry.ratio, .interval = {.low = entry.ratio_low, .high = entry.ratio_high}, .pairs = 0};
    terminal_.out << printable_line(fmt::format("{} {}: {} over {}, {}; a shape left out costs {:.1f} %",
                                                entry.op, entry.impl, ratio_text(ratio),
                                                counted(static_cast<std::size_t>(entry.shapes), "shape"),
                                                candidate_text(entry.tune), entry.left_out_pct.value_or(0)))
                  << '\n';
  }

  std::string summary(std::size_t found) const {
    std::vector<std::string> statuses;
    for (const auto& [status, count] : statuses_)
      statuses.push_back(fmt::format("{} {}", count, name_of(status)));
    return fmt::format(
        "tune: {} in {} ({}), candidates: {}{}{}{}",
        found == 1 ? "1 entry" : fmt::format("{} entries", found), out_.string(),
        fmt::format("{:.0f} s", watch_.s()), fmt::join(statuses, ", "),
        unsearched_ > 0 ? fmt::format("; {} not searched for lack of time", counted(unsearched_, "point"))
                        : "",
        unconfirmed_ > 0
            ? fmt::format("; {} not confirmed for lack of time, and left out", counted(unconfirmed_, "point"))
            : "",
        is_stopped() ? "; stopped" : "");
  }

  const TuneOptions& options_;
  const Context context_;
  const Terminal& terminal_;
  const std::function<bool()>& stop_requested_;
  DeviceInfo device_;
  fs::path out_;
  std::vector<TuningEntry> kept_;
  TuningRuns runs_;
  Stopwatch watch_;
  double lost_s_ = 0;  ///< with points that cannot be cold, of which no budget is taken
  LoadResult loaded_;
  std::deque<TunedClass> classes_;
  std::size_t points_left_ = 0;
  std::string problem_;         ///< why the current point has no time with the defaults
  bool has_timed_ = false;      ///< some candidates: the shortest budget is enough for them
  bool is_failure_ = false;     ///< that is a failure
  bool has_found_ = false;      ///< candidates of the current point have times
  bool is_point_over_ = false;  ///< a batch of the current point was lost
  bool has_confirmed_ = false;
  std::map<Status, std::size_t> statuses_;
  std::vector<TableRow> table_;
  std::size_t unsearched_ = 0, unconfirmed_ = 0;
  bool has_failed_ = false;
};

}  // namespace

ExitCode tune(const TuneOptions& options, const Context& context, const Terminal& terminal,
              const std::function<bool()>& stop_requested) {
  if (!options.table.empty()) {
    const std::vector<ComparedSearches> compared = compare_searches(read_tuning_table(options.table));
    if (!options.csv.empty()) write_named_file(options.csv, csv_of(compared));
    terminal.out << text_of(compared);
    return ExitCode::Fine;
  }
  return Tuner(options, context, terminal, stop_requested).run();
}

}  // namespace assay::app
