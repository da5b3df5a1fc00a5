#include "harness/engine/run/row_judging.h"

#include "harness/engine/accuracy/accuracy.h"
#include "harness/engine/accuracy/dump.h"
#include "harness/engine/run/row_originals.h"
#include "harness/engine/run/row_program.h"
#include "harness/engine/run/secret_check.h"
#include "harness/engine/timing/measurement.h"
#include "harness/op/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace assay {
namespace {

/// Makes what the case runs here the row's; why the device cannot run it.
std::optional<std::string> build(DeviceRow& row, const DeviceInfo& device) {
  RowProgram made = row_program(row.test_case(), device);
  row.impl = made.impl;
  row.ceiling = made.ceiling;
  row.program = std::move(made.program);
  row.unit_error = made.unit_error;
  return made.unsupported;
}

/// Why the row would take longer than it may even at the device's own ceilings, where those are known.
std::optional<std::string> too_slow(const DeviceRow& row, const DeviceContext& context) {
  const Case& test_case = row.test_case();
  const Work work = test_case.op->work(test_case.params, test_case.tensors);
  const LeastTime least =
      least_time(context.ceilings(), work, {.cache = row.plan().cache, .ceiling = row.ceiling});
  const double own_s = test_case.timeout_s;
  const double limit_s = std::min(context.options.program_limit_s, own_s);
  if (least.seconds <= limit_s) return std::nullopt;
  return fmt::format("needs at least {:.3g} s a program on this device: {}; the limit is {:g} s ({})",
                     least.seconds, least.because, limit_s,
                     own_s == limit_s ? "the case's timeout" : "--program-limit");
}

/// A debugger that is attached gets a capture of the row's runs.
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

/// What is timed from now on is the program and work of no use: a slowdown of known size.
void inject_slowdown(DeviceRow& row, DeviceContext& context) {
  const double ns = rough_time_ns(*row.own.experiment, row.test_case().timeout_s);
  TimingTools& tools = context.tools();
  const double burden_ns =
      ns * context.options.injected_slowdown_pct / 100 - tools.ceilings.dispatch_us * 1e3;
  tools.probe.burden(*row.program, std::max(burden_ns, 0.0));
  row.own.experiment = experiment_for(row, row.own.experiment->take_originals(), context);
}

/// What was judged is what is timed: the same program over the same guarded memory. Every block of samples
/// is held against the judged answer, bit by bit.
void prepare_timing(DeviceRow& row, std::unique_ptr<Experiment> judged, const AccuracyOutcome& assessment,
                    JudgedRun secret, DeviceContext& context) {
  row.own = {std::move(judged), assessment.outputs};
  keep_originals(*row.own.experiment, context);
  row.secret = std::move(secret);
  if (row.secret.experiment) keep_originals(*row.secret.experiment, context);
  if (context.options.injected_slowdown_pct > 0) inject_slowdown(row, context);
}

}  // namespace

std::optional<Outcome> plan_row(DeviceRow& row, const DeviceContext& context) {
  const Case& test_case = row.test_case();
  if (test_case.invalid) return Outcome{Status::Invalid, *test_case.invalid};
  if (const Expectation* rule = context.skip_of(row.record.info))
    return Outcome{Status::Skipped, rule->why()};
  std::optional<Outcome> reason;
  const auto failure = outcome_of([&] {
    if (const auto unsupported = build(row, context.device.info())) {
      reason = Outcome{Status::Unsupported, *unsupported};
    } else if (const auto slow = too_slow(row, context)) {
      reason = Outcome{Status::Skipped, *slow};
    }
  });
  return failure ? failure : reason;
}

Outcome judge_row(DeviceRow& row, const DataSet& data, DeviceContext& context) {
  const auto dump_into = [&] { return dump_folder(*context.options.dump, row.record.info.id); };
  if (context.options.dump) dump_program(dump_into(), *row.program, context.shaders_of(row.plan()));
  std::unique_ptr<Experiment> experiment =
      experiment_for(row, originals_for(row, *row.group->packed, context), context);
  const AccuracyOutcome assessment = captured_assessment(*experiment, row, data);
  experiment->release();
  if (context.options.dump) dump_tensors(dump_into(), row.test_case(), data, assessment);
  row.record.accuracy = assessment.result;
  if (row.plan().mode == Mode::Perf && assessment.status == Status::Pass) {
    SecretRun secret = run_on_secret_data(row, context);
    if (secret.wrong) return *secret.wrong;
    prepare_timing(row, std::move(experiment), assessment, std::move(secret.timed), context);
  }
  return {assessment.status, assessment.reason};
}

}  // namespace assay
