#include "harness/engine/run/row_judging.h"

#include "harness/engine/accuracy/accuracy.h"
#include "harness/engine/accuracy/dump.h"
#include "harness/engine/accuracy/output_check.h"
#include "harness/engine/timing/measurement.h"
#include "harness/tensor/tensor_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace assay {
namespace {

/// Tensors that are smaller together go through the host: what the device would spare it is less than what
/// its kernels cost. Not where they are needed again for every block.
constexpr std::uint64_t worth_keeping_bytes = std::uint64_t{1} << 20;

std::uint64_t bytes_of_tensors(const Case& test_case) {
  std::uint64_t sum = 0;
  for (const Physical& physical : physical_tensors(test_case))
    sum += static_cast<std::uint64_t>(physical.bytes());
  return sum;
}

std::vector<std::string> names_of(std::span<const TensorSpec> tensors) {
  std::vector<std::string> names;
  for (const TensorSpec& spec : tensors) names.push_back(spec.name);
  return names;
}

/// Why the row's program cannot run here. A row that is timed gives up its guards where they are what
/// does not fit.
std::optional<std::string> beyond_device(DeviceRow& row, const DeviceInfo& device) {
  const Case& test_case = row.test_case();
  const auto reason = [&](std::uint32_t guard) {
    return gpu::unsupported(*row.program, physical_tensors(test_case), row.impl->needs, device, guard,
                            names_of(test_case.tensors));
  };
  const std::optional<std::string> guarded = reason(row.guard);
  if (!guarded || row.plan().mode != Mode::Perf || reason(0)) return guarded;
  row.guard = 0;
  return std::nullopt;
}

/// Makes `impl` the row's and builds its program; why the device cannot run it.
std::optional<std::string> build_with(const Impl& impl, const BuildContext& context, DeviceRow& row) {
  row.impl = &impl;
  if (auto reason = missing_for(impl, context)) return reason;
  row.program = impl.build(context);
  row.unit_error.reset();
  if (impl.unit_error) row.unit_error = impl.unit_error(context);
  return beyond_device(row, context.device);
}

/// Builds the row's program, of impl auto the first that the device can run; why it can run none: what is
/// said of the first.
std::optional<std::string> build(DeviceRow& row, const DeviceInfo& device) {
  const Case& test_case = row.test_case();
  const BuildContext context{test_case.params, test_case.tensors, test_case.forms, device, test_case.tune};
  std::optional<std::string> first_reason;
  for (const Impl* impl : candidates(*test_case.op, *test_case.impl, context)) {
    if (impl->excludes && impl->excludes(context)) continue;
    const std::optional<std::string> reason = build_with(*impl, context, row);
    if (!reason) return std::nullopt;
    if (!first_reason) first_reason = impl == test_case.impl ? *reason : impl->name + ": " + *reason;
  }
  if (!first_reason) return "each impl that it may choose excludes this point";
  return first_reason;
}

/// A debugger that is attached gets a capture of the row's runs.
AccuracyOutcome captured_assessment(Experiment& experiment, const DeviceRow& row, const DataSet& data) {
  const std::vector<Acceptance> accepted = acceptances(row.test_case(), data, row.unit_error);
  const gpu::DebuggerCapture capture;
  return assess(experiment, row.test_case(), data, accepted);
}

/// Null where everything is to go through the host.
std::unique_ptr<Originals> originals_for(const DeviceRow& row, DeviceContext& context) {
  const std::uint64_t bytes = bytes_of_tensors(row.test_case());
  const bool is_small = row.plan().mode == Mode::Accu && bytes < worth_keeping_bytes;
  if (bytes > context.kept.limit || is_small) return nullptr;
  try {
    return std::make_unique<Originals>(context.device, context.memory(), row.test_case(), *row.group->packed);
  } catch (const gpu::OutOfMemory&) {
    return nullptr;
  }
}

Experiment experiment_for(const DeviceRow& row, std::uint32_t guard, std::unique_ptr<Originals> originals,
                          const DeviceContext& context) {
  return {context.device,      context.shaders_of(row.plan()),
          row.test_case(),     *row.program,
          *row.group->packed,  guard,
          std::move(originals)};
}

/// The verdict on what ran without guards, after what had them was right.
Outcome judge_without_guards(const DeviceRow& row, const DataSet& data, const RunResult& seen) {
  if (!seen.findings.empty()) return {Status::Fail, seen.findings.front().reason};
  const std::vector<Acceptance> accepted = acceptances(row.test_case(), data, row.unit_error);
  for (std::size_t i = 0; i < seen.outputs->size(); ++i) {
    if (check_output(accepted[i], (*seen.outputs)[i]).pass) continue;
    return {Status::Fail,
            "the answer is right with guards around the data, but wrong without: no time is given"};
  }
  return {};
}

/// What is timed from now on is the program and work of no use: a slowdown of known size.
void inject_slowdown(DeviceRow& row, DeviceContext& context) {
  const double ns = rough_time_ns(*row.experiment, row.test_case().timeout_s);
  TimingTools& tools = context.tools();
  const double burden_ns =
      ns * context.options.injected_slowdown_pct / 100 - tools.ceilings.dispatch_us * 1e3;
  tools.probe.burden(*row.program, std::max(burden_ns, 0.0));
  row.experiment =
      std::make_unique<Experiment>(experiment_for(row, 0, row.experiment->take_originals(), context));
}

/// What is timed has no guards, hence other code: its answer must be right too. It is that answer, bit
/// by bit, which every block of samples is held against.
Outcome prepare_timing(DeviceRow& row, const DataSet& data, const AccuracyOutcome& assessment,
                       std::unique_ptr<Originals> originals, DeviceContext& context) {
  row.experiment = std::make_unique<Experiment>(experiment_for(row, 0, std::move(originals), context));
  const RunResult seen = row.experiment->run(Poison::B, Poison::A);
  row.experiment->release();
  row.outputs = seen.outputs;
  const bool is_judged = same_answer(seen.outputs, assessment.outputs) && seen.findings.empty();
  row.outputs_hash = is_judged ? assessment.result.output_hash : answer_hash_of(*seen.outputs);
  Outcome outcome = is_judged ? Outcome{} : judge_without_guards(row, data, seen);
  if (outcome.status != Status::Pass) return outcome;
  const Originals* kept = row.experiment->originals();
  if (kept != nullptr && !context.kept.take(kept->memory_bytes())) row.experiment->take_originals().reset();
  if (context.options.injected_slowdown_pct > 0) inject_slowdown(row, context);
  return outcome;
}

}  // namespace

std::optional<Outcome> plan_row(DeviceRow& row, const DeviceContext& context) {
  const Case& test_case = row.test_case();
  if (test_case.invalid) return Outcome{Status::Invalid, *test_case.invalid};
  const auto expectation = context.expectation_of(test_case);
  if (expectation && expectation->kind == Expectation::Kind::Skip)
    return Outcome{Status::Skipped, expectation->reason};
  std::optional<std::string> unsupported;
  if (auto failure = outcome_of([&] { unsupported = build(row, context.device.info()); })) return failure;
  if (unsupported) return Outcome{Status::Unsupported, *unsupported};
  return std::nullopt;
}

Outcome judge_row(DeviceRow& row, const DataSet& data, DeviceContext& context) {
  const auto dump_into = [&] { return dump_folder(*context.options.dump, row.record.info.id); };
  if (context.options.dump) dump_program(dump_into(), *row.program, context.shaders_of(row.plan()));
  Experiment experiment = experiment_for(row, row.guard, originals_for(row, context), context);
  const AccuracyOutcome assessment = captured_assessment(experiment, row, data);
  experiment.release();
  if (context.options.dump) dump_tensors(dump_into(), row.test_case(), data, assessment);
  row.record.accuracy = assessment.result;
  if (row.plan().mode == Mode::Accu || assessment.status != Status::Pass) {
    return {assessment.status, assessment.reason};
  }
  return prepare_timing(row, data, assessment, experiment.take_originals(), context);
}

}  // namespace assay
