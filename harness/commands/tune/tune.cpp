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
#include "harness/engine/run/run_info.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <ostream>
#include <set>
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

std::string driver_text(const DeviceInfo& device) {
  return device.driver_name + (device.driver_info.empty() ? "" : " ") + device.driver_info;
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
    if (is_stopped() &&
        std::ranges::all_of(classes_, [](const TunedClass& one) { return one.shapes.empty(); })) {
      terminal_.out << "tune: stopped before anything was confirmed; no tuning file is written\n";
    } else {
      write();
    }
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
                      "the entries of the ops and impls that are tuned now",
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
      for (TuningPoint& point : one.group.points) {
        if (is_stopped()) return;
        search_point(one, point);
        --points_left_;
      }
    }
  }

  double searched_s() const { return watch_.s() - lost_s_; }

  /// Searches at one point for its share of the time that is left.
  void search_point(TunedClass& one, TuningPoint& point) {
    const TuningSpace space = tuning_space(point, device_, options_.tunables);
    const double begin_s = searched_s();
    const double end_s = begin_s + (options_.seconds - begin_s) / static_cast<double>(points_left_);
    SearchLimits limits{
        .most_candidates = 1'000'000,
        .exhaustive_up_to = options_.exhaustive_up_to,
        .candidates_of_a_batch = options_.exhaustive_up_to > many ? many_of_a_batch : few_of_a_batch,
        .seed = options_.seed};
    limits.must_stop = [&] {
      return is_stopped() || !problem_.empty() || (has_timed_ && searched_s() > end_s);
    };
    problem_.clear();
    const SearchResult found = coordinate_search(
        space, limits, [&](std::span<const Candidate> batch) { return times_of(one, point, space, batch); },
        places_of(one.candidates, space));
    if (!problem_.empty() && !is_failure_ && point.may_be_hot) {
      lost_s_ += searched_s() - begin_s;
      point.may_be_hot = false;
      point.base.caches = Caches::Hot;  // few tensors are too small to be cold
      return search_point(one, point);
    }
    if (!problem_.empty()) {
      terminal_.out << printable_line(fmt::format("{} {}: not tuned: with the built-in defaults {}",
                                                  one.group.text(), place_text(point), problem_))
                    << std::endl;
      has_failed_ = has_failed_ || is_failure_;
      return;
    }
    tell(one, point, space, found);
    one.is_searched = true;
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

  std::vector<std::optional<double>> times_of(const TunedClass& one, const TuningPoint& point,
                                              const TuningSpace& space, std::span<const Candidate> batch) {
    std::vector<Tune> tunes;
    for (const Candidate& candidate : batch) tunes.push_back(tune_of(space, candidate));
    if (tunes.size() == 1 && tunes.front().empty()) return {1.0};  // the defaults, by which all are divided
    const TriedTunes tried = runs_.run(point, tunes, options_.row_seconds, [&] { return is_stopped(); });
    problem_ = tried.default_problem;
    is_failure_ = tried.is_failure && !is_stopped();
    has_timed_ = has_timed_ || problem_.empty();
    std::vector<std::optional<double>> times;
    for (const TriedTune& each : tried.tried) {
      times.push_back(each.ratio ? std::optional(each.ratio->median) : std::nullopt);
      ++statuses_[each.status];
    }
    note(one, point, tried);
    return times;
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
                                                tune_text(tune_of(space, found.best))))
                  << std::endl;
  }

  /// Times what was best at any point of a class at all of its points, as another run would: the best of many
  /// measurements is not as good as it looks.
  void confirm() {
    const Stopwatch watch;
    const auto is_over = [&] { return is_stopped() || watch.s() > options_.seconds / 2; };
    for (TunedClass& one : classes_) {
      if (one.candidates.size() > most_confirmed) one.candidates.resize(most_confirmed);
      if (one.candidates.empty()) continue;
      for (const TuningPoint& point : one.group.points) {
        if (is_over()) {
          ++unconfirmed_;
        } else {
          confirm_at(one, point);
        }
      }
    }
  }

  void confirm_at(TunedClass& one, const TuningPoint& point) {
    const TuningSpace space = tuning_space(point, device_, options_.tunables);
    std::vector<Tune> tunes;
    std::vector<std::size_t> numbers;
    const std::vector<Candidate> places = places_of(one.candidates, space);
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!space.may_run(places[i])) continue;
      tunes.push_back(one.candidates[i]);
      numbers.push_back(i + 1);
    }
    const TriedTunes tried =
        runs_.run(point, tunes, confirming_times * options_.row_seconds, [&] { return is_stopped(); });
    if (!tried.default_problem.empty()) return;
    MeasuredShape shape{.at = point.at, .ratios = {}};
    for (std::size_t i = 0; i < tunes.size(); ++i) {
      if (!tried.tried[i].ratio) continue;
      shape.ratios[numbers[i]] = *tried.tried[i].ratio;
      terminal_.log << printable_line(fmt::format("confirmed {} {}: {} {}", one.group.text(),
                                                  place_text(point), ratio_text(*tried.tried[i].ratio),
                                                  tune_text(tunes[i])))
                    << std::endl;
    }
    one.shapes.push_back(std::move(shape));
  }

  void write() {
    Tuning tuning{.device = device_.name,
                  .driver = driver_text(device_),
                  .version = context_.build.version,
                  .entries = {}};
    std::set<std::pair<std::string, std::string>> tuned;
    for (const TunedClass& one : classes_) {
      if (one.is_tuned()) tuned.emplace(one.group.op->name, one.group.impl->name);
      for (TuningEntry& entry : entries_of(one)) {
        tell(entry);
        tuning.entries.push_back(std::move(entry));
      }
    }
    const std::size_t found = tuning.entries.size();
    for (const TuningEntry& entry : kept_) {
      if (!tuned.contains({entry.op, entry.impl})) tuning.entries.push_back(entry);
    }
    replace_file(out_, heading() + tuning_yaml(tuning));
    check_named_tuning(out_.string(), context_.registry);
    terminal_.out << printable_line(summary(found)) << '\n';
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
                                                tune_text(entry.tune), entry.left_out_pct.value_or(0)))
                  << '\n';
  }

  std::string summary(std::size_t found) const {
    std::vector<std::string> statuses;
    for (const auto& [status, count] : statuses_)
      statuses.push_back(fmt::format("{} {}", count, name_of(status)));
    return fmt::format(
        "tune: {} in {} ({}), candidates: {}{}{}", found == 1 ? "1 entry" : fmt::format("{} entries", found),
        out_.string(), fmt::format("{:.0f} s", watch_.s()), fmt::join(statuses, ", "),
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
  std::string problem_;      ///< why the current point has no time with the defaults
  bool has_timed_ = false;   ///< some candidates: the shortest budget is enough for them
  bool is_failure_ = false;  ///< that is a failure
  std::map<Status, std::size_t> statuses_;
  std::vector<TableRow> table_;
  std::size_t unconfirmed_ = 0;
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
