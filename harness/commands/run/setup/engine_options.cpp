#include "harness/commands/run/setup/engine_options.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/report/record/events.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <thread>
#include <vector>

namespace assay::app {
namespace {

constexpr std::size_t most_named = 12;

std::vector<std::string> names_of(const std::set<gpu::KernelName>& kernels) {
  std::set<std::string> names;
  for (const auto& [name, folders] : kernels) names.insert(name);
  return {names.begin(), names.end()};
}

/// The shaders that the harness runs in addition to the rows' programs.
std::set<std::string> shaders_of_harness(const gpu::ShaderLibrary& library, bool timed) {
  std::set<std::string> names{"poison.comp", "difference.comp"};
  if (!timed) return names;
  names.insert("clock_probe.comp");
  for (const std::string& path : library.names()) {
    if (path.starts_with("ceilings/")) names.insert(path);
  }
  return names;
}

void check_folder(const std::string& option, const std::filesystem::path& folder,
                  const std::set<gpu::KernelName>& kernels, bool timed, std::ostream& log) {
  const gpu::Overrides found = files_used(folder, kernels, timed);
  if (found.used.empty()) {
    throw Error(fmt::format(
        "taking shaders from {} '{}': none of its files is used. It holds: {}. The selected cases run: {}, "
        "and their includes; a kernel is found by its file name in any folder, an include by its path, as "
        "below shaders/ of the source tree",
        option, folder.string(), found.unused.empty() ? "no shaders" : first_names(found.unused, most_named),
        first_names(names_of(kernels), most_named)));
  }
  log << printable(fmt::format(
      "shaders   from '{}': {}{}\n", folder.string(), fmt::join(found.used, ", "),
      found.unused.empty() ? "" : fmt::format("; not used: {}", first_names(found.unused, most_named))));
}

/// Minimum number of blocks per row. Two runs of one program must not look different: with 7 blocks per side,
/// the medians of equal programs differ by more than all blocks of either side once in about ten thousand
/// rows, with 5 blocks once in a few hundred.
constexpr int standard_blocks = 7;

/// Minimum number of blocks per compared row: the interval of the ratio then covers 97.9 % (93 to 98 % with
/// more). With 5 blocks it would cover 93.8 %, and one in 16 comparisons of equal programs would show a
/// difference.
constexpr int compared_blocks = 10;

/// The scatter of clock probes during one row on an otherwise idle CPU.
constexpr double cpu_clock_tolerance = 0.15;

/// Length of a GPU's samples: long compared with the host's cost of a submission, so that most of a run is
/// measured, and hundreds of the shortest programs.
constexpr double gpu_sample_ns = 2e6;

std::optional<std::string> name_of_folder(const std::filesystem::path& folder) {
  return folder.empty() ? std::nullopt : std::optional(folder.string());
}

SamplingOptions sampling_options(const RunOptions& options, const DeviceInfo& device) {
  const bool compares = !options.versus_shaders.empty() || !options.rows.baseline_impl.empty();
  SamplingOptions sampling;
  sampling.budget_s = options.rows.budget_s;
  sampling.min_blocks = compares ? compared_blocks : standard_blocks;
  sampling.shuffle_seed = options.cases.seed.value_or(0);
  if (device.is_cpu()) {
    sampling.most_heat_s = sampling.least_heat_s;
    sampling.own_clock_tolerance = cpu_clock_tolerance;
  } else {
    sampling.sample_target_ns = gpu_sample_ns;
    sampling.readings_between = 1;
  }
  return sampling;
}

/// Options that a repro line must repeat to get the same device and data; the row adds its folder of shaders.
std::string repro_options(const RunOptions& options) {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : " ") + words; };
  for (const std::string& device : options.devices) add(fmt::format("--device '{}'", device));
  if (!options.as_if.empty()) add("--as-if " + shell_word(options.as_if));
  if (options.tuning != RunOptions{}.tuning) add("--tuning " + shell_word(options.tuning));
  if (options.cases.seed) add(fmt::format("--seed {}", *options.cases.seed));
  for (const std::filesystem::path& folder : options.cases.op_folders)
    add("--ops " + shell_word(folder.string()));
  for (const std::string& value : options.cases.values) add("--set " + shell_word(value));
  if (options.rows.replays > 0) add(fmt::format("--replay {}", options.rows.replays));
  if (options.cases.nodes) add("--nodes");
  if (!options.cases.times.empty()) add(fmt::format("--times '{}'", options.cases.times.string()));
  if (options.validation) add("--validation");
  if (options.robust_access) add("--robust-access");
  return text;
}

}  // namespace

gpu::ShaderOptions shader_options(const std::filesystem::path& folder,
                                  const std::vector<std::string>& compiler, SpirvOnDisk on_disk) {
  gpu::ShaderOptions options{.cache_directory = {}, .compiler = compiler};
  if (on_disk == SpirvOnDisk::Shared) options.cache_directory = gpu::default_cache_directory();
  if (!folder.empty()) options.directories.push_back(folder);
  return options;
}

gpu::Overrides files_used(const std::filesystem::path& folder, const std::set<gpu::KernelName>& kernels,
                          bool timed) {
  const gpu::ShaderLibrary library({.directories = {folder}, .cache_directory = {}});
  std::vector<gpu::KernelName> wanted(kernels.begin(), kernels.end());
  for (const std::string& name : shaders_of_harness(library, timed)) wanted.push_back({name, {}});
  return library.overrides(wanted);
}

void check_shader_folders(const RunOptions& options, const std::set<gpu::KernelName>& kernels, bool timed,
                          std::ostream& log) {
  if (kernels.empty()) return;
  if (!options.shaders.empty()) check_folder("--shaders", options.shaders, kernels, timed, log);
  if (!options.versus_shaders.empty())
    check_folder("--versus-shaders", options.versus_shaders, kernels, false, log);
}

std::vector<PlannedGroup> planned_groups(const RunOptions& options, std::span<const Case* const> cases) {
  std::vector<PlannedGroup> groups =
      plan_rows(cases, options.cases.selection().mode, !options.versus_shaders.empty());
  if (options.versus_alone) groups = versus_rows_alone(groups, options.rows.baseline_impl);
  std::size_t rows = 0;
  for (const PlannedGroup& group : groups) rows += group.size();
  if (rows > most_rows_of_a_run) {
    throw Error(
        fmt::format("planning the run: the selected cases have {} rows, and a run has at most {}; select "
                    "fewer, for instance by --filter, --op or case files",
                    rows, most_rows_of_a_run));
  }
  return groups;
}

RowNames row_names(const RunOptions& options) {
  return {name_of_folder(options.shaders), name_of_folder(options.versus_shaders)};
}

DeviceRunOptions engine_options(const RunOptions& options, const gpu::Instance& instance,
                                const DeviceInfo& device, const std::function<bool()>& stop_requested) {
  DeviceRunOptions made{.rows = options.rows};
  made.mode = options.cases.selection().mode;
  made.names = row_names(options);
  made.sampling = sampling_options(options, device);
  made.preparing_threads = preparing_threads(options, options.jobs);
  made.stop_requested = stop_requested;
  if (options.validation) {
    made.validation_messages = [&instance] { return instance.validation_messages(); };
    made.validation_texts = [&instance](std::int64_t after) { return instance.validation_texts(after); };
  }
  return made;
}

int preparing_threads(const RunOptions& options, int jobs) {
  if (options.validation) return 0;  // its messages must belong to the running row
  if (options.preparing_threads) return *options.preparing_threads;
  const int all = jobs > 0 ? jobs : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, all - 1);
}

AnswerCacheOptions answer_cache_options(const RunOptions& options, const BuildInfo& build) {
  AnswerCacheOptions made{.directory = {}, .reference_code = build.reference_code};
  const bool is_known = !build.reference_code.empty() && !build.version.ends_with("-dirty");
  if (!is_known || options.answer_cache == "none") return made;
  made.directory =
      options.answer_cache.empty() ? default_answer_directory() : std::filesystem::path(options.answer_cache);
  return made;
}

std::vector<std::string> shader_compiler(const RunOptions& options, const Context& context) {
  return options.attempt.compiles_here ? std::vector<std::string>{} : context.shader_compiler;
}

RunSettings run_settings(const RunOptions& options, const Context& context, const std::string& run_id) {
  return {.run_id = run_id,
          .version = context.build.version,
          .compiler = context.build.compiler,
          .build_type = context.build.build_type,
          .command = context.command_line,
          .seed = options.cases.seed.value_or(0),
          .validation = options.validation,
          .robust_access = options.robust_access,
          .repro_options = repro_options(options)};
}

}  // namespace assay::app
