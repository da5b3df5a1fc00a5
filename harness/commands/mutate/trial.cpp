#include "harness/commands/mutate/trial.h"

#include "harness/base/clock.h"
#include "harness/commands/mutate/mutant.h"
#include "harness/engine/accuracy/accuracy.h"
#include "harness/engine/accuracy/experiment.h"
#include "harness/engine/run/outcome.h"
#include "harness/engine/run/row_program.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace assay::app {
namespace {

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
