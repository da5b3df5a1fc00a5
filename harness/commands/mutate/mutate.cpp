#include "harness/commands/mutate/mutate.h"

#include "harness/base/hash.h"
#include "harness/base/text.h"
#include "harness/commands/context.h"
#include "harness/commands/loaded_cases.h"
#include "harness/commands/mutate/equivalent_faults.h"
#include "harness/commands/mutate/fault_campaign.h"
#include "harness/commands/mutate/fault_list.h"
#include "harness/commands/mutate/fault_reports.h"
#include "harness/commands/mutate/fault_result.h"
#include "harness/commands/mutate/merged_faults.h"
#include "harness/device/driver_name.h"
#include "harness/external/load_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <system_error>
#include <utility>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

/// The options with what a resumed run, or the run of merged shards, was about.
MutateOptions with_resumed(MutateOptions options, const std::optional<FaultJournalContent>& merged) {
  if (!options.resume.empty()) {
    options.out = options.resume;
    options.choice = read_fault_journal(fault_journal_in(options.out)).run.choice;
  } else if (!options.only_list && fs::exists(fault_journal_in(options.out))) {
    throw Error(
        fmt::format("starting assay mutate: {} has a run already; finish it with --resume {}, or name "
                    "another folder with --out",
                    options.out.string(), options.out.string()));
  }
  if (merged) options.choice = merged->run.choice;
  if (fs::path& ops = options.choice.op_folder; !ops.empty()) {
    if (!fs::is_regular_file(ops / external::manifest_name)) {
      throw Error(fmt::format("starting assay mutate: there is no {} in {}: --ops names the folder of one op",
                              external::manifest_name, ops.string()));
    }
    ops = (ops / external::manifest_name).parent_path();  // without a slash at the end
    options.choice.folder = ops;
    if (is_inside(options.out, ops)) {
      throw Error(fmt::format(
          "choosing where to write: '{}' is inside the op's folder '{}', whose kernels are found in "
          "all of its folders; name a folder outside of it with --out",
          options.out.string(), ops.string()));
    }
  }
  if (!options.choice.since.empty() && options.choice.folder.empty()) options.choice.folder = "shaders";
  // A branch that has moved on when the run is resumed would have other lines.
  if (!options.choice.since.empty())
    options.choice.since = commit_named(options.choice.since, options.choice.folder);
  return options;
}

gpu::ShaderSources sources_of(const MutateOptions& options) {
  std::vector<fs::path> folders;
  if (!options.choice.folder.empty()) folders.push_back(options.choice.folder);
  return {folders, gpu::embedded_shaders()};
}

/// Removes embedded kernels that a kernel of the same file name in the folder of shaders replaces: kernels
/// are found by name, in whatever folder they lie.
void erase_replaced(std::set<std::string>& names, const std::set<std::string>& in_folder) {
  std::set<std::string> kernels;
  for (const std::string& name : in_folder) {
    if (name.ends_with(".comp")) kernels.insert(fs::path(name).filename());
  }
  std::erase_if(names, [&](const std::string& name) {
    return !in_folder.contains(name) && kernels.contains(fs::path(name).filename());
  });
}

/// The shaders that get faults: of a manifest's folder its own.
std::set<std::string> shader_names(const MutateOptions& options, const gpu::ShaderSources& sources) {
  const std::set<std::string> in_folder = sources.names_in_directories();
  std::set<std::string> names = options.choice.op_folder.empty() ? sources.names() : in_folder;
  erase_replaced(names, in_folder);
  std::erase_if(names, [](const std::string& name) { return name.ends_with(".spv"); });
  return names;
}

/// The list that the command line names, else the one in the folder of shaders, here or next to the binary.
fs::path list_of_equivalent_faults(const MutateOptions& options) {
  if (!options.equivalent.empty()) return options.equivalent;
  std::error_code error;
  const fs::path binary = fs::read_symlink("/proc/self/exe", error).parent_path();
  std::vector<fs::path> folders{options.choice.folder};
  if (options.choice.op_folder.empty()) folders.insert(folders.end(), {"shaders", binary / "shaders"});
  for (const fs::path& folder : folders) {
    const fs::path list = folder / "equivalent.yaml";
    if (!folder.empty() && fs::is_regular_file(list, error)) return list;
  }
  return {};
}

/// Lavapipe, in most cases: a GPU may hang on a fault, and take the machine with it.
std::size_t cpu_among(const std::vector<DeviceInfo>& devices) {
  const auto found = std::ranges::find(devices, std::string("cpu"), &DeviceInfo::type);
  if (found == devices.end()) {
    throw Error(
        "choosing a device for faults: there is no Vulkan device of type cpu; faults may hang a GPU. "
        "Install Mesa's lavapipe (package mesa-vulkan-drivers)",
        ExitCode::NoDevice);
  }
  return static_cast<std::size_t>(found - devices.begin());
}

CaseOptions cases_of(const MutateOptions& options) {
  CaseOptions cases;
  cases.files = options.choice.cases;
  cases.op_folders = options.choice.op_folders();
  cases.mode = "accu";
  return cases;
}

/// Of all that decides a fault's answer: the faults, and every file that a shader may include.
std::string hash_of(std::span<const mutation::Fault> faults, const gpu::ShaderSources& sources) {
  Hasher hasher;
  for (const mutation::Fault& fault : faults) hasher.feed(fault.id + "\n");
  for (const std::string& name : sources.names()) hasher.feed(name + "\n" + sources.find(name).value().text);
  return hasher.result();
}

std::vector<FaultRecord> records_of(std::vector<mutation::Fault> faults,
                                    const std::vector<FaultResult>& known) {
  std::map<std::string, const FaultResult*> results;
  for (const FaultResult& result : known) results[result.id] = &result;
  std::vector<FaultRecord> records;
  for (mutation::Fault& fault : faults) {
    const auto found = results.find(fault.id);
    FaultResult result = found == results.end() ? FaultResult{.id = fault.id} : *found->second;
    records.push_back({std::move(fault), std::move(result)});
  }
  return records;
}

void list(std::span<const mutation::Fault> faults, std::ostream& out) {
  for (const mutation::Fault& fault : faults) out << fault.id << "  " << fault_text(fault) << '\n';
}

void write_matrix(const fs::path& folder, const FaultRun& run, std::span<const FaultRecord> records) {
  replace_file(folder / "kill_matrix.csv", kill_matrix_csv(records));
  replace_file(folder / "faults.md", faults_markdown(run, records));
}

void print_end(const fs::path& folder, std::span<const FaultRecord> records, std::ostream& out) {
  const FaultScore score = score_of(records);
  out << fmt::format(
      "score     {}; {} fragile, {} equivalent\n"
      "others    {} unchanged, {} do not compile, {} not run\n"
      "matrix    {}, {}\n",
      score_text(score), score.fragile, score.equivalent, score.unchanged, score.does_not_compile,
      score.not_run, (folder / "kill_matrix.csv").string(), (folder / "faults.md").string());
}

std::optional<FaultJournalContent> merged_shards(const MutateOptions& options, std::ostream& log) {
  if (options.merge.empty()) return std::nullopt;
  return merged_faults(options.merge, log);
}

/// A run of the command, from its options to its files.
class Mutation {
 public:
  Mutation(const MutateOptions& asked, const Context& context, const Terminal& terminal)
      : merged_(merged_shards(asked, terminal.log)),
        options_(with_resumed(asked, merged_)),
        context_(with_ops(context, options_.choice.op_folders())),
        terminal_(terminal),
        sources_(sources_of(options_)) {
    all_ = all_faults(sources_, shader_names(options_, sources_), options_.choice.shaders);
    if (!options_.choice.since.empty())
      changed_ = changed_since(options_.choice.since, options_.choice.folder);
    drawn_ = drawn_faults(all_, options_.choice, changed_);
    if (const fs::path file = list_of_equivalent_faults(options_); !file.empty())
      equivalent_ = read_equivalent_faults(file);
  }

  ExitCode run(const std::function<bool()>& stop_requested) {
    if (drawn_.empty()) terminal_.log << why_nothing_to_try(all_, options_.choice, changed_) << '\n';
    if (options_.only_list) {
      list(drawn_, terminal_.out);
      return ExitCode::Fine;
    }
    if (all_.empty()) return ExitCode::Usage;
    if (merged_) return merge();
    // A shard without a fault has a journal like the others: whoever merges names them all.
    if (drawn_.empty() && options_.choice.shard.empty()) return ExitCode::Fine;
    const CaseOptions cases = cases_of(options_);
    const LoadResult loaded = load_and_complain(cases, context_.registry, terminal_.errors);
    const gpu::Instance instance;
    const std::size_t device = cpu_among(instance.devices());
    const DeviceInfo& info = instance.devices()[device];
    const TrialRows rows(selected_cases(cases, loaded.cases), info);
    return run_on(device, info, rows, stop_requested);
  }

 private:
  /// Writes what the shards found as a run without shards would have. That run can be resumed.
  ExitCode merge() {
    if (merged_->run.sources != hash_of(all_, sources_)) {
      throw Error(
          "merging shards of assay mutate: the shaders are not those of the shards; use their binary, and "
          "with --shaders or --ops the folder as it was");
    }
    make_directories(options_.out);
    const FaultJournal journal(fault_journal_in(options_.out), *merged_);
    return finish(merged_->run, records_of(drawn_, merged_->results));
  }

  ExitCode run_on(std::size_t device, const DeviceInfo& info, const TrialRows& rows,
                  const std::function<bool()>& stop_requested) {
    FaultJournalContent content{.run = {.choice = options_.choice,
                                        .version = context_.build.version,
                                        .device = info.name,
                                        .driver = driver_of(info),
                                        .rows = rows.fingerprint(),
                                        .sources = hash_of(all_, sources_)},
                                .results = {}};
    if (!options_.resume.empty()) {
      FaultJournalContent before = read_fault_journal(fault_journal_in(options_.out));
      check_same_run(before.run, content.run);
      content.results = std::move(before.results);
    }
    make_directories(options_.out);
    FaultJournal journal(fault_journal_in(options_.out), content);
    std::vector<FaultRecord> records = records_of(drawn_, content.results);
    FaultCampaign({.options = options_,
                   .command = context_.trial_worker,
                   .device = device,
                   .rows = rows,
                   .sources = sources_,
                   .terminal = terminal_,
                   .stop_requested = stop_requested},
                  journal, records)
        .run();
    return finish(content.run, std::move(records));
  }

  ExitCode finish(const FaultRun& run, std::vector<FaultRecord> records) const {
    mark_equivalent(equivalent_, records);
    // With the embedded kernels that the folder of shaders replaces: entries about them are not stale.
    const std::vector<std::string> wrong = wrong_entries(equivalent_, all_, records, sources_.names());
    write_matrix(options_.out, run, records);
    print_end(options_.out, records, terminal_.out);
    for (const std::string& entry : wrong) terminal_.errors << "wrong: " << printable(entry) << '\n';
    const FaultScore score = score_of(records);
    if (!score.percent() && score.not_run > 0) {
      terminal_.errors << "no fault was tried: kill_matrix.csv says why\n";
      return ExitCode::Usage;
    }
    const bool enough = score.percent().value_or(100) >= options_.least;
    return enough && wrong.empty() ? ExitCode::Fine : ExitCode::Failures;
  }

  std::optional<FaultJournalContent> merged_;  ///< with --merge
  MutateOptions options_;
  Context context_;
  const Terminal& terminal_;
  gpu::ShaderSources sources_;
  std::vector<mutation::Fault> all_;
  std::optional<ChangedLines> changed_;  ///< with --since
  std::vector<mutation::Fault> drawn_;
  std::vector<EquivalentFault> equivalent_;
};

}  // namespace

ExitCode mutate(const MutateOptions& options, const Context& context, const Terminal& terminal,
                const std::function<bool()>& stop_requested) {
  return Mutation(options, context, terminal).run(stop_requested);
}

}  // namespace assay::app
