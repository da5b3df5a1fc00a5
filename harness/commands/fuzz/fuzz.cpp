#include "harness/commands/fuzz/fuzz.h"

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/cases/select.h"
#include "harness/commands/context.h"
#include "harness/commands/fuzz/shrink.h"
#include "harness/commands/points/random_point.h"
#include "harness/commands/points/written_cases.h"
#include "harness/commands/run/run_once.h"
#include "harness/commands/run/setup/engine_options.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/run/planned_rows.h"
#include "harness/engine/run/row_plan.h"
#include "harness/engine/run/run_info.h"
#include "harness/gpu/gpu.h"
#include "harness/gpu/shaders/shader_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <limits>
#include <map>
#include <ostream>
#include <random>
#include <set>
#include <system_error>
#include <utility>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

/// The points of one op in a file, and where each is among all.
struct OpFile {
  std::vector<Case> cases;
  std::vector<std::size_t> places;
};

std::map<std::string, OpFile> by_op(std::span<const Case> points) {
  std::map<std::string, OpFile> files;
  for (std::size_t i = 0; i < points.size(); ++i) {
    OpFile& file = files[points[i].op->name];
    file.cases.push_back(points[i]);
    file.places.push_back(i);
  }
  return files;
}

/// Whether the op's reference refuses the point's data. Another error of it, such as an exception of a
/// reference in Python, is a failure.
bool is_refused(const Case& point) try {
  make_data_set(point);
  return false;
} catch (const ParameterError&) {
  return true;
} catch (const std::exception&) {
  return false;
}

// Compiling a variant of a kernel takes about a second on a CPU, running it at one more point milliseconds.
constexpr std::size_t variants_of_a_batch = 6;
constexpr std::size_t points_of_a_variant = 12;

std::uint64_t drawn_seed() {
  std::random_device device;
  return std::uint64_t{device()} | 1;
}

/// The name by which a shader is found: a kernel's file name, an include's path.
std::string sought_name(const fs::path& path) {
  return gpu::is_kernel(path) ? path.filename().string() : path.generic_string();
}

/// Whether one of the files has the name of one of assay's own shaders.
bool replace_any(const std::set<std::string>& files) {
  std::set<std::string> own;
  for (const gpu::EmbeddedSource& source : gpu::embedded_shaders()) own.insert(sought_name(source.name));
  return std::ranges::any_of(files, [&](const std::string& file) { return own.contains(sought_name(file)); });
}

/// Throws Error(Usage) for a folder of shaders none of which replaces one of assay's: the embedded ones would
/// be fuzzed instead. Looks at names alone: which files can be read, and which of two kernels of one name is
/// meant, matters only for kernels that run. Which files the kernels of manifests use is known once points
/// are drawn.
void refuse_useless_shaders(const FuzzOptions& options) {
  constexpr std::size_t most_named = 12;
  if (options.shaders.empty() || !options.op_folders.empty()) return;
  const std::set<std::string> found = gpu::ShaderSources({options.shaders}, {}).names_in_directories();
  if (replace_any(found)) return;
  const std::vector<std::string> names(found.begin(), found.end());
  throw Error(fmt::format(
      "taking shaders from --shaders '{}': none of its files replaces one of assay's. It holds: {}; a kernel "
      "is found by its file name in any folder, an include by its path, as below shaders/ of the source tree",
      options.shaders.string(), names.empty() ? "no shaders" : first_names(names, most_named)));
}

/// Whether a point ran to an end.
bool has_ended(Status status) {
  return status != Status::Missing && status != Status::Interrupted;
}

/// A failure as it was found, and the file with its case.
struct Found {
  Case point;
  PointEnd end;
  fs::path file;
  std::size_t points = 0;  ///< that had ended, with all of its batch
  double seconds = 0;      ///< since the beginning
};

class Fuzzing {
 public:
  Fuzzing(const FuzzOptions& options, const Context& context, const Terminal& terminal,
          const std::function<bool()>& stop_requested)
      : options_(options),
        terminal_(terminal),
        stop_requested_(stop_requested),
        context_(with_ops(context, options.op_folders)),
        ops_(ops_to_fuzz(options, context_.registry)),
        seed_(options.seed.value_or(drawn_seed())),
        folder_(options.out / new_run_id()),
        draw_(seed_),
        runs_(options, context_, terminal, folder_ / "runs") {}

  ExitCode run() {
    terminal_.log << fmt::format("fuzz: {} {}, seed {}\n", ops_.size(), ops_.size() == 1 ? "op" : "ops",
                                 seed_);
    while (!must_stop() && (kinds_.empty() || options_.keep_going)) {
      const std::vector<Case> batch = drawn_batch();
      if (batch.empty()) break;
      const auto ends = runs_.run(batch, [this] { return must_stop(); });
      for (std::size_t i = 0; i < batch.size(); ++i) {
        if (ends[i]) note(batch[i], *ends[i]);
      }
      for (Found& found : new_) {
        found.points = points();
        found.seconds = watch_.s();
      }
      shrink_new();
    }
    const bool is_about_shaders = options_.shaders.empty() || runs_.used_shaders();
    if (!is_about_shaders && points() > 0) terminal_.log << unused_shaders_line();
    terminal_.out << summary();
    if (!kinds_.empty()) return ExitCode::Failures;
    const bool showed_something = ended_.contains(Status::Pass) && is_about_shaders;
    return showed_something || is_stopped() ? ExitCode::Fine : ExitCode::Usage;
  }

 private:
  bool is_stopped() const { return stop_requested_ && stop_requested_(); }
  bool must_stop() const { return is_stopped() || watch_.s() > options_.seconds; }

  /// Points of the next ops in turn; none if enough are drawn.
  std::vector<Case> drawn_batch() {
    std::vector<Case> batch;
    for (std::size_t i = 0; i < variants_of_a_batch && batch.size() < points_left(); ++i) {
      const RandomPoints points(next_op());
      const std::optional<Case> base = points.next(draw_);
      if (!base) continue;
      batch.push_back(*base);
      for (std::size_t n = 1; n < points_of_a_variant; ++n) {
        if (std::optional<Case> made = points.sibling(*base, draw_)) batch.push_back(*std::move(made));
      }
    }
    if (batch.size() > points_left())
      batch.erase(batch.begin() + static_cast<std::ptrdiff_t>(points_left()), batch.end());
    drawn_ += batch.size();
    return batch;
  }

  std::size_t points_left() const {
    return options_.points.value_or(std::numeric_limits<std::size_t>::max()) - drawn_;
  }

  const Op& next_op() {
    if (turn_ % ops_.size() == 0) draw_.shuffle(ops_);
    return *ops_[turn_++ % ops_.size()];
  }

  void note(const Case& point, const PointEnd& end) {
    if (!has_ended(end.status)) return;
    ++ended_[end.status];
    if (!end.is_failure()) return;
    const std::string kind =
        fmt::format("{} {} {} {}", point.op->name, point.impl->name, name_of(end.status), end.metric);
    if (kinds_[kind]++ > 0) return;
    // Written before it is shrunk, which may take long and be stopped.
    const Found found{point, end, folder_ / fmt::format("{}_{}.yaml", point.op->name, ++files_)};
    write(found, point);
    new_.push_back(found);
  }

  void shrink_new() {
    for (const Found& found : std::exchange(new_, {})) show(found);
  }

  void show(const Found& found) {
    const std::string impl = fmt::format("{} {}", found.point.op->name, found.point.impl->name);
    const std::string what = indented(printable(found.end.what), 2);  // a compiler's errors have lines
    terminal_.out << fmt::format("{} {}: {}", name_of(found.end.status), printable(impl), what) << std::endl;
    if (is_stopped()) {
      terminal_.out << fmt::format("  not shrunk\n  again   {}\n", command(found.file)) << std::endl;
      return;
    }
    const Stopwatch watch;
    const StillFails still_fails = [&](std::span<const Case> cases) {
      return fails_like(found, cases, [&] { return is_stopped() || watch.s() > options_.shrink_seconds; });
    };
    const Shrunk shrunk =
        shrink(found.point, still_fails, [&] { return is_stopped() || watch.s() > options_.shrink_seconds; });
    write(found, shrunk.smallest);
    terminal_.out << fmt::format("  found after {} and {:.0f} s, shrunk by {} to\n\n{}\n  again   {}\n",
                                 counted(found.points, "point"), found.seconds, counted(shrunk.tried, "case"),
                                 short_case_file(shrunk.smallest, "fuzzed"), command(found.file))
                  << std::endl;
  }

  std::vector<bool> fails_like(const Found& found, std::span<const Case> cases,
                               const std::function<bool()>& must_stop) {
    std::vector<bool> fails;
    for (const std::optional<PointEnd>& end : runs_.run(cases, must_stop))
      fails.push_back(end && end->is_like(found.end));
    return fails;
  }

  /// Replaces the file of a failure by a case that fails like it.
  void write(const Found& found, const Case& one) const {
    const std::string& metric = found.end.metric;
    const std::string comment = fmt::format("# assay fuzz, seed {}: {}{}{}\n", seed_,
                                            name_of(found.end.status), metric.empty() ? "" : " ", metric);
    replace_file(found.file, comment + short_case_file(one, "fuzzed"));
  }

  std::string command(const fs::path& file) const {
    std::string text = fmt::format("assay run {}", shell_word(file.string()));
    if (!options_.shaders.empty()) text += " --shaders " + shell_word(options_.shaders.string());
    for (const fs::path& folder : options_.op_folders) text += " --ops " + shell_word(folder.string());
    if (!options_.device.empty()) text += " --device " + shell_word(options_.device);
    return text;
  }

  std::string unused_shaders_line() const {
    return printable_line(fmt::format("fuzz: no point used a file of --shaders '{}', so that nothing is "
                                      "known of these: name ops that "
                                      "run them, or give more --seconds or --points",
                                      options_.shaders.string())) +
           '\n';
  }

  std::string summary() const {
    std::string statuses;
    for (const auto& [status, count] : ended_) {
      statuses += fmt::format("{}{} {}", statuses.empty() ? "" : ", ", count, name_of(status));
    }
    const std::string found = kinds_.empty() ? "no failure"
                                             : fmt::format("{} of {}", counted(failures(), "failure"),
                                                           counted(kinds_.size(), "kind"));
    const std::string device = runs_.device().empty() ? "" : " on " + runs_.device();
    return fmt::format("fuzz: {}{} in {:.0f} s, seed {}: {} ({})\n", counted(points(), "point"), device,
                       watch_.s(), seed_, found, statuses.empty() ? "none ran" : statuses);
  }

  static std::string counted(std::size_t count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  }

  /// That have ended.
  std::size_t points() const {
    std::size_t sum = 0;
    for (const auto& [status, count] : ended_) sum += count;
    return sum;
  }

  std::size_t failures() const {
    std::size_t sum = 0;
    for (const auto& [kind, count] : kinds_) sum += count;
    return sum;
  }

  const FuzzOptions& options_;
  const Terminal& terminal_;
  const std::function<bool()>& stop_requested_;
  const Context context_;
  std::vector<const Op*> ops_;
  std::uint64_t seed_;
  fs::path folder_;
  Draw draw_;
  PointRuns runs_;
  Stopwatch watch_;
  std::map<Status, std::size_t> ended_;
  std::map<std::string, std::size_t> kinds_;  ///< of failures: by op, impl, status and metric
  std::vector<Found> new_;                    ///< the first of each kind, not yet shrunk
  std::size_t drawn_ = 0;                     ///< points
  std::size_t turn_ = 0;                      ///< ops that were drawn from
  std::size_t files_ = 0;
};

}  // namespace

std::vector<const Op*> ops_to_fuzz(const FuzzOptions& options, const Registry& registry) {
  refuse_unknown_ops(options.ops, registry, "choosing the ops to fuzz");
  const auto is_chosen = [&](const Op& op) {
    const auto matches = [&](const std::string& pattern) { return glob_matches(pattern, op.name); };
    if (!options.ops.empty()) return std::ranges::any_of(options.ops, matches);
    return options.op_folders.empty() || !op.declared_in.empty();
  };
  std::vector<const Op*> chosen;
  for (const Op& op : registry.ops()) {
    if (is_chosen(op) && !op.answers_of_case) chosen.push_back(&op);
  }
  if (!chosen.empty()) return chosen;
  throw Error(
      "choosing the ops to fuzz: each case of these ops brings its answers, so that no other point can be "
      "judged; name another op");
}

PointEnd end_of(const Record& record, const Case& point) {
  PointEnd end{.status = record.status, .metric = {}, .what = record.reason};
  if (record.accuracy) {
    end.metric = record.accuracy->metric;
  } else if (record.status == Status::Fail && is_refused(point)) {
    end.status = Status::Invalid;
  }
  return end;
}

bool PointEnd::is_failure() const {
  // A row that a trivial answer would pass shows nothing about the kernel.
  const bool says_nothing = status == Status::Mistrusted || !has_ended(status);
  return class_of(status) != StatusClass::Fine && !says_nothing;
}

PointRuns::PointRuns(const FuzzOptions& options, const Context& context, const Terminal& terminal,
                     fs::path folder)
    : options_(options), context_(context), terminal_(terminal), folder_(std::move(folder)) {
  make_directories(folder_);
}

PointRuns::~PointRuns() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  fs::remove(folder_.parent_path(), ignored);  // only if it is empty: nothing was found
}

std::vector<std::string> PointRuns::words(const std::vector<fs::path>& files) const {
  std::vector<std::string> words{"assay", "run"};
  for (const fs::path& file : files) words.push_back(file.string());
  const auto add = [&](const char* option, std::string value) {
    words.emplace_back(option);
    words.push_back(std::move(value));
  };
  add("--mode", "accu");
  add("--tuning", "none");        // a found case must fail the same way on another device
  add("--answer-cache", "none");  // no point is drawn twice
  add("--out", (folder_ / "run").string());
  words.emplace_back("--overwrite");
  add("--hang-limit", fmt::format("{}", options_.hang_limit_s));
  if (!options_.device.empty()) add("--device", options_.device);
  for (const fs::path& folder : options_.op_folders) add("--ops", folder.string());
  if (!options_.shaders.empty()) add("--shaders", options_.shaders.string());
  return words;
}

RunReport PointRuns::report_of(const std::vector<std::string>& words,
                               const std::function<bool()>& must_stop) const try {
  return quiet_run({.purpose = "fuzzing",
                    .memory_limit_gib = options_.memory_limit_gib,
                    .verbose = options_.verbose,
                    .may_leave_shaders_unused = true},
                   words, context_, terminal_, must_stop);
} catch (const Error&) {
  if (must_stop()) return {};  // a run that ends before it has a device is an error
  throw;
}

/// Every point runs a few kernels; once some point has used the folder, it is known to matter.
void PointRuns::note_used_shaders(const PlannedGroup& points, const DeviceInfo& device) {
  if (options_.shaders.empty() || used_shaders_) return;
  const std::set<gpu::KernelName> kernels = kernels_of(std::span(&points, 1), device);
  used_shaders_ = !files_used(options_.shaders, kernels, false).used.empty();
}

std::vector<std::optional<PointEnd>> PointRuns::run(std::span<const Case> points,
                                                    const std::function<bool()>& must_stop) {
  std::vector<std::optional<PointEnd>> ends(points.size());
  std::map<std::pair<std::string, std::string>, std::pair<std::size_t, Case>> known;  // by op and name
  std::vector<fs::path> files;
  for (const auto& [op, file] : by_op(points)) {
    const fs::path path = folder_ / (op + ".yaml");
    const Candidates candidates(context_.registry, path);
    std::vector<Case> valid;
    std::vector<std::size_t> places;
    for (const Candidates::Loaded& one : candidates.valid(file.cases)) {
      valid.push_back(file.cases[one.number]);
      places.push_back(file.places[one.number]);
    }
    const std::vector<Case> kept = candidates.keep(valid, "point");
    for (std::size_t i = 0; i < kept.size(); ++i) known[{op, kept[i].name}] = {places[i], kept[i]};
    if (!kept.empty()) files.push_back(path);
  }
  if (files.empty()) return ends;
  const RunReport report = report_of(words(files), must_stop);
  if (!report.run.device.name.empty()) device_ = report.run.device.name;
  PlannedGroup ran;
  for (const Record& record : report.records) {
    const auto& [place, point] = known.at({record.info.op, record.info.name});
    ends[place] = end_of(record, point);
    if (has_ended(record.status)) ran.push_back({.test_case = &point});
  }
  note_used_shaders(ran, report.run.device);
  return ends;
}

ExitCode fuzz(const FuzzOptions& options, const Context& context, const Terminal& terminal,
              const std::function<bool()>& stop_requested) {
  refuse_useless_shaders(options);
  return Fuzzing(options, context, terminal, stop_requested).run();
}

}  // namespace assay::app
