#include "harness/commands/merge/merge.h"

#include "harness/base/text.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/cases/expansion/load.h"
#include "harness/cases/expectations/expectations.h"
#include "harness/commands/context.h"
#include "harness/commands/find_report.h"
#include "harness/commands/loaded_cases.h"
#include "harness/commands/merge/merged_shards.h"
#include "harness/commands/rules/device_rules.h"
#include "harness/commands/run/output/run_folder.h"
#include "harness/commands/run/setup/engine_options.h"
#include "harness/commands/run/setup/run_inputs.h"
#include "harness/commands/run_summary.h"
#include "harness/device/device_profile.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/run_info.h"
#include "harness/report/journal/journal_text.h"
#include "harness/report/record/report_totals.h"
#include "harness/report/writers/writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

namespace assay::app {

namespace {

using Values = std::vector<std::pair<const char*, std::string>>;

std::string on_or_off(bool flag) {
  return flag ? "on" : "off";
}

/// The values of options that must be equal, by name, in the order of the help.
Values values_of(const RunOptions& options) {
  return {{"--baseline-impl", options.rows.baseline_impl.empty() ? "none" : options.rows.baseline_impl},
          {"--budget", fmt::format("{:g}", options.rows.budget_s)},
          {"--energy", on_or_off(options.rows.measures_energy)},
          {"--program-limit", fmt::format("{:g}", options.rows.program_limit_s)},
          // Stored and measured ceilings are the same.
          {"--ceilings", options.ceilings == "none" ? "none" : "stored or measure"},
          {"--inject-slowdown", fmt::format("{:g}", options.rows.injected_slowdown_pct)},
          {"--validation", on_or_off(options.validation)},
          {"--robust-access", on_or_off(options.robust_access)}};
}

}  // namespace

std::optional<std::string> mixed_options(const RunOptions& one, const RunOptions& other) {
  const Values ours = values_of(one);
  const Values theirs = values_of(other);
  std::string text;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].second == theirs[i].second) continue;
    text += fmt::format("{}their {} is {} and {}", text.empty() ? "" : ", ", ours[i].first, ours[i].second,
                        theirs[i].second);
  }
  return text.empty() ? std::nullopt : std::optional(text);
}

namespace {

namespace fs = std::filesystem;

/// Reads a shard's journal. Returns whether the run had planned its rows; if not, it has none.
bool read_shard(const fs::path& path, ReportBuilder& journal) {
  if (for_each_line(path, [&](std::string_view line) { journal.line(line); })) journal.cut_off();
  return journal.has_run() && journal.has_plan();
}

std::vector<fs::path> journals_of_shards(const std::vector<fs::path>& paths, std::ostream& log) {
  std::vector<fs::path> journals;
  for (const fs::path& path : paths) {
    try {
      const std::vector<fs::path> found = journals_of(path);
      journals.insert(journals.end(), found.begin(), found.end());
    } catch (const Error& error) {
      log << "a shard is missing: " << printable(error.what()) << '\n';
    }
  }
  return journals;
}

/// The name of a journal's device folder: from OUT/runs/<run>/<device>, else the name that its device would
/// get.
std::string slug_of(const fs::path& journal, const DeviceInfo& device) {
  std::error_code error;
  const fs::path folder = fs::canonical(journal.parent_path(), error);
  if (!error && folder.parent_path().parent_path().filename() == "runs") return folder.filename().string();
  return device_slug({&device, 1}, 0);
}

/// A command line without the options that make its run one of several shards.
std::vector<std::string> whole_command(const std::vector<std::string>& command) {
  static const std::set<std::string> options{"--shard", "--balance"};
  std::vector<std::string> whole;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string name = command[i].substr(0, command[i].find('='));
    if (!options.contains(name)) {
      whole.push_back(command[i]);
    } else if (name == command[i]) {
      ++i;  // its value is the next word
    }
  }
  return whole;
}

/// The case files of a run, read again.
class CasesOfRun {
 public:
  /// Throws Error if they are missing or have changed.
  CasesOfRun(const RunInfo& run, const Context& context)
      : device_(run.device),
        options_(context.parse_run(run.command)),
        context_(with_ops(context, options_.cases.op_folders)) {
    const std::vector<fs::path> paths = options_.cases.paths();
    options_.cases.times.clear();  // which rows there are does not depend on them,
    options_.as_if.clear();        // nor on a profile
    loaded_ = load(options_.cases, paths, context_.registry);
    if (const auto changed =
            different_inputs({{"cases", run.inputs.at("cases")}}, run_inputs(options_, loaded_)))
      throw Error(*changed + " have changed");
    expectations_ = load_expectations(options_.cases.expectation_files()).expectations;
  }

  bool has_errors() const { return !loaded_.errors.empty(); }

  /// The rows of some groups of the whole plan. Throws Error if the plan differs.
  MissingGroups rows_of(const std::vector<std::size_t>& groups, const ShardInfo& shard) const {
    const std::vector<const Case*> selected = selected_cases(options_.cases, loaded_.cases);
    const std::vector<PlannedGroup> plain = planned_groups(options_, selected);
    if (plain.size() != shard.all_groups || plan_hash(plain) != shard.plan_hash)
      throw Error("the case files give different rows than those that were divided among shards");
    const DeviceCases cases(selected, device_);
    const std::vector<PlannedGroup> planned = planned_groups(options_, cases.all());
    MissingGroups rows;
    for (const std::size_t group : groups)
      rows[group] = plan_of({&planned.at(group), 1}, row_names(options_), options_.rows.baseline_impl);
    return rows;
  }

  std::vector<RuleNote> notes(const RunReport& report) const {
    if (expectations_.of_device(own_name(device_)).empty()) return {};
    return rule_notes(
        expectations_, report,
        {.left_out = rows_left_out(loaded_.cases, report),
         .is_narrowed = options_.cases.is_narrowed(),
         .covers = [this](const Expectation& rule) { return rule_covers(options_.cases, rule); },
         .has_all_cases =
             [this](const std::string& file) {
               return !has_errors() && options_.cases.has_all_cases(file, loaded_.files);
             }});
  }

 private:
  DeviceInfo device_;
  RunOptions options_;
  Context context_;  ///< outlives the cases
  LoadResult loaded_;
  Expectations expectations_;
};

/// Writes events to a journal and to a report builder.
class MergedJournal final : public EventLines {
 public:
  explicit MergedJournal(const fs::path& path) : journal_(path) {}

  void line(std::string_view line) override {
    journal_.line(line);
    builder_.line(line);
  }
  RunReport report() const { return builder_.report(); }

 private:
  Journal journal_;
  ReportBuilder builder_;
};

class Merge {
 public:
  Merge(const MergeOptions& options, const Context& context, const Terminal& terminal)
      : options_(options), context_(context), terminal_(terminal), folder_(options.out) {}

  ExitCode run() {
    const ShardJournals shards = read();
    const MergedShards merged(shards);
    refuse_mixed_options(shards);
    refuse_used_place();
    RunInfo info = merged.run(folder_.run_id());
    info.command = whole_command(info.command);
    read_cases(info);
    const MissingGroups missing = missing_rows(merged, shards.front().journal.run().shard);
    const RunReport report = write(merged, info, missing);
    Console console(terminal_.out, terminal_.log, terminal_.console);
    print_summary(terminal_.out, console, report, folder_.of_device(slug_), false);
    return code_of(report);
  }

 private:
  ShardJournals read() {
    ShardJournals shards;
    for (const fs::path& path : journals_of_shards(options_.shards, terminal_.log)) {
      if (is_being_written(path)) {
        throw Error(fmt::format("merging shards: the run of {} has not ended; wait for it, or stop it",
                                path.string()),
                    ExitCode::Infrastructure);
      }
      ReportBuilder& journal = shards.emplace_back(path.string()).journal;
      if (!read_shard(path, journal)) {
        terminal_.log << printable(path.string()) << ": the run was killed before it had planned its rows\n";
        shards.pop_back();
      } else if (slug_.empty()) {
        slug_ = slug_of(path, journal.run().device);
      }
    }
    if (shards.empty()) {
      throw Error(fmt::format("merging shards: none of the {} folders holds a report with rows",
                              options_.shards.size()),
                  ExitCode::Infrastructure);
    }
    return shards;
  }

  /// Compares the options of their command lines, defaults included.
  void refuse_mixed_options(const ShardJournals& shards) const {
    std::optional<RunOptions> first;
    for (const ShardJournal& shard : shards) {
      RunOptions options;
      try {
        options = context_.parse_run(shard.journal.run().command);
      } catch (const Error& error) {
        terminal_.log
            << "note: whether " << printable(shard.name)
            << " ran with the same options as the others is unknown: its command line cannot be read: "
            << printable(error.what()) << '\n';
        continue;
      }
      if (!first) first = options;
      if (const auto mixed = mixed_options(*first, options)) {
        throw Error(fmt::format("merging shards: {} and {} are not parts of one run: {}", shards.front().name,
                                shard.name, *mixed));
      }
    }
  }

  /// Reports of other devices may be there: a night has those of all devices in one folder.
  void refuse_used_place() const {
    std::error_code error;
    const fs::path place = options_.out / slug_;
    if (options_.overwrite || !fs::exists(fs::symlink_status(place, error))) return;
    throw Error(
        fmt::format("merging shards: '{}' already holds a report of this device; choose another folder, or "
                    "add --overwrite: the merged report is then written next to it, and the link moves",
                    place.string()));
  }

  void read_cases(const RunInfo& info) {
    try {
      cases_.emplace(info, context_);
    } catch (const std::exception& error) {
      no_cases_ = error.what();
    }
  }

  MissingGroups missing_rows(const MergedShards& merged, const ShardInfo& shard) const {
    const std::vector<std::size_t> groups = merged.missing_groups();
    if (groups.empty()) return {};
    const auto refuse = [&](const std::string& why) {
      throw Error(
          fmt::format("merging shards: {} of {} groups of rows are in no shard, and their rows cannot be "
                      "named: {}; merge where the run's case files are, in the folder where it was started",
                      groups.size(), merged.all_groups(), why),
          ExitCode::Infrastructure);
    };
    if (!cases_) refuse(no_cases_);
    try {
      return cases_->rows_of(groups, shard);
    } catch (const Error& error) {
      refuse(error.what());
    }
    return {};
  }

  RunReport write(const MergedShards& merged, RunInfo info, const MissingGroups& missing) {
    const std::vector<std::string> slugs{slug_};
    folder_.make(slugs);
    info.run_id = folder_.run_id();
    const fs::path directory = folder_.of_device(slug_);
    make_directories(directory);
    MergedJournal journal(directory / journal_name);
    journal.run(info);
    merged.tell(missing, journal);
    if (cases_) info.rule_notes = cases_->notes(journal.report());
    if (!info.rule_notes.empty()) journal.run(info);
    if (merged.is_complete(missing)) journal.done();  // last: a run that says more is not done
    RunReport report = journal.report();
    write_reports(directory, report);
    folder_.link(slug_, terminal_.log);
    return report;
  }

  ExitCode code_of(const RunReport& report) const {
    const ExitCode code = exit_code(report, options_.strict);
    return code != ExitCode::Infrastructure && cases_ && cases_->has_errors() ? ExitCode::Usage : code;
  }

  const MergeOptions& options_;
  const Context& context_;
  const Terminal& terminal_;
  RunFolder folder_;
  std::string slug_;
  std::optional<CasesOfRun> cases_;
  std::string no_cases_;  ///< why cases_ is empty
};

}  // namespace

ExitCode merge(const MergeOptions& options, const Context& context, const Terminal& terminal) {
  return Merge(options, context, terminal).run();
}

}  // namespace assay::app
