#include "harness/app/run_once.h"

#include "harness/app/engine_options.h"
#include "harness/app/expected_rows.h"
#include "harness/app/recorder.h"
#include "harness/app/report.h"
#include "harness/app/rule_notes.h"
#include "harness/app/shader_folders.h"
#include "harness/base/text.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/cases/expectations.h"
#include "harness/engine/run/device_run.h"
#include "harness/engine/run/row_program.h"
#include "harness/report/record/exit_code.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>
#include <set>

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

/// A comparison that would compare nothing is a mistake of the command line.
void refuse_empty_comparison(const RunOptions& options, const std::set<std::string>& timed) {
  if (options.versus_shaders.empty() && options.baseline_impl.empty()) return;
  if (timed.empty()) {
    throw Error(
        "choosing what to compare: only times are compared, and no row of mode perf is selected; "
        "`assay list --long` shows the mode of each case");
  }
  if (options.baseline_impl.empty() || timed.contains(options.baseline_impl)) return;
  throw Error(
      fmt::format("choosing a baseline: no selected row of mode perf has impl '{}'; the impls are: {}",
                  options.baseline_impl, fmt::join(timed, ", ")));
}

/// Whether the row did not run, or not to its end, because the run was stopped.
bool was_cut_short(const Record& record) {
  return record.status == Status::Interrupted || record.status == Status::Missing;
}

/// One run of a selection: everything that its devices share.
class Run {
 public:
  Run(const RunOptions& options, const Context& context, Session& session, const Terminal& terminal,
      const std::function<bool()>& stop_requested)
      : options_(options),
        context_(context),
        session_(session),
        terminal_(terminal),
        stop_requested_(stop_requested),
        loaded_(load_and_complain(options.cases, context.registry, terminal.errors)),
        selected_(select(loaded_.cases, options.cases.selection())),
        groups_(plan(selected_)),
        timed_impls_(timed_impls(groups_)),
        answers_(answer_cache_options(options, context.build)) {}

  RunOutcome run() {
    RunOutcome outcome{.files = loaded_.files};
    if (selected_.empty() || groups_.empty()) {
      if (loaded_.errors.empty()) throw_nothing_selected(options_.cases, loaded_.cases.size());
      outcome.code = ExitCode::Usage;
      return outcome;
    }
    refuse_empty_comparison(options_, timed_impls_);
    load_expectation_rules(outcome);
    if (!session_.devices) session_.devices = std::make_unique<RunDevices>(options_);
    check_shaders();
    session_.folder.make(session_.devices->slugs());
    for (RunDevices::Opened& opened : session_.devices->opened()) {
      outcome.reports.push_back(run_device(opened));
      outcome.code = std::max(outcome.code, exit_code(outcome.reports.back(), options_.strict));
      outcome.interrupted = outcome.interrupted || !outcome.reports.back().complete;
    }
    if (reports_failed_) outcome.code = ExitCode::Infrastructure;
    if (outcome.code != ExitCode::Infrastructure && !loaded_.errors.empty()) outcome.code = ExitCode::Usage;
    return outcome;
  }

 private:
  std::vector<PlannedGroup> plan(std::span<const Case* const> cases) const {
    return plan_rows(cases, options_.cases.selection().mode, !options_.versus_shaders.empty());
  }

  /// Of all devices together: what one of them runs is used.
  void check_shaders() const {
    if (options_.shaders.empty() && options_.versus_shaders.empty()) return;
    std::set<std::string> shaders;
    for (const RunDevices::Opened& opened : session_.devices->opened()) {
      const DeviceCases cases(selected_, opened.device->info());
      shaders.merge(shaders_of(plan(cases.all()), opened.device->info()));
    }
    check_shader_folders(options_, shaders, !timed_impls_.empty(), terminal_.log);
  }

  void load_expectation_rules(RunOutcome& outcome) {
    const std::vector<std::filesystem::path> files = find_expectations(options_.cases.paths());
    outcome.files.insert(outcome.files.end(), files.begin(), files.end());
    ExpectationsResult result = load_expectations(files);
    for (const Diagnostic& error : result.errors) {
      terminal_.errors << to_string(error) << '\n';
      loaded_.errors.push_back(error);
    }
    expectations_ = std::move(result.expectations);
  }

  ConsoleOptions console_options() const {
    ConsoleOptions console = terminal_.console;
    console.verbose = options_.verbose;
    return console;
  }

  bool stopped() const { return stop_requested_ && stop_requested_(); }

  RunReport run_device(RunDevices::Opened& opened) {
    gpu::Device& device = *opened.device;
    const gpu::Instance& instance = session_.devices->instance();
    gpu::ShaderLibrary shaders(shader_options(options_.shaders, context_.shader_compiler));
    gpu::ShaderLibrary versus(shader_options(options_.versus_shaders, context_.shader_compiler));
    const std::filesystem::path folder = session_.folder.of_device(opened.slug);
    Console console(terminal_.out, terminal_.log, console_options());
    Recorder recorder(folder, console);
    session_.folder.link(opened.slug, terminal_.log);
    RunInfo info = make_run_info(run_settings(options_, context_, session_.folder.run_id()), device.info());
    DeviceRunOptions run_options = engine_options(options_, instance, device.info(), stop_requested_);
    if (!options_.versus_shaders.empty()) run_options.versus = {&versus};
    if (options_.ceilings != "none") run_options.ceilings = known_ceilings(device.info(), shaders);
    run_options.answers = &answers_;
    if (!timed_impls_.empty() && !stopped()) add_timing(opened, shaders, run_options, info, recorder);
    recorder.run(info);
    const DeviceCases cases(selected_, device.info());
    const std::vector<PlannedGroup> groups = plan(cases.all());
    ExpectedRows expected(expectations_, device.info().name, recorder);
    expected.plan(plan_of(groups, run_options.names, run_options.baseline_impl));
    run_on_device(device, shaders, groups, {}, expectations_, run_options, expected);
    if (opened.tools) opened.tools->measure_again = {};  // what it refers to ends here
    note_rules(info, recorder);
    conclude(recorder);
    RunReport report = recorder.report();
    print_summary(terminal_.out, console, report, folder, options_.benchmark_console);
    complain_of_reports(recorder.reports_failure(), folder);
    return report;
  }

  void add_timing(RunDevices::Opened& opened, gpu::ShaderLibrary& shaders, DeviceRunOptions& run_options,
                  RunInfo& info, Recorder& recorder) const {
    TimingTools& tools = timing_tools_of(opened, shaders, options_.ceilings, terminal_.log);
    run_options.tools = &tools;
    run_options.sampling.timer_unit_ns = tools.timer.unit_ns;
    info.timer = tools.timer;
    info.ceilings = tools.ceilings;
    tools.measured_again = 0;
    tools.measure_again = [&] { measure_ceilings_again(tools, shaders, info, recorder, terminal_.log); };
  }

  /// Tells once more of the run, with what there is to tell of its expectations.
  void note_rules(RunInfo& info, Recorder& recorder) const {
    if (expectations_.of_device(info.device.name).empty()) return;
    const RunReport report = recorder.report();
    info.rule_notes = rule_notes(expectations_, report,
                                 {.left_out = rows_left_out(loaded_.cases, report),
                                  .is_narrowed = options_.cases.is_narrowed(),
                                  .has_all_cases = [this](const std::string& file) {
                                    return loaded_.errors.empty() && has_all_cases_of(file, loaded_.files);
                                  }});
    if (!info.rule_notes.empty()) recorder.run(info);
  }

  /// A stop that came after the last row had ended has interrupted nothing.
  void conclude(Recorder& recorder) const {
    const bool interrupted = stopped() && std::ranges::any_of(recorder.report().records, was_cut_short);
    interrupted ? recorder.interrupted() : recorder.done();
  }

  /// Reports that could not be written are no reason to end a run, but one for its exit code.
  void complain_of_reports(const std::string& failure, const std::filesystem::path& folder) {
    if (failure.empty()) return;
    reports_failed_ = true;
    terminal_.errors << fmt::format(
        "writing the reports: {}; `assay report {}` makes them from the journal\n", printable(failure),
        printable(folder.string()));
  }

  const RunOptions& options_;
  const Context& context_;
  Session& session_;
  const Terminal& terminal_;
  const std::function<bool()>& stop_requested_;
  bool reports_failed_ = false;
  LoadResult loaded_;
  std::vector<const Case*> selected_;
  std::vector<PlannedGroup> groups_;  ///< of no device: forms that await one are not known in them
  std::set<std::string> timed_impls_;
  AnswerCache answers_;
  Expectations expectations_;
};

/// The root of the reports, once it is known that it may be used.
std::filesystem::path checked_output_root(const RunOptions& options) {
  refuse_used_folder(options);
  return output_root(options);
}

}  // namespace

Session::Session(const RunOptions& options) : folder(checked_output_root(options)) {}

RunOutcome run_once(const RunOptions& options, const Context& context, Session& session,
                    const Terminal& terminal, const std::function<bool()>& stop_requested) {
  return Run(options, context, session, terminal, stop_requested).run();
}

std::string interrupted_line(const RunOutcome& outcome) {
  std::size_t rows = 0;
  std::size_t cut_short = 0;
  for (const RunReport& report : outcome.reports) {
    rows += report.records.size();
    cut_short += static_cast<std::size_t>(std::ranges::count_if(report.records, was_cut_short));
  }
  return fmt::format(
      "interrupted: {} of {} rows came to their end; the reports hold them, the others are MISSING\n",
      rows - cut_short, rows);
}

}  // namespace assay::app
