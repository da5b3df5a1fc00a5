#include "harness/engine/accuracy/dead_memory.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <span>
#include <string>
#include <utility>

namespace assay {
namespace {

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

}  // namespace assay
