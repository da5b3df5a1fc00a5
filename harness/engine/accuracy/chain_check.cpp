#include "harness/engine/accuracy/chain_check.h"

#include "harness/chain/chain.h"
#include "harness/chain/chain_program.h"
#include "harness/chain/layout_plan.h"
#include "harness/engine/accuracy/dead_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace assay {
namespace {

using chain::LayoutPlan;
using chain::ResolvedChain;
using chain::SeparateChain;
using chain::Step;

bool is_exact(const ResolvedChain& resolved) {
  return std::ranges::all_of(resolved.tensors, [](const chain::ResolvedTensor& tensor) {
    return tensor.enters() || tensor.spec.output_class == OutputClass::Exact;
  });
}

/// The steps of a chain over tensors of their own.
class SeparateSteps {
 public:
  SeparateSteps(gpu::Device& device, const Case& test_case, const chain::PlannedChain& planned,
                const DataSet& data)
      : device_(&device),
        data_(&data),
        resolved_(planned.resolved),
        plan_(planned.plan),
        separate_(chain::separate_program(plan_, resolved_, device.info())),
        op_(*test_case.op),
        case_(test_case),
        entering_(data.inputs.size()) {
    op_.chain.reset();
    op_.reference = [this](const Params&, std::span<const HostTensor>) { return judged_.expected; };
    case_.op = &op_;
    case_.tensors = separate_.tensors;
    case_.forms = separate_.forms;
    case_.conv2d = {};
    case_.tolerance = Tolerance{};
  }

  bool is_exact() const { return assay::is_exact(resolved_); }

  /// Runs the steps and judges each.
  AccuracyOutcome assess(gpu::ShaderLibrary& shaders) {
    PackedInputs inputs(data_->inputs);
    Experiment experiment(*device_, shaders, case_, separate_.program, inputs);
    const Answer left = experiment.run(Poisons::all(Poison::A)).outputs;
    judged_ = {.inputs = data_->inputs,
               .input_hash = data_->input_hash,
               .expected = {},
               .from_files = {},
               .reference_ms = data_->reference_ms};
    for (const Step& step : plan_.steps) add_references(step, *left);
    judged_.from_files.resize(judged_.expected.size());
    AccuracyOutcome outcome = assay::assess(experiment, case_, judged_, acceptances_of_steps());
    if (outcome.status != Status::Pass) outcome.reason = "judged node by node: " + outcome.reason;
    return outcome;
  }

  /// What leaves the chain, of these outputs.
  std::vector<Expected> leaving(const std::vector<HostTensor>& outputs) const {
    std::vector<Expected> expected;
    for (std::size_t i = 0; i < plan_.outer.size(); ++i) {
      if (!resolved_.tensors[resolved_.outer[i]].leaves) continue;
      expected.push_back({tensor_of(plan_.outer[i], outputs), {}, {}, {}});
    }
    return expected;
  }

 private:
  const HostTensor& tensor_of(std::size_t value, const std::vector<HostTensor>& outputs) const {
    const std::size_t tensor = separate_.tensor_of_value[value];
    return tensor < entering_ ? data_->inputs[tensor] : outputs[tensor - entering_];
  }

  void add_references(const Step& step, const std::vector<HostTensor>& outputs) {
    std::vector<HostTensor> inputs;
    for (std::size_t i = 0; i < step.values.size(); ++i) {
      if (!step.specs[i].is_input()) continue;
      // A folded node leaves a tensor in the memory of one of another shape.
      inputs.push_back(with_shape(tensor_of(step.values[i], outputs), step.specs[i].shape));
    }
    for (Expected& one : step.op->reference(step.params, inputs)) judged_.expected.push_back(std::move(one));
  }

  static HostTensor with_shape(const HostTensor& tensor, const Shape& shape) {
    if (tensor.shape() == shape) return tensor;
    HostTensor other = HostTensor::uninitialized(tensor.dtype(), shape);
    std::ranges::copy(tensor.bytes(), other.bytes().begin());
    return other;
  }

  std::vector<Acceptance> acceptances_of_steps() const {
    std::vector<Acceptance> accepted;
    const Tune tune;
    std::size_t output = 0;
    for (const Step& step : plan_.steps) {
      const BuildContext context(step.params, step.specs, step.forms, device_->info(), tune);
      for (const TensorSpec& spec : step.specs) {
        if (spec.is_input()) continue;
        const Expected& expected = judged_.expected[output++];
        AcceptanceTerms terms;
        if (!expected.magnitude.empty()) terms.unit_error = unit_error_of(step, context);
        accepted.emplace_back(spec, expected, terms);
      }
    }
    return accepted;
  }

  static double unit_error_of(const Step& step, const BuildContext& context) {
    if (step.impl->unit_error) return step.impl->unit_error(context);
    throw std::logic_error(
        fmt::format("the reference of {} gives magnitudes, but impl '{}' states no unit "
                    "error (Impl::unit_error)",
                    step.op->name, step.impl->name));
  }

  gpu::Device* device_;
  const DataSet* data_;
  const ResolvedChain& resolved_;
  const LayoutPlan& plan_;
  SeparateChain separate_;
  Op op_;
  Case case_;
  std::size_t entering_;
  DataSet judged_;
};

}  // namespace

AccuracyOutcome assess_chain(Experiment& experiment, gpu::Device& device, gpu::ShaderLibrary& shaders,
                             const Case& test_case, const chain::PlannedChain& planned, const DataSet& data) {
  SeparateSteps steps(device, test_case, planned, data);
  AccuracyOutcome separate = steps.assess(shaders);
  if (separate.status != Status::Pass) return separate;
  DataSet judged = data;
  if (!steps.is_exact()) judged.expected = steps.leaving(*separate.outputs);
  AccuracyOutcome outcome = assess(experiment, test_case, judged, acceptances(test_case, judged, {}));
  outcome.result.hash_is_portable = steps.is_exact();
  if (outcome.status == Status::Pass) check_dead_memory(experiment, test_case, outcome);
  return outcome;
}

}  // namespace assay
