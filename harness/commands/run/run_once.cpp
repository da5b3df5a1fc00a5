#include "harness/commands/run/run_once.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/cases/expectations/expectations.h"
#include "harness/chain/node_times.h"
#include "harness/commands/context.h"
#include "harness/commands/device_profiles.h"
#include "harness/commands/find_report.h"
#include "harness/commands/loaded_cases.h"
#include "harness/commands/rules/device_rules.h"
#include "harness/commands/run/output/device_output.h"
#include "harness/commands/run/setup/device_session.h"
#include "harness/commands/run/setup/engine_options.h"
#include "harness/commands/run/setup/run_inputs.h"
#include "harness/commands/run/shards/run_shard.h"
#include "harness/commands/run/workers/run_in_workers.h"
#include "harness/commands/run/workers/worker.h"
#include "harness/commands/tuning_files.h"
#include "harness/device/device_profile.h"
#include "harness/engine/run/device_run.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/row_plan.h"
#include "harness/engine/run/tuned_rows.h"
#include "harness/report/console/terminal_text.h"
#include "harness/report/journal/report_builder.h"
#include "harness/report/record/report_totals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <random>
#include <set>
#include <sstream>

namespace assay::app {
namespace {

/// The impls of all rows that are timed.
std::set<std::string> timed_impls(const std::vector<PlannedGroup>& groups) {
  std::set<std::string> impls;
  for (const PlannedGroup& group : groups) {
    for (const PlannedRow& row : group) {
      if (row.mode == Mode::Perf) impls.insert(row.test_case->impl->name);
    }
  }
  return impls;
}

std::size_t accuracy_groups(const std::vector<PlannedGroup>& groups) {
  const auto has_accuracy = [](const PlannedGroup& group) {
    return std::ranges::find(group, Mode::Accu, &PlannedRow::mode) != group.end();
  };
  return static_cast<std::size_t>(std::ranges::count_if(groups, has_accuracy));
}

/// Throws if a comparison that the command line asks for would compare nothing.
void refuse_empty_comparison(const RunOptions& options, const std::set<std::string>& timed) {
  if (options.versus_shaders.empty() && options.rows.baseline_impl.empty()) return;
  // Only the answers of the other version matter then, unless an impl is named to compare its times with.
  if (options.versus_alone && timed.empty() && options.rows.baseline_impl.empty()) return;
  if (!options.versus_alone && !options.versus_shaders.empty() && !options.rows.baseline_impl.empty()) {
    throw Error(
        "choosing what to compare: --versus-shaders compares two versions of the shaders, --baseline-impl "
        "two impls; both may be given only with --versus-alone, which compares the one version with an impl "
        "of the other");
  }
  if (timed.empty()) {
    throw Error(
        "choosing what to compare: only times are compared, but no row of mode perf is selected; `assay list "
        "--long` shows the mode of each case");
  }
  if (options.rows.baseline_impl.empty() || timed.contains(options.rows.baseline_impl)) return;
  throw Error(
      fmt::format("choosing a baseline: no selected row of mode perf has impl '{}'; the impls are: {}",
                  options.rows.baseline_impl, fmt::join(timed, ", ")));
}

/// Throws for a replay of timed rows alone: there would be none, and accuracy rows would run without a word.
void refuse_timed_replay(const CaseOptions& options) {
  if (!options.replays || options.mode != name_of(Mode::Perf)) return;
  throw Error(
      "replaying rows: --replay runs the accuracy of the selected cases again, and --mode perf selects timed "
      "rows alone; leave one of them out");
}

bool has_row_with(const InjectedFault& fault, std::span<const PlannedGroup> groups) {
  return std::ranges::any_of(groups, [&](const PlannedGroup& group) {
    return std::ranges::any_of(group, [&](const PlannedRow& row) { return fault.is_of(row_id(row)); });
  });
}

/// An unpredictable seed that is never 0.
std::uint64_t drawn_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | std::uint64_t{device()} | 1;
}

/// Whether the row did not run, or not to its end, because the run was stopped (and not because its device
/// was given up).
bool was_cut_short(const Record& record) {
  return record.status == Status::Interrupted || (record.status == Status::Missing && record.stopped);
}

/// One run of a selection: everything that its devices share.
class Run {
 public:
  Run(const RunOptions& options, const Context& context, Session& session, const Terminal& terminal,
      const std::function<bool()>& stop_requested)
      : options_(options),
        context_(with_ops(context, options.cases.op_folders)),
        session_(session),
        terminal_(terminal),
        failures_(static_cast<std::size_t>(options.attempt.max_failures)),
        stop_requested_([this, &stop_requested] {
          return failures_.is_reached() || (stop_requested && stop_requested());
        }),
        loaded_(load_and_complain(options.cases, context_.registry, terminal.errors)),
        selected_(selected_cases(options.cases, loaded_.cases)),
        groups_(planned_groups(options, selected_)),
        shard_(shard_of_run(options, groups_, terminal.log)),
        secret_seed_(options.secret_seed.value_or(drawn_seed())),
        timed_impls_(timed_impls(groups_)) {
    if (shard_.is_part()) {
      selected_ = cases_of_shard(selected_, groups_, shard_);
      groups_ = planned_groups(options, selected_);
    }
  }

  RunOutcome run() {
    RunOutcome outcome{.files = loaded_.files};
    if (has_nothing_to_run(outcome)) return outcome;
    if (options_.attempt.isolation) {
      run_on_workers(outcome);
    } else {
      run_here(outcome);
    }
    for (const RunReport& report : outcome.reports) {
      outcome.code = exit_code_of_both(outcome.code, exit_code_of(report));
      outcome.interrupted = outcome.interrupted || !report.complete;
    }
    if (failures_.is_reached() && outcome.interrupted) outcome.failure_limit = failures_.most();
    if (reports_failed_) outcome.code = ExitCode::Infrastructure;
    if (outcome.code != ExitCode::Infrastructure && !loaded_.errors.empty()) outcome.code = ExitCode::Usage;
    return outcome;
  }

  ExitCode dry_run() {
    RunOutcome outcome;
    if (!has_nothing_to_run(outcome)) {
      std::size_t rows = 0;
      for (const PlannedGroup& group : groups_) rows += group.size();
      terminal_.out << fmt::format("a run would have {} for each device\n", counted_rows(rows));
    }
    return loaded_.errors.empty() ? outcome.code : ExitCode::Usage;
  }

 private:
  /// Checks what needs no device, and loads the expectations. Returns whether there is nothing to run, with
  /// the exit code in `outcome`. Throws Error(Usage) if that cannot be what was meant.
  bool has_nothing_to_run(RunOutcome& outcome) {
    refuse_timed_replay(options_.cases);
    if (groups_.empty()) {
      if (loaded_.errors.empty() && shard_.all_groups > 0) return true;  // more shards than groups
      if (loaded_.errors.empty()) throw_nothing_selected(options_.cases, loaded_.cases);
      outcome.code = ExitCode::Usage;
      return true;
    }
    profile_of(options_.as_if);  // throws
    check_injected_faults();
    check_named_tuning(tuning_of(options_), context_.registry);
    refuse_empty_comparison(options_, timed_impls_);
    load_expectation_rules(outcome);
    return false;
  }

  /// Throws for a fault that is none, and for one that no row of the selection has, in whatever shard: a run
  /// that survived nothing would look like one that survived it.
  void check_injected_faults() const {
    if (options_.injected_faults.empty()) return;
    const std::vector<PlannedGroup> all =
        planned_groups(options_, selected_cases(options_.cases, loaded_.cases));
    for (const std::string& text : options_.injected_faults) {
      const InjectedFault fault(text);  // throws
      const bool is_none = text.empty();
      if (is_none || options_.attempt.may_leave_faults_unmet || has_row_with(fault, all)) continue;
      throw Error(
          fmt::format("injecting faults: no selected row has an id that --inject-fault '{}' matches; `assay "
                      "list` shows the ids",
                      shortened(printable_line(text), 200)));
    }
  }

  /// The exit code of a device's report. If --max-failures stopped the run, rows that did not end do not
  /// count: they are no failure of the machine.
  ExitCode exit_code_of(const RunReport& report) const {
    if (!failures_.is_reached()) return exit_code(report, options_.strict);
    RunReport ended = report;
    std::erase_if(ended.records, was_cut_short);
    const ExitCode code = exit_code(ended, options_.strict);
    const bool was_stopped = ended.records.size() < report.records.size();
    return was_stopped && code == ExitCode::Usage ? ExitCode::Fine : code;
  }

  /// Checks the shader folders for all devices together: a file is used if any of them runs it.
  void check_shaders(std::span<const DeviceInfo> devices) const {
    if (options_.shaders.empty() && options_.versus_shaders.empty()) return;
    if (options_.attempt.may_leave_shaders_unused) return;
    std::set<gpu::KernelName> kernels;
    for (const DeviceInfo& device : devices) {
      const DeviceCases cases(selected_, device);
      const std::optional<DeviceTuning> tuning = tuning_for(tuning_of(options_), device, context_.registry);
      const TunedRows rows(planned_groups(options_, cases.all()), device, tuning ? &tuning->tuning : nullptr);
      kernels.merge(kernels_of(rows.groups(), device));
    }
    check_shader_folders(options_, kernels, !timed_impls(groups_).empty(), terminal_.log);
  }

  /// Refuses a path that stands for the newest run in the folder of this run's reports: that is this run
  /// itself when its workers read it.
  void refuse_newest_run() const {
    namespace fs = std::filesystem;
    const fs::path journal = only_journal(options_.cases.times);
    const fs::path real = fs::canonical(journal);
    const fs::path root = fs::weakly_canonical(output_root(options_));
    if (!is_inside(real, root) || real == fs::absolute(journal).lexically_normal()) return;
    throw Error(fmt::format(
        "planning chains by time: '{}' stands for the newest run in '{}', which this run is going "
        "to be; name the run with the times: --times '{}'",
        options_.cases.times.string(), root.string(), real.parent_path().string()));
  }

  /// Refuses times of another device: a plan would be chosen by them.
  void check_times(std::span<const DeviceInfo> devices) const {
    if (!loaded_.node_times) return;
    refuse_newest_run();
    for (const DeviceInfo& device : devices) {
      if (const auto why = loaded_.node_times->refuse(device))
        throw Error("planning chains by time: " + *why);
    }
  }

  /// Says which tuning files the devices have, which of these are not taken, and refuses those with errors.
  void name_tuning(std::span<const DeviceInfo> devices) const {
    for (const DeviceInfo& device : devices) {
      const std::optional<DeviceTuning> tuning = found_tuning(tuning_of(options_), device, context_.registry);
      if (!tuning) continue;
      if (tuning->is_ignored) {
        terminal_.log << printable(fmt::format(
            "tuning    '{0}' is not taken for {1}: it was {2}; name it with --tuning '{0}', or tune again\n",
            tuning->file.string(), device.name, tuning->note));
        continue;
      }
      const std::size_t entries = tuning->tuning.entries.size();
      terminal_.log << printable(fmt::format("tuning    '{}' for {}: {} {}{}\n", tuning->file.string(),
                                             device.name, entries, entries == 1 ? "entry" : "entries",
                                             tuning->note.empty() ? "" : "; it was " + tuning->note));
    }
  }

  void load_expectation_rules(RunOutcome& outcome) {
    const std::vector<std::filesystem::path> files = options_.cases.expectation_files();
    outcome.files.insert(outcome.files.end(), files.begin(), files.end());
    if (!options_.watch) terminal_.log << expectations_lines(files);
    ExpectationsResult result = load_expectations(files);
    for (const Diagnostic& error : result.errors) {
      terminal_.errors << to_string(error) << '\n';
      loaded_.errors.push_back(error);
    }
    if (const std::size_t count = result.errors.size(); count > 0) {
      terminal_.errors << fmt::format(
          "{} {} in files of expectations; rules without an error count, and the exit code will be 2\n",
          count, count == 1 ? "error" : "errors");
    }
    expectations_ = std::move(result.expectations);
  }

  void name_unused_rules(std::span<const DeviceInfo> devices) const {
    std::vector<std::string> names;
    for (const DeviceInfo& device : devices) names.push_back(device.name);
    if (!options_.watch) terminal_.log << unused_files_lines(expectations_, names);
  }

  bool stopped() const { return stop_requested_(); }

  /// Runs in this process, one device after the other.
  void run_here(RunOutcome& outcome) {
    if (!session_.devices) session_.devices = std::make_unique<RunDevices>(options_);
    std::vector<DeviceInfo> infos;
    for (const RunDevices::Opened& opened : session_.devices->opened()) infos.push_back(opened.info);
    name_unused_rules(infos);
    check_times(infos);
    name_tuning(infos);
    check_shaders(infos);
    session_.folder.make(session_.devices->slugs());
    const SessionParts parts{.options = options_,
                             .context = context_,
                             .devices = *session_.devices,
                             .selected = selected_,
                             .expectations = expectations_,
                             .run_id = session_.folder.run_id(),
                             .shard = shard_,
                             .secret_seed = secret_seed_,
                             .inputs = run_inputs(options_, loaded_),
                             .log = terminal_.log,
                             .stop_requested = stop_requested_};
    for (RunDevices::Opened& opened : session_.devices->opened())
      outcome.reports.push_back(run_device_here(parts, opened));
  }

  RunReport run_device_here(const SessionParts& parts, RunDevices::Opened& opened) {
    DeviceOutput output(output_parts(), {opened.info, opened.slug}, true);
    DeviceSession session(parts, opened);
    RowsLeft left;
    const bool is_resumed = output.has_run();
    if (is_resumed) left = resumed_rows(output.recorder().so_far(), session);
    session.tell(output.listener());
    if (is_resumed) {
      run_alone_first(output.recorder().so_far(), session);
      left = resumed_rows(output.recorder().so_far(), session);
    }
    if (const std::string no_dump_because = session.run(left); !no_dump_because.empty())
      terminal_.errors << printable_line("error: " + no_dump_because) << '\n';
    return conclude(output);
  }

  /// Runs each row that must run alone by itself. What stops this stops the run of the other rows as well.
  void run_alone_first(const ReportBuilder& journal, DeviceSession& session) const {
    for (const RowIndex row : rows_to_run_alone(journal)) {
      if (stopped()) return;
      RowsLeft left = resumed_rows(journal, session);
      left.wanted.assign(left.wanted.size(), false);
      left.wanted.at(row) = true;
      left.may_prepare = false;
      if (!session.run(left).empty()) return;  // a dump failed: the next run of the session says so
    }
  }

  static RowsLeft resumed_rows(const ReportBuilder& journal, const DeviceSession& session) {
    if (const auto why = refuse_other_run(journal.run(), session.info())) throw Error(*why);
    if (const auto why = refuse_other_plan(journal, session.plan())) throw Error(*why);
    if (!journal.has_plan()) return {};
    RowsLeft left = rows_left(journal);
    for (const auto& [row, end] : untried_rows(journal)) left.wanted[row] = true;
    return left;
  }

  OutputParts output_parts() { return {options_, session_.folder, expectations_, terminal_, failures_}; }

  RunReport conclude(DeviceOutput& output) {
    note_rules(output.recorder());
    const bool interrupted =
        stopped() && std::ranges::any_of(output.recorder().report().records, was_cut_short);
    RunReport report = output.conclude(interrupted);
    reports_failed_ = reports_failed_ || !output.recorder().reports_failure().empty();
    return report;
  }

  /// Sends the run info again, with the notes on the rules of its expectations.
  void note_rules(Recorder& recorder) const {
    RunInfo info = recorder.so_far().run();
    if (expectations_.of_device(own_name(info.device)).empty()) return;
    const RunReport report = recorder.report();
    info.rule_notes =
        rule_notes(expectations_, report,
                   {.left_out = rows_left_out(loaded_.cases, report),
                    .is_narrowed = options_.cases.is_narrowed(),
                    .covers = [this](const Expectation& rule) { return rule_covers(options_.cases, rule); },
                    .has_all_cases =
                        [this](const std::string& file) {
                          return loaded_.errors.empty() && options_.cases.has_all_cases(file, loaded_.files);
                        }});
    if (!info.rule_notes.empty()) recorder.run(info);
  }

  /// Runs each device in a separate process.
  void run_on_workers(RunOutcome& outcome) {
    const WorkersRun run{
        .output = output_parts(),
        .context = context_,
        .shard = shard_,
        .secret_seed = secret_seed_,
        .accuracy_groups = accuracy_groups(groups_),
        .stop_requested = stop_requested_,
        .devices_known =
            [this](std::span<const ChosenDevice> devices) {
              name_unused_rules(infos_of(devices));
              check_times(infos_of(devices));
              name_tuning(infos_of(devices));
              check_shaders(infos_of(devices));
            },
        .conclude = [&](DeviceOutput& output) { outcome.reports.push_back(conclude(output)); }};
    run_in_workers(run);
  }

  static std::vector<DeviceInfo> infos_of(std::span<const ChosenDevice> devices) {
    std::vector<DeviceInfo> infos;
    for (const ChosenDevice& device : devices) infos.push_back(device.info);
    return infos;
  }

  const RunOptions& options_;
  const Context context_;
  Session& session_;
  const Terminal& terminal_;
  FailureLimit failures_;
  std::function<bool()> stop_requested_;
  bool reports_failed_ = false;
  LoadResult loaded_;
  std::vector<const Case*> selected_;
  std::vector<PlannedGroup> groups_;  ///< planned without a device: forms that depend on one are unknown
  ShardInfo shard_;                   ///< the part of the selection that groups_ are
  std::uint64_t secret_seed_ = 0;
  std::set<std::string> timed_impls_;  ///< of the whole selection, in whatever shard
  Expectations expectations_;
};

/// The root of the reports, after checking that it may be used.
std::filesystem::path checked_output_root(const RunOptions& options) {
  refuse_used_folder(options);
  return output_root(options);
}

/// A terminal that discards the output that a run prints for people.
class Silence {
 public:
  explicit Silence(const Terminal& terminal, bool verbose)
      : terminal_{nowhere_, verbose ? terminal.log : nowhere_, terminal.errors} {}
  const Terminal& terminal() const { return terminal_; }

 private:
  std::ostringstream nowhere_;
  Terminal terminal_;
};

}  // namespace

Session::Session(const RunOptions& options)
    : folder(options.resume.empty() ? RunFolder(checked_output_root(options))
                                    : RunFolder::of_run(options.resume)) {}

RunOutcome run_once(const RunOptions& options, const Context& context, Session& session,
                    const Terminal& terminal, const std::function<bool()>& stop_requested) {
  return Run(options, context, session, terminal, stop_requested).run();
}

ExitCode dry_run(const RunOptions& options, const Context& context, Session& session,
                 const Terminal& terminal) {
  return Run(options, context, session, terminal, {}).dry_run();
}

std::string interrupted_line(const RunOutcome& outcome) {
  std::size_t rows = 0;
  std::size_t cut_short = 0;
  for (const RunReport& report : outcome.reports) {
    rows += report.records.size();
    cut_short += static_cast<std::size_t>(std::ranges::count_if(report.records, was_cut_short));
  }
  const std::string why = outcome.failure_limit == 0
                              ? "interrupted"
                              : fmt::format("stopped at --max-failures {}", outcome.failure_limit);
  return fmt::format("{}: {} of {} rows ended; the reports hold them, the others are MISSING\n", why,
                     rows - cut_short, rows);
}

RunReport quiet_run(const QuietRun& how, const std::vector<std::string>& words, Context context,
                    const Terminal& terminal, const std::function<bool()>& must_stop) {
  context.command_line = words;
  if (how.memory_limit_gib > 0) context.worker.push_back(fmt::format("{}", how.memory_limit_gib));
  RunOptions options = context.parse_run(words);
  options.attempt.may_leave_shaders_unused = how.may_leave_shaders_unused;
  options.attempt.may_leave_faults_unmet = how.may_leave_faults_unmet;
  const Silence silence(terminal, how.verbose);
  Session session(options);
  const RunOutcome outcome = run_once(options, context, session, silence.terminal(), must_stop);
  if (outcome.reports.size() != 1) throw Error(how.purpose + ": --device must choose one device");
  return outcome.reports.front();
}

}  // namespace assay::app
