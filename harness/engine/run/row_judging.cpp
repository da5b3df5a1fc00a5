#include "harness/engine/run/row_judging.h"

#include "harness/engine/accuracy/accuracy.h"
#include "harness/engine/accuracy/dump.h"
#include "harness/engine/run/row_originals.h"
#include "harness/engine/run/row_plan.h"
#include "harness/engine/run/secret_check.h"
#include "harness/engine/timing/measurement.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace assay {
namespace {

/// Checks the answer; an attached debugger captures the row's runs.
AccuracyOutcome captured_assessment(Experiment& experiment, const DeviceRow& row, const DataSet& data) {
  const std::vector<Acceptance> accepted = acceptances(row.test_case(), data, row.unit_error);
  const gpu::DebuggerCapture capture;
  return assess(experiment, row.test_case(), data, accepted);
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
      ns * context.options.injected_slowdown_pct / 100 - tools.ceilings.dispatch_us * 1e3;
  tools.probe.burden(*row.program, std::max(burden_ns, 0.0));
  PackedInputs& inputs = row.has_known_data ? *row.group->packed : *row.group->secret.front().packed;
  timed = experiment_for(row, inputs, timed->take_originals(), context);
}

/// Prepares a row for timing. The timed program is the checked one, over the same guarded memory, and every
/// block's outputs are compared bitwise with the accepted answers.
void prepare_timing(DeviceRow& row, std::vector<JudgedRun> timed, DeviceContext& context) {
  row.timed = std::move(timed);
  for (const JudgedRun& one : row.timed) keep_originals(*one.experiment, context);
  if (context.options.injected_slowdown_pct > 0) inject_slowdown(row, context);
}

/// Checks a row on secret data, and prepares it for timing on its own data and these, or on two sets of
/// these. Returns what is wrong.
std::optional<Outcome> judge_timed_row(DeviceRow& row, JudgedRun own, DeviceContext& context) {
  std::vector<JudgedRun> timed;
  timed.push_back(std::move(own));
  SecretRun secret = run_on_secret_data(row, 0, context);
  if (secret.wrong) return secret.wrong;
  if (secret.timed.experiment) timed.push_back(std::move(secret.timed));
  if (timed.size() > 1 && !context.options.times_known_data) {
    SecretRun second = run_on_secret_data(row, 1, context);
    if (second.wrong) return second.wrong;
    timed.erase(timed.begin());
    timed.push_back(std::move(second.timed));
    row.has_known_data = false;
  }
  prepare_timing(row, std::move(timed), context);
  return std::nullopt;
}

}  // namespace

std::optional<Outcome> plan_row(DeviceRow& row, const DeviceContext& context) {
  RowPlan plan = plan_of_row(row.plan(), row.record.info, context, context.ceilings());
  row.impl = plan.made.impl;
  row.ceiling = plan.made.ceiling;
  row.program = std::move(plan.made.program);
  row.unit_error = plan.made.unit_error;
  return std::move(plan.not_run);
}

Outcome judge_row(DeviceRow& row, const DataSet& data, DeviceContext& context) {
  const auto dump_into = [&] { return dump_folder(*context.options.dump, row.record.info.id); };
  if (context.options.dump) dump_program(dump_into(), *row.program, context.shaders_of(row.plan()));
  std::unique_ptr<Experiment> experiment =
      experiment_for(row, *row.group->packed, originals_for(row, *row.group->packed, context), context);
  const AccuracyOutcome assessment = captured_assessment(*experiment, row, data);
  experiment->release();
  if (context.options.dump) dump_tensors(dump_into(), row.test_case(), data, assessment);
  row.record.accuracy = assessment.result;
  if (row.plan().mode == Mode::Perf && assessment.status == Status::Pass) {
    JudgedRun own{std::move(experiment), assessment.outputs};
    if (const auto wrong = judge_timed_row(row, std::move(own), context)) return *wrong;
  }
  return {assessment.status, assessment.reason};
}

}  // namespace assay
