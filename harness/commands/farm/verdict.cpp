#include "harness/commands/farm/verdict.h"

#include "harness/base/clock.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/cases/select.h"
#include "harness/commands/farm/earlier_nights.h"
#include "harness/commands/farm/farm_tree.h"
#include "harness/commands/farm/night_folder.h"
#include "harness/commands/rules/device_rules.h"
#include "harness/commands/run_options.h"
#include "harness/report/compare/compare.h"
#include "harness/report/compare/run_noise.h"
#include "harness/report/journal/journal.h"
#include "harness/report/journal/recorded_runs.h"
#include "harness/report/night/night.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iomanip>
#include <optional>
#include <ostream>
#include <sstream>
#include <system_error>
#include <utility>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

/// Seconds from the run's start to its journal's last change; 0 if unknown.
double duration_s(const std::string& started_utc, const fs::path& journal) {
  std::istringstream in(started_utc);
  std::tm parts{};
  in >> std::get_time(&parts, "%Y-%m-%dT%H:%M:%SZ");
  std::error_code error;
  const auto changed = fs::last_write_time(journal, error);
  if (in.fail() || error) return 0;
  const auto began = std::chrono::system_clock::from_time_t(::timegm(&parts));
  const std::chrono::duration<double> lasted = std::chrono::file_clock::to_sys(changed) - began;
  return std::max(lasted.count(), 0.0);
}

/// The paths of a night, links resolved.
struct Place {
  fs::path night;
  fs::path last_good;

  fs::path from_night(const fs::path& path) const { return path.lexically_relative(night); }
};

Place place_of(const VerdictOptions& options) {
  std::error_code error;
  Place place{.night = fs::canonical(options.night, error)};
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    throw_file_error("read the night's folder", options.night, error.value());
  if (error) {
    throw Error("judging a night: " + options.night.string() +
                " cannot be found; name the folder that was the --out of the night's runs");
  }
  place.last_good = options.last_good.empty() ? place.night.parent_path() / last_good_name
                                              : fs::absolute(options.last_good).lexically_normal();
  return place;
}

fs::path canonical_or_empty(const fs::path& path) {
  std::error_code error;
  const fs::path canonical = fs::canonical(path, error);
  return error ? fs::path() : canonical;
}

/// The command that runs what a night of nightly.sh has not finished; empty: another script ran the night.
std::string command_for_rest(const Place& place) {
  std::error_code error;
  return fs::exists(place.night / plan_name, error) ? "nightly.sh --resume " + place.night.string() : "";
}

/// What reports are judged by, besides the options.
struct JudgedBy {
  RunNoise noise;
  std::optional<Expectations> expectations;  ///< absent: rows keep their statuses
};

/// Judges one device's report, compared with its last good night.
class DeviceJudge {
 public:
  DeviceJudge(const VerdictOptions& options, const JudgedBy& by, const Place& place, std::string slug,
              EarlierVerdict earlier)
      : options_(options), by_(by), place_(place), earlier_(std::move(earlier)) {
    device_.slug = std::move(slug);
    device_.failing = parse_verdicts(options.fail_on, "--fail-on");
    device_.is_accepted =
        earlier_.is_accepted || std::ranges::any_of(options.accepted, [&](const auto& word) {
          return word == "all" || word == device_.slug;
        });
  }

  DeviceNight judged(const DeviceFolder& folder) && {
    if (!folder.problem.empty()) {
      device_.problems.push_back(folder.problem);
    } else {
      read(folder.folder);
    }
    return std::move(device_);
  }

 private:
  void read(const fs::path& folder) {
    folder_ = canonical_or_empty(folder);
    device_.report = place_.from_night(folder_).string();
    device_.bytes = bytes_below(folder_);
    const std::optional<fs::path> journal = journal_in(folder_);
    if (!journal) {
      device_.problems.emplace_back(
          "its folder holds no journal.jsonl: the run ended before it had begun, or files were removed");
      return;
    }
    try {
      RunReport report = read_checked_journal(*journal);
      if (by_.expectations) judge_rows_again(report);
      device_.has_strict_notes = options_.strict && !report.run.rule_notes.empty();
      device_.duration_s = duration_s(report.run.started_utc, *journal);
      if (!report.complete) device_.problems.push_back(why_incomplete(report, *journal));
      compare(std::move(report));
    } catch (const std::exception& error) {
      device_.problems.push_back(std::string("its report cannot be read: ") + error.what());
    }
    device_.becomes_last_good =
        may_become_last_good_ && !hides_changes() && device_.verdict() == NightVerdict::Good;
  }

  void judge_rows_again(RunReport& report) const {
    expect_again(report, *by_.expectations);
    report.run.rule_notes = rule_notes(*by_.expectations, report, {.is_narrowed = true});
  }

  std::string why_incomplete(const RunReport& report, const fs::path& journal) const {
    if (is_being_written(journal)) return "the run has not ended";
    return std::string("the run did not finish") +
           (report.cut_off ? ", and its journal's last line was cut off" : "") + "; run the rest with `" +
           resuming_command() + "`";
  }

  std::string resuming_command() const {
    const std::string of_night = command_for_rest(place_);
    return of_night.empty() ? "assay run --resume " + folder_.string() : of_night;
  }

  void compare(RunReport report) {
    Baseline baseline = find_baseline({.night = place_.night,
                                       .link = link(),
                                       .slug = device_.slug,
                                       .started_utc = report.run.started_utc,
                                       .earlier = earlier_});
    device_.note = baseline.note;
    device_.warnings = baseline.warnings;
    may_become_last_good_ = !baseline.is_of_later;
    device_.run = digest_of(report, baseline.report ? &*baseline.report : nullptr);
    if (baseline.report) hold_against(std::move(baseline), std::move(report));
  }

  void hold_against(Baseline baseline, RunReport next) try {
    std::vector<RunReport> before, now;
    before.push_back(std::move(*baseline.report));
    now.push_back(std::move(next));
    // A new tuning file is a change like a commit.
    const RunComparison comparison = compare_runs(
        std::move(before), std::move(now), {.allow_tuning = true, .keep_conditions = false}, by_.noise);
    accept_rows(device_, comparison, acceptance(comparison));
    device_.last_good = {place_.from_night(baseline.folder).string(), digest_of(comparison)};
  } catch (const Error& error) {
    device_.problems.push_back(std::string("its last good night cannot be compared with: ") + error.what() +
                               "; remove " + link().string() + " to start over with the next good night");
  }

  /// Whether changes of programs may be hidden: tonight's times cannot be trusted, the machine may have
  /// changed as well, or it did, and unchanged rows scatter so far that no change of another one shows.
  bool hides_changes() const {
    if (device_.is_accepted || !device_.last_good) return false;
    if (device_.has_lost_times()) return true;
    // A last good night whose own times cannot be trusted hides more than this one: it is replaced.
    if (device_.last_good->comparison.has_untrusted_base()) return false;
    const MachineShift* shift = device_.shift();
    if (!shift) return false;
    return shift->evidence == ShiftEvidence::Suspected || shift->width_pct() > coarsest_pct;
  }

  RowAcceptance acceptance(const RunComparison& comparison) const {
    return {.night = place_.night.filename().string(),
            .globs = options_.accepted,
            .ids = earlier_.accepted_rows,
            .before = accepted_before({.night = place_.night,
                                       .slug = device_.slug,
                                       .started_utc = comparison.next.front().run.started_utc,
                                       .last_good_run = comparison.base.front().run.run_id})};
  }

  fs::path link() const { return place_.last_good / device_.slug; }

  const VerdictOptions& options_;
  const JudgedBy& by_;
  const Place& place_;
  EarlierVerdict earlier_;
  fs::path folder_;
  bool may_become_last_good_ = true;
  DeviceNight device_;
};

/// Adds devices that should have a report, but do not.
void add_absent(std::map<std::string, DeviceFolder>& devices, const VerdictOptions& options,
                const Place& place) {
  const std::string command = command_for_rest(place);
  const std::string advice =
      command.empty() ? "" : "; if the night was ended early, run the rest with `" + command + "`";
  for (const std::string& slug : options.expected) {
    devices.try_emplace(slug,
                        DeviceFolder{{}, "no report tonight, although --expect-slug asks for one" + advice});
  }
  for (const auto& [slug, target] : links_in(place.last_good)) {
    const std::string why = "no report tonight, although it had a good night in " +
                            place.from_night(target).string() + "; if the device was removed, delete " +
                            (place.last_good / slug).string();
    devices.try_emplace(slug, DeviceFolder{{}, why});
  }
}

/// The words that stand for devices of the night.
std::vector<std::string> words_for_devices(const Night& night) {
  std::vector<std::string> words{"all"};
  for (const DeviceNight& device : night.devices) words.push_back(device.slug);
  return words;
}

/// Refuses a word of --accept that names no device and fits no row that is worse.
void refuse_unknown_acceptance(const VerdictOptions& options, const Night& night) {
  for (const std::string& word : options.accepted) {
    const auto is_meant = [&](const DeviceNight& device) {
      return word == device.slug || std::ranges::any_of(device.accepted_rows, [&](const std::string& id) {
               return glob_matches(word, id);
             });
    };
    if (word == "all" || std::ranges::any_of(night.devices, is_meant)) continue;
    throw Error(fmt::format(
        "accepting regressions: the night has no device '{0}', and no row with the id '{0}' is worse than in "
        "a last good night; known to --accept: {1}, and the ids of rows that are worse",
        word, fmt::join(words_for_devices(night), ", ")));
  }
}

/// Reads the rules of --expectations. Throws Error(Usage) if a file has an error.
std::optional<Expectations> rules_of(const VerdictOptions& options) {
  if (options.expectations.empty()) return std::nullopt;
  ExpectationsResult result = load_expectations(expectation_files(options.expectations));
  if (result.errors.empty()) return std::move(result.expectations);
  std::string text = "judging by other expectations: the rules have errors";
  for (const Diagnostic& error : result.errors) text += "\n" + to_string(error);
  throw Error(text);
}

/// Refuses a folder without any run that holds files with the names of a verdict: they belong to something
/// else, and would be overwritten. (A night whose runs all failed to start has none of these files.)
void refuse_other_folder(const Place& place, const std::map<std::string, DeviceFolder>& devices) {
  std::error_code ignored;
  if (!devices.empty() || fs::exists(place.night / "runs", ignored)) return;
  if (is_night_json(night_json_in(place.night))) return;
  for (const char* name : {verdict_text_name, nightly_json_name}) {
    if (!fs::exists(fs::symlink_status(place.night / name, ignored))) continue;
    throw Error(
        fmt::format("judging a night: {} is no night: it has no report and no runs/, and its {} is "
                    "not of a night; name the folder that was the --out of the night's runs",
                    place.night.string(), name));
  }
}

Night judge(const VerdictOptions& options, const Place& place) {
  std::map<std::string, DeviceFolder> folders = devices_of_night(place.night);
  refuse_other_folder(place, folders);
  Night night{.name = place.night.filename().string(),
              .version = options.version,
              .when = utc_text(std::chrono::system_clock::now()),
              .bytes = bytes_below(place.night),
              .free_bytes = free_bytes(place.night)};
  add_absent(folders, options, place);
  if (folders.empty()) night.problems.push_back("no device has a report in " + place.night.string());
  const JudgedBy by{read_run_noise(options.run_noise), rules_of(options)};
  const auto earlier = earlier_verdicts(night_json_in(place.night));
  for (const auto& [slug, folder] : folders) {
    const auto before = earlier.find(slug);
    night.devices.push_back(
        DeviceJudge(options, by, place, slug, before == earlier.end() ? EarlierVerdict{} : before->second)
            .judged(folder));
  }
  refuse_unknown_acceptance(options, night);
  return night;
}

/// Refuses a word of --keep-last-good that names no device: the link would be moved.
void refuse_unknown_kept(const VerdictOptions& options, const Night& night) {
  const std::vector<std::string> known = words_for_devices(night);
  for (const std::string& word : options.kept_links) {
    if (std::ranges::find(known, word) != known.end()) continue;
    throw Error(
        fmt::format("keeping links of last-good: the night has no device '{}'; known to --keep-last-good: {}",
                    word, fmt::join(known, ", ")));
  }
}

void write(const Night& night, const Place& place) {
  replace_file(place.night / nightly_json_name, night_json(night));
  replace_file(place.night / verdict_text_name, night_text(night));
}

void keep_links(Night& night, const std::vector<std::string>& kept) {
  const auto is_kept = [&](const std::string& name) { return std::ranges::find(kept, name) != kept.end(); };
  for (DeviceNight& device : night.devices) {
    if (is_kept("all") || is_kept(device.slug)) device.becomes_last_good = false;
  }
}

/// Moves the links after the files are written: a kill in between leaves a night that is judged again in the
/// same way. Returns whether all could be moved; a failure is a problem of its device.
bool move_links(Night& night, const Place& place) {
  bool moved = true;
  for (DeviceNight& device : night.devices) {
    if (!device.becomes_last_good) continue;
    try {
      const fs::path link = place.last_good / device.slug;
      const fs::path report = place.night / device.report;
      if (canonical_or_empty(link) != report) move_link(link, report);
    } catch (const std::exception& error) {
      device.problems.emplace_back(error.what());
      device.becomes_last_good = moved = false;
    }
  }
  return moved;
}

}  // namespace

ExitCode verdict(const VerdictOptions& options, const Terminal& terminal) {
  const Place place = place_of(options);
  Night night = judge(options, place);
  refuse_unknown_kept(options, night);
  keep_links(night, options.kept_links);
  try {
    write(night, place);
    if (!move_links(night, place)) write(night, place);
  } catch (const Error&) {  // the night verdict is still printed
    keep_links(night, {"all"});
    terminal.out << night_text(night);
    throw;
  }
  terminal.out << night_text(night);
  append_github_summary(options.github_summary, night_summary(night));
  return exit_code(night.verdict());
}

}  // namespace assay::app
