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

std::unique_ptr<Experiment> experiment_for(const DeviceRow& row, std::unique_ptr<Originals> originals,
                                           const DeviceContext& context) {
  return std::make_unique<Experiment>(context.device, context.shaders_of(row.plan()), row.test_case(),
                                      *row.program, *row.group->packed, std::move(originals));
}

/// Adds useless work to the timed program: a slowdown of known size.
void inject_slowdown(DeviceRow& row, DeviceContext& context) {
  const double ns = rough_time_ns(*row.own.experiment, row.test_case().timeout_s);
  TimingTools& tools = context.tools();
  const double burden_ns =
      ns * context.options.rows.injected_slowdown_pct / 100 - tools.ceilings.dispatch_us * 1e3;
  tools.probe.burden(*row.program, std::max(burden_ns, 0.0));
  row.own.experiment = experiment_for(row, row.own.experiment->take_originals(), context);
}

/// Prepares a row for timing. The timed program is the checked one, over the same guarded memory, and every
/// block's outputs are compared bitwise with the accepted answer.
void prepare_timing(DeviceRow& row, std::unique_ptr<Experiment> judged, const AccuracyOutcome& assessment,
                    JudgedRun secret, DeviceContext& context) {
  row.own = {std::move(judged), assessment.outputs};
  keep_originals(*row.own.experiment, context);
  row.secret = std::move(secret);
  if (row.secret.experiment) keep_originals(*row.secret.experiment, context);
  if (context.options.rows.injected_slowdown_pct > 0) inject_slowdown(row, context);
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
  const auto dump_into = [&] { return dump_folder(context.options.rows.dump, row.record.info.id); };
  if (!context.options.rows.dump.empty())
    dump_program(dump_into(), *row.program, context.shaders_of(row.plan()));
  std::unique_ptr<Experiment> experiment =
      experiment_for(row, originals_for(row, *row.group->packed, context), context);
  const AccuracyOutcome assessment = captured_assessment(*experiment, row, data);
  experiment->release();
  if (!context.options.rows.dump.empty()) dump_tensors(dump_into(), row.test_case(), data, assessment);
  row.record.accuracy = assessment.result;
  if (row.plan().mode == Mode::Perf && assessment.status == Status::Pass) {
    SecretRun secret = run_on_secret_data(row, context);
    if (secret.wrong) return *secret.wrong;
    prepare_timing(row, std::move(experiment), assessment, std::move(secret.timed), context);
  }
  return {assessment.status, assessment.reason};
}

}  // namespace assay
