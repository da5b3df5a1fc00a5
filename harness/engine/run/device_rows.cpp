#include "harness/engine/run/device_rows.h"

#include "harness/base/hash.h"
#include "harness/engine/accuracy/accuracy.h"
#include "harness/engine/accuracy/chain_check.h"
#include "harness/engine/accuracy/data_set.h"
#include "harness/engine/accuracy/dump.h"
#include "harness/engine/accuracy/experiment.h"
#include "harness/engine/accuracy/experiment_memory.h"
#include "harness/engine/accuracy/replay.h"
#include "harness/engine/run/row_plan.h"
#include "harness/engine/timing/measurement.h"
#include "harness/report/record/record.h"
#include "harness/report/record/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace assay {
namespace {

std::size_t bytes_of(std::span<const HostTensor> tensors) {
  std::size_t sum = 0;
  for (const HostTensor& tensor : tensors) sum += tensor.bytes().size();
  return sum;
}

std::size_t bytes_of(const Expected& expected) {
  return expected.values.bytes().size() + expected.bound.size() * sizeof(float) +
         (expected.magnitude.size() + expected.sums.size()) * sizeof(float) +
         expected.unrounded.size() * sizeof(double) + expected.kept.size();
}

ChainStep step_of(const chain::PlannedChain& planned, const chain::Step& step) {
  ChainStep made{
      .name = step.name, .op = step.op->name, .impl = step.impl->name, .is_transition = step.is_transition};
  for (std::size_t i = 0; i < step.specs.size(); ++i) {
    if (step.specs[i].constant) continue;
    (step.specs[i].is_input() ? made.reads : made.writes)
        .push_back(name_of(planned.plan, planned.resolved, step.values[i]));
  }
  return made;
}

/// Equal texts mean equal plans.
std::string text_of(const chain::PlannedChain& planned) {
  std::string text;
  for (const chain::Step& step : planned.plan.steps) {
    text += fmt::format("{} {} {} {}", step.name, step.op->name, step.impl->name, step.params.canonical());
    for (const std::size_t value : step.values) text += " " + name_of(planned.plan, planned.resolved, value);
    text += '\n';
  }
  return text;
}

/// Tensors that are smaller in total go through the host: kernels on the device would cost more than they
/// save, unless the tensors are needed again for every block.
constexpr std::uint64_t worth_keeping_bytes = std::uint64_t{1} << 20;

std::uint64_t bytes_of_tensors(const Case& test_case) {
  std::uint64_t sum = 0;
  for (const Physical& physical : physical_tensors(test_case))
    sum += static_cast<std::uint64_t>(physical.bytes());
  return sum;
}

/// Makes originals of a row's tensors with these inputs; null when everything is to go through the host.
std::unique_ptr<Originals> originals_for(const DeviceRow& row, PackedInputs& inputs, DeviceContext& context) {
  const std::uint64_t bytes = bytes_of_tensors(row.test_case());
  const bool is_small = row.plan().mode == Mode::Accu && bytes < worth_keeping_bytes;
  if (bytes > context.kept.limit || is_small) return nullptr;
  try {
    return std::make_unique<Originals>(context.device, context.memory(), row.test_case(), inputs);
  } catch (const gpu::OutOfMemory&) {
    return nullptr;
  }
}

/// Lets an experiment that waits to be timed keep its originals if there is room for them.
void keep_originals(Experiment& experiment, DeviceContext& context) {
  const Originals* kept = experiment.originals();
  if (kept != nullptr && !context.kept.take(kept->memory_bytes())) experiment.take_originals().reset();
}

/// Checks the answer of a row, node by node if its op is a chain.
AccuracyOutcome assessment_of(Experiment& experiment, const DeviceRow& row, const DataSet& data,
                              DeviceContext& context) {
  const Case& test_case = row.test_case();
  if (const auto& planned = row.program->chain) {
    return assess_chain(experiment, context.device, context.shaders_of(row.plan()), test_case, *planned,
                        data);
  }
  return assess(experiment, test_case, data, acceptances(test_case, data, row.unit_error));
}

/// The result of running a row of mode perf on data of the run's secret seed.
struct SecretRun {
  std::optional<Outcome> wrong;  ///< FAIL: right on its own data, wrong on the secret data
  JudgedRun timed;               ///< otherwise; empty if the run or the case has no secret data
};

/// Checks a row that is right on its own data on the first or second data set of the secret seed.
/// Requirements that a case's seed was chosen to meet (ties, a case that can fail) do not apply to the secret
/// data. Throws as judge_row() does.
SecretRun run_on_secret_data(const DeviceRow& row, std::size_t which, DeviceContext& context) {
  const std::optional<std::uint64_t> seed = context.options.secret_seed;
  const Case& test_case = row.test_case();
  if (!seed || !has_secret_data(test_case)) return {};
  context.device.tell_phase(Phase::Reference);
  RowGroup::SecretData& secret = row.group->secret_for(test_case, *seed, which);
  const DataSet& data = *secret.data;
  context.device.tell_phase(Phase::Host);
  PackedInputs& inputs = *secret.packed;
  auto experiment = std::make_unique<Experiment>(context.device, context.shaders_of(row.plan()), test_case,
                                                 *row.program, inputs, originals_for(row, inputs, context));
  const AccuracyOutcome assessment = assessment_of(*experiment, row, data, context);
  experiment->release();
  if (assessment.status != Status::Fail) return {{}, {std::move(experiment), assessment.outputs}};
  const std::string kind = diagnosis_text(assessment.result);
  return {
      .wrong = Outcome{Status::Fail,
                       fmt::format("right on the case's own data, wrong on data of a seed that it could not "
                                   "know (--secret-seed {}): {}{}{}",
                                   *seed, assessment.reason, kind.empty() ? "" : "; ", kind)},
      .timed = {}};
}

/// Checks the answer; an attached debugger captures the row's runs.
AccuracyOutcome captured_assessment(Experiment& experiment, const DeviceRow& row, const DataSet& data,
                                    DeviceContext& context) {
  const gpu::DebuggerCapture capture;
  return assessment_of(experiment, row, data, context);
}

/// Runs a judged row again and again (--replay). Returns what is wrong with that, in addition to what the row
/// failed with. A chain is judged node by node, so that only a right one can be compared with itself.
Outcome replayed(Experiment& experiment, DeviceRow& row, const DataSet& data,
                 const AccuracyOutcome& assessment, DeviceContext& context) {
  const Case& test_case = row.test_case();
  std::vector<Acceptance> accepted;
  if (!row.program->chain) accepted = acceptances(test_case, data, row.unit_error);
  if (row.program->chain && assessment.status != Status::Pass) return {assessment.status, assessment.reason};
  AccuracyResult& result = *row.record.accuracy;
  const int wanted = context.options.rows.replays;
  result.replay = replay(
      experiment, assessment.outputs, accepted,
      {.runs = wanted, .timeout_s = test_case.timeout_s, .stop_requested = context.options.stop_requested});
  if (assessment.status == Status::Fail)
    return {Status::Fail, assessment.reason + "; run again, " + replay_text(*result.replay)};
  if (varies(*result.replay)) {
    result.metric = "nondeterministic";
    return {Status::Fail, replay_text(*result.replay)};
  }
  if (result.replay->runs == wanted) return {assessment.status, assessment.reason};
  return {Status::Interrupted,
          fmt::format("{} after this row was run again {} of {} times", stopped_because, result.replay->runs,
                      wanted),
          true};
}

std::unique_ptr<Experiment> experiment_for(const DeviceRow& row, PackedInputs& inputs,
                                           std::unique_ptr<Originals> originals,
                                           const DeviceContext& context) {
  return std::make_unique<Experiment>(context.device, context.shaders_of(row.plan()), row.test_case(),
                                      *row.program, inputs, std::move(originals));
}

/// Adds useless work to the timed program: a slowdown of known size.
void inject_slowdown(DeviceRow& row, DeviceContext& context) {
  std::unique_ptr<Experiment>& timed = row.timed.front().experiment;
  const double ns = rough_time_ns(*timed, row.test_case().timeout_s);
  TimingTools& tools = context.tools();
  const double burden_ns =
      ns * context.options.rows.injected_slowdown_pct / 100 - tools.ceilings.dispatch_us * 1e3;
  tools.probe.burden(*row.program, std::max(burden_ns, 0.0));
  PackedInputs& inputs = row.has_known_data ? *row.group->packed : *row.group->secret.front().packed;
  timed = experiment_for(row, inputs, timed->take_originals(), context);
}

/// Prepares a row for timing. The timed program is the checked one, over the same guarded memory, and every
/// block's outputs are compared bitwise with the accepted answers.
void prepare_timing(DeviceRow& row, std::vector<JudgedRun> timed, DeviceContext& context) {
  row.timed = std::move(timed);
  for (const JudgedRun& one : row.timed) keep_originals(*one.experiment, context);
  if (context.options.rows.injected_slowdown_pct > 0) inject_slowdown(row, context);
}

/// Checks a row on secret data, and prepares it for timing on its own data and these, or on two sets of
/// these. Returns what is wrong.
std::optional<Outcome> judge_timed_row(DeviceRow& row, JudgedRun own, DeviceContext& context) {
  std::vector<JudgedRun> timed;
  timed.push_back(std::move(own));
  SecretRun secret = run_on_secret_data(row, 0, context);
  if (secret.wrong) return secret.wrong;
  if (secret.timed.experiment) timed.push_back(std::move(secret.timed));
  if (timed.size() > 1 && context.options.rows.times_secret_data) {
    SecretRun second = run_on_secret_data(row, 1, context);
    if (second.wrong) return second.wrong;
    timed.erase(timed.begin());
    timed.push_back(std::move(second.timed));
    row.has_known_data = false;
  }
  prepare_timing(row, std::move(timed), context);
  return std::nullopt;
}

/// Turns a pass with validation messages into a failure: on another driver the program may do anything.
void blame_validation(Record& record) {
  if (record.status != Status::Pass || record.validation_messages == 0) return;
  record.status = Status::Fail;
  record.reason = fmt::format("the answer is right, but the validation layer has {} messages, the newest: {}",
                              record.validation_messages,
                              record.validation_texts.empty() ? "(no text)" : record.validation_texts.back());
  record.perf.reset();
}

}  // namespace

std::size_t waiting_bytes(const RowGroup& group, std::span<const std::unique_ptr<DeviceRow>> rows) {
  std::size_t sum = 0;
  if (group.data) {
    sum += 2 * bytes_of(group.data->inputs);
    for (const Expected& expected : group.data->expected) sum += bytes_of(expected);
    for (const auto& values : group.data->from_files) sum += values ? values->bytes().size() : 0;
  }
  for (const RowGroup::SecretData& secret : group.secret) {
    if (secret.data) sum += 2 * bytes_of(secret.data->inputs);
  }
  for (const auto& row : rows) {
    for (const JudgedRun& one : row->timed) sum += one.outputs ? bytes_of(*one.outputs) : 0;
  }
  return sum;
}

ChainPlan chain_plan_of(const chain::PlannedChain& planned) {
  ChainPlan made{.transitions = planned.plan.transitions,
                 .transition_bytes = planned.plan.transition_bytes,
                 .folded = planned.plan.folded,
                 .peak_bytes = planned.peak_bytes,
                 .is_exact = planned.plan.is_exact,
                 .hash = hash_hex(text_of(planned)),
                 .times_run = planned.times_run};
  for (const chain::Step& step : planned.plan.steps) made.steps.push_back(step_of(planned, step));
  return made;
}

std::optional<Outcome> plan_row(DeviceRow& row, const DeviceContext& context) {
  RowPlan plan = plan_of_row(row.plan(), row.record.info, context, context.ceilings());
  row.impl = plan.made.impl;
  row.ceiling = plan.made.ceiling;
  row.program = std::move(plan.made.program);
  if (row.program && row.program->chain) row.record.chain = chain_plan_of(*row.program->chain);
  row.unit_error = plan.made.unit_error;
  return std::move(plan.not_run);
}

Outcome judge_row(DeviceRow& row, const DataSet& data, DeviceContext& context) {
  const auto dump_into = [&] { return dump_folder(context.options.rows.dump, row.record.info.id); };
  if (!context.options.rows.dump.empty())
    dump_program(dump_into(), *row.program, context.shaders_of(row.plan()));
  std::unique_ptr<Experiment> experiment =
      experiment_for(row, *row.group->packed, originals_for(row, *row.group->packed, context), context);
  row.record.driver_retry = experiment->executable().driver_retry();
  const AccuracyOutcome assessment = captured_assessment(*experiment, row, data, context);
  experiment->release();
  if (!context.options.rows.dump.empty()) dump_tensors(dump_into(), row.test_case(), data, assessment);
  row.record.accuracy = assessment.result;
  if (context.options.rows.replays > 0 && row.plan().mode == Mode::Accu)
    return replayed(*experiment, row, data, assessment, context);
  if (row.plan().mode == Mode::Perf && assessment.status == Status::Pass) {
    JudgedRun own{std::move(experiment), assessment.outputs};
    if (const auto wrong = judge_timed_row(row, std::move(own), context)) return *wrong;
  }
  return {assessment.status, assessment.reason};
}

void end_row(DeviceRow& row, Outcome outcome, DeviceContext& context) {
  Record& record = row.record;
  record.status = outcome.status;
  record.reason = std::move(outcome.reason);
  record.stopped = outcome.stopped;
  row.messages.add(context.take_messages());
  record.validation_messages = row.messages.count;
  record.validation_texts = std::move(row.messages.texts);
  blame_validation(record);
  record.total_ms = row.judging_ms + row.timing_ms;
}

}  // namespace assay
