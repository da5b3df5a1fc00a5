#include "harness/commands/mutate/trial.h"

#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/engine/accuracy/accuracy.h"
#include "harness/engine/accuracy/experiment.h"
#include "harness/engine/run/row_plan.h"
#include "harness/gpu/spirv/spirv_optimized.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <system_error>
#include <utility>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

/// Mutants are compiled once, so nothing of them is kept, but other shaders of the same programs come again.
constexpr std::size_t most_cached_files = 400;

fs::path overlay_of(const Mutant::Folders& folders) {
  return folders.scratch / "overlay";
}

/// The folders in which the mutant's sources are found.
std::vector<fs::path> places(const Mutant::Folders& folders) {
  std::vector<fs::path> all{overlay_of(folders)};
  if (!folders.shaders.empty()) all.push_back(folders.shaders);
  return all;
}

std::vector<fs::path> written(const Mutant::Folders& folders, const std::string& file,
                              const std::string& text) {
  const fs::path path = overlay_of(folders) / file;
  std::error_code ignored;
  fs::remove_all(overlay_of(folders), ignored);
  make_directories(path.parent_path());
  write_named_file(path, text);
  return places(folders);
}

fs::path cache_in(const fs::path& scratch) {
  fs::path cache = scratch / "spirv";
  std::error_code ignored;
  const auto files = std::distance(fs::directory_iterator(cache, ignored), fs::directory_iterator());
  if (static_cast<std::size_t>(files) > most_cached_files) fs::remove_all(cache, ignored);
  make_directories(cache);
  return cache;
}

/// The folders of a kernel from outside, before each the one of the overlay that stands for it.
std::vector<fs::path> overlaid(const Mutant::Folders& folders, const std::vector<fs::path>& brought) {
  std::vector<fs::path> all;
  for (const fs::path& folder : brought) {
    all.push_back(overlay_of(folders) / folder.lexically_relative(folders.shaders));
    all.push_back(folder);
  }
  return all;
}

constexpr std::size_t enough_kills = 2;
constexpr double between_signs_s = 1;
/// Data sets are dropped, all at once, when they are larger.
constexpr std::size_t most_data_bytes = std::size_t{400} << 20;

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::vector<std::filesystem::path> folders(const std::filesystem::path& folder) {
  if (folder.empty()) return {};
  return {folder};
}

std::size_t bytes_of(const DataSet& data) {
  std::size_t sum = 0;
  for (const HostTensor& input : data.inputs) sum += input.bytes().size();
  for (const Expected& expected : data.expected) sum += 4 * expected.values.bytes().size();
  return sum;
}

/// Whether nothing more can run on the device in this process.
bool lost(Status status) {
  return status == Status::Timeout || status == Status::DeviceLost;
}

}  // namespace

Mutant::Mutant(const Folders& folders, const std::string& file, const std::string& text,
               gpu::ShaderLibrary& without_fault)
    : folders_(folders),
      file_(overlay_of(folders) / file),
      without_fault_(without_fault),
      sources_(written(folders, file, text), gpu::embedded_shaders()),
      shaders_({.directories = places(folders), .cache_directory = cache_in(folders.scratch)}) {}

void Mutant::take_into(Program& program) const {
  for (Dispatch& dispatch : program.dispatches) {
    if (dispatch.external) dispatch.external->folders = overlaid(folders_, dispatch.external->folders);
  }
}

bool Mutant::uses_file(const ShaderVariant& variant) {
  const auto [place, is_new] = uses_file_.try_emplace(variant.shader, false);
  if (is_new) {
    const auto is_it = [&](const auto& entry) {
      return !entry.second.is_embedded && fs::path(entry.second.display).lexically_normal() == file_;
    };
    place->second =
        std::ranges::any_of(sources_.closure(variant.shader, overlaid(folders_, variant.folders)), is_it);
  }
  return place->second;
}

bool Mutant::differs(const ShaderVariant& variant) {
  if (!uses_file(variant)) return false;
  const auto known = differs_.find(variant);
  if (known != differs_.end()) return known->second;
  const std::vector<std::uint32_t>& before = compiled_without_fault(variant);
  const bool differs =
      gpu::without_debug_information(compiled(variant)) != gpu::without_debug_information(before);
  return differs_.emplace(variant, differs).first->second;
}

const std::vector<std::uint32_t>& Mutant::compiled(const ShaderVariant& variant) {
  return shaders_.compile(variant.shader, variant.defines, overlaid(folders_, variant.folders)).words;
}

/// An error here is no fault's.
const std::vector<std::uint32_t>& Mutant::compiled_without_fault(const ShaderVariant& variant) {
  try {
    return without_fault_.compile(variant.shader, variant.defines, variant.folders).words;
  } catch (const gpu::CompileError& error) {
    throw Error(
        fmt::format("trying faults: {} does not compile without any fault: {}", variant.shader, error.what()),
        ExitCode::Usage);
  }
}

bool Mutant::changes(const std::vector<ShaderVariant>& variants) {
  return std::ranges::any_of(variants, [&](const ShaderVariant& variant) { return differs(variant); });
}

bool Mutant::changes_optimized() {
  return std::ranges::any_of(differs_, [&](const auto& entry) {
    const auto& [variant, differs] = entry;
    const auto [place, is_new] = differs_optimized_.try_emplace(variant, false);
    if (differs && is_new) {
      // The optimizer does not know KHR's matrices.
      ShaderVariant known = variant;
      known.defines = without_khr_matrices(std::move(known.defines));
      place->second = gpu::optimized(compiled(known)) != gpu::optimized(compiled_without_fault(known));
    }
    return place->second;
  });
}

TrialBench::TrialBench(gpu::Device& device, std::span<const TrialRow> rows, const Parts& parts)
    : device_(device),
      rows_(rows),
      parts_(parts),
      answers_(parts.answers),
      without_fault_(
          {.directories = folders(parts.shaders), .cache_directory = gpu::default_cache_directory()}) {}

FaultResult TrialBench::run(const TrialRequest& request, const Listener& listener) {
  if (request.without_fault) return run_without_fault(request, listener);
  const double began = cpu_seconds();
  Mutant mutant({.scratch = parts_.scratch, .shaders = parts_.shaders}, request.file, request.text,
                without_fault_);
  FaultResult result;
  result.rows_left = request.rows.size();
  try {
    run_rows(request, mutant, listener, result);
    result.end = end_of(result, request, mutant, listener);
  } catch (const gpu::CompileError& error) {
    result.end = result.end_without_shader();
    result.why = result.end == FaultEnd::DoesNotCompile ? error.what() : "";
  }
  result.cpu_s = cpu_seconds() - began;
  return result;
}

void TrialBench::run_rows(const TrialRequest& request, Mutant& mutant, const Listener& listener,
                          FaultResult& result) {
  for (const std::size_t row : request.rows) {
    if (result.kills.size() >= enough_kills || result.rows_ran >= request.most_rows || is_lost_) return;
    --result.rows_left;
    if (!changes(mutant, row, listener) || unfit_.contains(row)) continue;
    listener.begin(row);
    const std::optional<Kill> kill = killed_by(row, mutant);
    if (!unfit_.contains(row)) ++result.rows_ran;
    if (kill) {
      result.kills.push_back(*kill);
      listener.killed(row, *kill);
    }
    listener.end();
  }
}

FaultEnd TrialBench::end_of(FaultResult& result, const TrialRequest& request, Mutant& mutant,
                            const Listener& listener) {
  if (!result.kills.empty()) return FaultEnd::Killed;
  const auto looked_at = std::span(request.rows).first(request.rows.size() - result.rows_left);
  if (!changes_some_of(mutant, std::span(request.rows).last(result.rows_left), listener))
    return FaultEnd::Unchanged;
  const auto is_unfit = [this](std::size_t row) { return unfit_.contains(row); };
  if (result.rows_ran > 0 || std::ranges::none_of(looked_at, is_unfit)) return FaultEnd::Survived;
  result.why = "the rows that use it do not pass without the fault, either";
  return FaultEnd::NotRun;
}

/// A crash or a hang in a row is a kill only if the same row passes without the fault, in a process of its
/// own.
FaultResult TrialBench::run_without_fault(const TrialRequest& request, const Listener& listener) {
  FaultResult result{.end = FaultEnd::Survived};
  for (const std::size_t row : request.rows) {
    listener.begin(row);
    ++result.rows_ran;
    if (answer_of(row, nullptr).status != Status::Pass) result.end = FaultEnd::NotRun;
    listener.end();
  }
  return result;
}

/// Whether the fault changes the optimized SPIR-V of a row that ran, or of one of these.
bool TrialBench::changes_some_of(Mutant& mutant, std::span<const std::size_t> left,
                                 const Listener& listener) {
  if (mutant.changes_optimized()) return true;
  return std::ranges::any_of(
      left, [&](std::size_t row) { return changes(mutant, row, listener) && mutant.changes_optimized(); });
}

bool TrialBench::changes(Mutant& mutant, std::size_t row, const Listener& listener) {
  if (steady_seconds() - told_s_ > between_signs_s) {
    listener.goes_on();
    told_s_ = steady_seconds();
  }
  return mutant.changes(rows_[row].variants);
}

std::optional<Kill> TrialBench::killed_by(std::size_t row, Mutant& mutant) {
  const Answer answer = answer_of(row, &mutant);
  is_lost_ = lost(answer.status);
  if (answer.status == Status::Pass) return std::nullopt;
  const bool kills = is_lost_ || (passes_without_fault(row) && answer.status == Status::Fail);
  if (!kills) return std::nullopt;
  return Kill{rows_[row].test_case->id, answer.how, answer.word};
}

TrialBench::Answer TrialBench::answer_of(std::size_t row, Mutant* mutant) {
  Answer answer;
  const auto failure = outcome_of([&] { answer = assessed(rows_[row], mutant); });
  if (failure) answer = {failure->status, std::string(name_of(failure->status)) + " " + failure->reason, ""};
  return answer;
}

TrialBench::Answer TrialBench::assessed(const TrialRow& row, Mutant* mutant) {
  const Case& test_case = *row.test_case;
  RowProgram made = row_program(test_case, device_.info());
  if (mutant != nullptr) mutant->take_into(*made.program);
  gpu::ShaderLibrary& shaders = mutant == nullptr ? without_fault_ : mutant->shaders();
  Data& data = data_for(test_case);
  Experiment experiment(device_, shaders, test_case, *made.program, *data.packed);
  const AccuracyOutcome outcome =
      assess(experiment, test_case, data.set, acceptances(test_case, data.set, made.unit_error));
  return {outcome.status, outcome.result.metric,
          outcome.result.diagnosis ? outcome.result.diagnosis->word : std::string()};
}

TrialBench::Data& TrialBench::data_for(const Case& test_case) {
  const auto found = data_.find(test_case.data_key);
  if (found != data_.end()) return *found->second;
  if (data_bytes_ > most_data_bytes) {
    data_.clear();
    data_bytes_ = 0;
  }
  auto data = std::make_unique<Data>(Data{make_data_set(test_case, &answers_), {}});
  data->packed.emplace(data->set.inputs);
  data_bytes_ += bytes_of(data->set);
  return *data_.emplace(test_case.data_key, std::move(data)).first->second;
}

bool TrialBench::passes_without_fault(std::size_t row) {
  const Answer answer = answer_of(row, nullptr);
  if (answer.status == Status::Pass) {
    passed_.insert(row);
    return true;
  }
  is_lost_ = is_lost_ || lost(answer.status);
  if (passed_.contains(row)) throw DamagedProcess(rows_[row].test_case->id);
  unfit_.insert(row);
  return false;
}

}  // namespace assay::app
