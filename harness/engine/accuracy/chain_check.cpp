#include "harness/engine/accuracy/chain_check.h"

#include "harness/chain/chain.h"
#include "harness/chain/chain_program.h"
#include "harness/chain/layout_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace assay {
namespace {

using chain::LayoutPlan;
using chain::ResolvedChain;
using chain::SeparateChain;
using chain::Step;

/// NaN as a float32 and as two float16, so that no product with zero hides it; -1, 127, -1, -1 as int8. Its
/// complement is numbers near zero and -128.
constexpr std::uint32_t poison_word = 0xFFFF7FFF;

std::vector<gpu::Executable::Overwrite> poisoning(std::span<const MemoryTaking> takings, std::uint32_t word) {
  std::vector<gpu::Executable::Overwrite> overwrites;
  for (const MemoryTaking& one : takings)
    overwrites.push_back({.before = one.before, .resource = one.memory, .word = word});
  return overwrites;
}

/// The runs of one experiment.
class PoisonedRuns {
 public:
  PoisonedRuns(Experiment& experiment, Answer right)
      : experiment_(experiment),
        right_(std::move(right)),
        takings_(memory_takings(experiment.executable().program())) {}

  bool are_needed() const { return !takings_.empty(); }

  /// Runs with all of the memory poisoned. Returns whether the answer stays the same.
  bool is_right(std::uint32_t word) {
    word_ = word;
    return is_right_with(takings_.size());
  }

  /// After a run that was not right: the first taking whose poison is seen.
  const MemoryTaking& first_seen() {
    std::size_t right = 0;
    std::size_t wrong = takings_.size();
    while (wrong - right > 1) {
      const std::size_t middle = right + (wrong - right) / 2;
      (is_right_with(middle) ? right : wrong) = middle;
    }
    return takings_[right];
  }

  /// What the last run left that was not right.
  const RunResult& wrong() const { return wrong_; }

 private:
  bool is_right_with(std::size_t takings) {
    const std::span<const MemoryTaking> first(takings_.data(), takings);
    RunResult seen = experiment_.run(Poisons::all(Poison::A), poisoning(first, word_));
    if (seen.findings.empty() && same_answer(seen.outputs, right_)) return true;
    wrong_ = std::move(seen);
    return false;
  }

  Experiment& experiment_;
  Answer right_;
  std::vector<MemoryTaking> takings_;
  std::uint32_t word_ = 0;
  RunResult wrong_;
};

std::vector<std::int64_t> different_elements(const HostTensor& a, const HostTensor& b) {
  std::vector<std::int64_t> different;
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    if (!same_bytes(a, b, i, i + 1)) different.push_back(i);
  }
  return different;
}

/// Describes the first output that differs, in a text and in the result of the case. The answers are not the
/// same.
std::string describe_difference(const Case& test_case, const Answer& right, const Answer& wrong,
                                AccuracyResult& result) {
  std::size_t output = 0;
  while (different_elements((*right)[output], (*wrong)[output]).empty()) ++output;
  const TensorSpec& spec = *output_specs(test_case)[output];
  const std::vector<std::int64_t> bad = different_elements((*right)[output], (*wrong)[output]);
  result.output = spec.name;
  result.output_class = spec.output_class;
  result.elements = numel(spec.shape);
  result.mismatches = static_cast<std::int64_t>(bad.size());
  result.first_bad = coordinates(spec.shape, bad.front());
  result.expected = (*right)[output].at(bad.front());
  result.got = (*wrong)[output].at(bad.front());
  return fmt::format("{} of {} elements of '{}', first [{}]: {} and {}", result.mismatches, result.elements,
                     spec.name, fmt::join(result.first_bad, ", "), result.expected, result.got);
}

std::string place_text(const Program& program, const MemoryTaking& taking) {
  return fmt::format("before '{}', where '{}' takes the memory that other tensors had",
                     program.dispatches[taking.before].label, program.scratch[taking.scratch].name);
}

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
      const std::size_t output = separate_.tensor_of_value[plan_.outer[i]] - entering_;
      expected.push_back({.values = outputs[output], .kept = judged_.expected[output].kept});
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

  static UnitError unit_error_of(const Step& step, const BuildContext& context) {
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

std::vector<MemoryTaking> memory_takings(const Program& program) {
  std::vector<MemoryTaking> takings;
  std::set<std::uint32_t> known;
  for (std::size_t i = 0; i < program.dispatches.size(); ++i) {
    for (const Binding& binding : program.dispatches[i].bindings) {
      const auto [kind, scratch] = binding.resource;
      if (kind != Resource::Kind::Scratch || !program.scratch[scratch].in_memory_of) continue;
      if (!known.insert(scratch).second) continue;
      takings.push_back({.before = i,
                         .scratch = scratch,
                         .memory = Resource::scratch(*program.scratch[scratch].in_memory_of)});
    }
  }
  return takings;
}

void check_dead_memory(Experiment& experiment, const Case& test_case, AccuracyOutcome& outcome) {
  PoisonedRuns runs(experiment, outcome.outputs);
  if (!runs.are_needed()) return;
  for (const std::uint32_t word : {poison_word, ~poison_word}) {
    if (runs.is_right(word)) continue;
    const std::string place = place_text(experiment.executable().program(), runs.first_seen());
    const RunResult& wrong = runs.wrong();
    outcome.status = Status::Fail;
    outcome.result.metric = wrong.findings.empty() ? "depends_on_old_output" : wrong.findings.front().metric;
    const std::string what = wrong.findings.empty()
                                 ? "the answer differs: " + describe_difference(test_case, outcome.outputs,
                                                                                wrong.outputs, outcome.result)
                                 : wrong.findings.front().reason;
    outcome.reason = fmt::format(
        "with the memory of dead intermediate tensors poisoned, {}; the first poison that is seen is {}",
        what, place);
    return;
  }
}

AccuracyOutcome assess_chain(Experiment& experiment, gpu::Device& device, gpu::ShaderLibrary& shaders,
                             const Case& test_case, const chain::PlannedChain& planned, const DataSet& data) {
  SeparateSteps steps(device, test_case, planned, data);
  AccuracyOutcome separate = steps.assess(shaders);
  if (separate.status == Status::Fail) {
    separate.has_outputs_of_nodes = true;
    return separate;
  }
  DataSet judged = data;
  if (!steps.is_exact()) judged.expected = steps.leaving(*separate.outputs);
  AccuracyOutcome outcome = assess(experiment, test_case, judged, acceptances(test_case, judged, {}));
  outcome.result.hash_is_portable = steps.is_exact();
  if (outcome.status == Status::Pass) check_dead_memory(experiment, test_case, outcome);
  if (outcome.status == Status::Pass && separate.status != Status::Pass) {
    separate.outputs = std::move(outcome.outputs);
    separate.result.output_hash = std::move(outcome.result.output_hash);
    separate.result.hash_is_portable = outcome.result.hash_is_portable;
    return separate;
  }
  return outcome;
}

}  // namespace assay
