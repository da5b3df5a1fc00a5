#include "harness/engine/accuracy/accuracy.h"

#include "harness/base/clock.h"
#include "harness/base/parallel.h"
#include "harness/engine/accuracy/mistrusted_output.h"
#include "harness/engine/accuracy/output_check.h"
#include "harness/report/record/words.h"
#include "harness/tensor/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <stdexcept>

namespace assay {
namespace {

std::string place(const TensorSpec& spec, std::int64_t index) {
  return fmt::format("{}[{}]", spec.name, fmt::join(coordinates(spec.shape, index), ", "));
}

/// The number of elements of an output for which `is_bad` holds, and the first of them.
struct Count {
  std::int64_t bad = 0;
  std::int64_t first = 0;
};

/// Calls `is_bad` on several threads.
Count count_if(std::int64_t elements, const std::function<bool(std::int64_t)>& is_bad) {
  Count all;
  std::mutex mutex;
  parallel_for(elements, cheap_grain, [&](std::int64_t first, std::int64_t last) {
    Count count;
    for (std::int64_t i = first; i < last; ++i) {
      if (is_bad(i) && count.bad++ == 0) count.first = i;
    }
    if (count.bad == 0) return;
    const std::lock_guard lock(mutex);
    all.first = all.bad > 0 ? std::min(all.first, count.first) : count.first;
    all.bad += count.bad;
  });
  return all;
}

/// Refuses an impl that states no unit error or one that would accept everything: its answer would not be
/// checked.
UnitError checked_unit_error(const Case& test_case, const TensorSpec& spec, const Expected& expected,
                             std::optional<UnitError> unit_error) {
  if (expected.magnitude.empty()) return {};
  const auto is_error = [](double error) { return std::isfinite(error) && error >= 0; };
  if (unit_error && is_error(unit_error->of_magnitude) && is_error(unit_error->of_sums)) return *unit_error;
  const std::string what =
      unit_error ? fmt::format("has the unit error {} and {}", unit_error->of_magnitude, unit_error->of_sums)
                 : "states no unit error (Impl::unit_error)";
  throw std::logic_error(fmt::format("the reference of {} gives magnitudes for '{}', but impl '{}' {}",
                                     test_case.op->name, spec.name, test_case.impl->name, what));
}

/// The most elements that may hold by chance what was there before (a poison, or what the tensor began with)
/// although they were written, if `changed` others hold something else: the mean plus six standard
/// deviations. Both runs count as one chance: one poison is the complement of the other, or the data are the
/// same.
double most_by_chance(std::int64_t changed, DType dtype) {
  const double mean = static_cast<double>(changed) * std::ldexp(1.0, -8 * static_cast<int>(size_of(dtype)));
  return mean + 6 * std::sqrt(mean);
}

/// The check of one case. It collects findings, the most important first.
class Investigation {
 public:
  Investigation(Experiment& experiment, const Case& test_case, const DataSet& data,
                const std::vector<Acceptance>& accepted)
      : experiment_(experiment),
        case_(test_case),
        data_(data),
        specs_(output_specs(test_case)),
        accepted_(accepted) {}

  AccuracyOutcome conclude() {
    const Stopwatch watch;
    a_ = experiment_.run(Poisons::all(Poison::A));
    b_ = experiment_.run(Poisons::all(Poison::B));
    note_findings();
    if (!same_answer(a_.outputs, b_.outputs)) explain_difference();
    result_.gpu_ms = watch.ms();
    for (std::size_t i = 0; i < specs_.size(); ++i) note_left_as_before(i);
    judge_values();
    if (findings_.empty()) {
      try_trivial_answers();
    } else if (same_answer(a_.outputs, b_.outputs)) {
      try_other_variables();
    }
    return finish();
  }

 private:
  /// An output of the first run.
  const HostTensor& got(std::size_t output) const { return (*a_.outputs)[output]; }

  void note(std::string metric, std::string reason) {
    findings_.push_back({std::move(metric), std::move(reason)});
  }

  void note_findings() {
    add_findings(findings_, a_.findings);
    add_findings(findings_, b_.findings);
  }

  /// Finds out why the two runs differ: elements that were never written, or else, by changing one poison at
  /// a time, what the answer depends on.
  void explain_difference() {
    for (std::size_t i = 0; i < specs_.size(); ++i) note_unwritten(i);
    if (has("unwritten")) return;
    const RunResult again = experiment_.run(Poisons::all(Poison::A));
    if (!same_answer(a_.outputs, again.outputs))
      return note_difference("nondeterministic", "differs between two equal runs", again);
    const RunResult old_content = experiment_.run({.outputs = Poison::B});
    if (!same_answer(a_.outputs, old_content.outputs)) {
      return note_difference("depends_on_old_output", "depends on what outputs or scratch held before",
                             old_content);
    }
    const RunResult padding = experiment_.run({.padding = Poison::B});
    if (!same_answer(a_.outputs, padding.outputs))
      return note_difference("depends_on_padding", "depends on the padding of inputs", padding);
    const RunResult workgroup = experiment_.run({.workgroup_memory = Poison::B});
    if (!same_answer(a_.outputs, workgroup.outputs)) {
      return note_difference("reads_uninitialized",
                             "depends on workgroup memory that is read before it is written", workgroup);
    }
    note_difference("reads_out_of_bounds", "depends on memory before or past a tensor's data", b_);
  }

  void note_unwritten(std::size_t output) {
    const HostTensor poison_a = experiment_.unwritten(output, Poison::A);
    const HostTensor poison_b = experiment_.unwritten(output, Poison::B);
    const HostTensor& got_a = got(output);
    const HostTensor& got_b = (*b_.outputs)[output];
    const Count count = count_if(got_a.numel(), [&](std::int64_t i) {
      return same_bytes(got_a, poison_a, i, i + 1) && same_bytes(got_b, poison_b, i, i + 1);
    });
    const Count changed =
        count_if(got_a.numel(), [&](std::int64_t i) { return !same_bytes(got_a, got_b, i, i + 1); });
    if (static_cast<double>(count.bad) <= most_by_chance(changed.bad, got_a.dtype())) return;
    unwritten_.resize(specs_.size());
    unwritten_[output] = [poison_a, poison_b, a = a_.outputs, b = b_.outputs, output](std::int64_t i) {
      return same_bytes((*a)[output], poison_a, i, i + 1) && same_bytes((*b)[output], poison_b, i, i + 1);
    };
    note("unwritten", fmt::format("{} of {} elements of '{}' were never written, first {}", count.bad,
                                  got_a.numel(), specs_[output]->name, place(*specs_[output], count.first)));
  }

  /// An output that is written in part holds no poison: what no program wrote there is what it began with.
  void note_left_as_before(std::size_t output) {
    if (!specs_[output]->written_in_part) return;
    const HostTensor& before = data_before(case_, *specs_[output], data_.inputs);
    const auto is_left = [&accepted = accepted_[output], &before, a = a_.outputs, b = b_.outputs,
                          output](std::int64_t i) {
      return !accepted.is_kept(i) && same_bytes((*a)[output], before, i, i + 1) &&
             same_bytes((*b)[output], before, i, i + 1) && accepted.judge(i, before) == ElementVerdict::Wrong;
    };
    const std::int64_t written =
        count_if(before.numel(), [&](std::int64_t i) { return !accepted_[output].is_kept(i); }).bad;
    const Count left = count_if(before.numel(), is_left);
    const auto is_wrong = [&](std::int64_t i) {
      return !accepted_[output].is_kept(i) && !is_left(i) &&
             accepted_[output].judge(i, got(output)) == ElementVerdict::Wrong;
    };
    const std::int64_t wrong = left.bad > 0 ? count_if(before.numel(), is_wrong).bad : 0;
    if (static_cast<double>(left.bad) <= most_by_chance(wrong, before.dtype())) return;
    unwritten_.resize(specs_.size());
    unwritten_[output] = is_left;
    note("unwritten",
         fmt::format("{} of {} elements of '{}' that the op writes were never written, first {}", left.bad,
                     written, specs_[output]->name, place(*specs_[output], left.first)));
  }

  /// Finds out whether what is wrong comes from variables that invocations read before they set them.
  void try_other_variables() {
    const std::optional<RunResult> other = experiment_.run_with_other_variables(Poisons::all(Poison::A));
    if (!other || same_answer(a_.outputs, other->outputs)) return;
    const std::vector<Finding> consequences = std::exchange(findings_, {});
    note_difference("reads_uninitialized", "depends on a variable that is read before it is set", *other);
    findings_.insert(findings_.end(), consequences.begin(), consequences.end());
  }

  void note_difference(const std::string& metric, const char* what, const RunResult& other) {
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      const HostTensor& x = got(i);
      const HostTensor& y = (*other.outputs)[i];
      const Count count = count_if(x.numel(), [&](std::int64_t k) { return !same_bytes(x, y, k, k + 1); });
      if (count.bad == 0) continue;
      note(metric,
           fmt::format("the answer {}: {} of {} elements, first {}: {} and {}", what, count.bad, x.numel(),
                       place(*specs_[i], count.first), x.at(count.first), y.at(count.first)));
    }
  }

  void judge_values() {
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      const OutputCheck check = check_output(accepted_[i], got(i), unwritten_of(i));
      // The row describes the first output that is wrong, else the one that spent most of its bound.
      const bool worse = !check.pass ? !described_wrong_
                                     : !described_wrong_ && check.err_over_bound >= result_.err_over_bound;
      if (worse) describe(i, check);
      if (!check.pass) note_wrong(i, check);
    }
  }

  void note_wrong(std::size_t output, const OutputCheck& check) {
    const Acceptance& accepted = accepted_[output];
    const std::string own = own_answer_text(output);
    if (!check.too_many_flips) return note("wrong_value", wrong_value(output, check) + own);
    note("too_many_flips",
         fmt::format("'{}': {} elements are off by one inside their band, about {:.1f} are expected and "
                     "{:.1f} allowed{}",
                     specs_[output]->name, check.flips, accepted.expected_flips(), accepted.allowed_flips(),
                     own));
  }

  std::string wrong_value(std::size_t output, const OutputCheck& check) const {
    const std::int64_t elements = got(output).numel();
    std::string text = fmt::format(
        "{}; {} of {} elements wrong ({:.3g} %)",
        first_wrong(accepted_[output], output, check, data_.from_files[output] ? file_of(output) : ""),
        check.mismatches, elements,
        100.0 * static_cast<double>(check.mismatches) / static_cast<double>(elements));
    // Elements that were never written have no error: what they hold is poison.
    if (check.max_abs_err > 0 || !unwritten_of(output))
      text += fmt::format(", largest error {}", check.max_abs_err);
    if (check.too_many_tolerated) {
      text += fmt::format("; {} elements need the tolerance ({}), {} may", check.tolerated,
                          to_string(case_.tolerance), accepted_[output].allowed_tolerated());
    }
    return text;
  }

  /// `by`: the `expected:` file that is missed; empty: the reference is.
  std::string first_wrong(const Acceptance& accepted, std::size_t output, const OutputCheck& check,
                          const std::string& by) const {
    const std::int64_t first = *check.first_bad;
    const std::string answer =
        is_unwritten(output, first) ? "never written" : "got " + value_text(got(output).at(first));
    return fmt::format("{}: expected {} by {}, {} ({})", place(*specs_[output], first),
                       value_text(accepted.expected(first)), by.empty() ? "the reference" : by, answer,
                       bound_text(accepted, first));
  }

  /// Whether an element of an output was never written; empty: all of them were.
  const std::function<bool(std::int64_t)>& unwritten_of(std::size_t output) const {
    static const std::function<bool(std::int64_t)> none;
    return output < unwritten_.size() ? unwritten_[output] : none;
  }

  bool is_unwritten(std::size_t output, std::int64_t index) const {
    const auto& unwritten = unwritten_of(output);
    return unwritten && unwritten(index);
  }

  std::string file_of(std::size_t output) const {
    return to_string(case_.expected_files->at(specs_[output]->name));
  }

  /// When the values of an `expected:` file were missed: whether the kernel agrees with assay's reference.
  std::string own_answer_text(std::size_t output) const {
    if (!data_.from_files[output] || case_.op->answers_of_case) return "";
    const OutputCheck check = check_output(own(output), got(output));
    if (check.pass) return "; the kernel agrees with assay's CPU reference, and the file disagrees with it";
    if (check.too_many_flips)
      return fmt::format("; the kernel disagrees with assay's CPU reference too: {} flips", check.flips);
    return "; the kernel disagrees with assay's CPU reference too: " +
           first_wrong(own(output), output, check, "");
  }

  /// The acceptance by the reference, without the tolerance that is meant for the file.
  Acceptance own(std::size_t output) const { return accepted_[output].without_file(); }

  /// Whose answer an output misses: the file's, the reference's or both.
  std::string missed(std::size_t output) const {
    if (!data_.from_files[output]) return "reference";
    if (case_.op->answers_of_case) return "file";
    return check_output(own(output), got(output)).pass ? "file" : "file and reference";
  }

  static std::string bound_text(const Acceptance& accepted, std::int64_t index) {
    const double bound = accepted.bound(index);
    if (accepted.is_kept(index)) return "bit for bit as before: the op does not write it";
    if (bound == 0 && accepted.output_class() != OutputClass::Bounded)
      return std::string(name_of(accepted.output_class()));
    return fmt::format("bound {:.3g}", bound);
  }

  void describe(std::size_t output, const OutputCheck& check) {
    const Acceptance& accepted = accepted_[output];
    const HostTensor& values = got(output);
    described_wrong_ = !check.pass;
    described_ = output;
    result_.output = specs_[output]->name;
    result_.output_class = accepted.output_class();
    result_.elements = values.numel();
    result_.mismatches = check.mismatches;
    result_.max_abs_err = check.max_abs_err;
    result_.err_over_bound = check.err_over_bound;
    result_.flips = check.flips;
    result_.expected_flips = accepted.expected_flips();
    if (!check.pass) result_.missed = missed(output);
    if (!check.first_bad) return;
    const std::int64_t first = *check.first_bad;
    result_.first_bad = coordinates(values.shape(), first);
    result_.expected = accepted.expected(first);
    result_.got = values.at(first);
    result_.bound = accepted.bound(first);
    result_.tile_map =
        tile_map(values.shape(), [&](std::int64_t i) { return check.is_bad(accepted.judge(i, values)); });
  }

  void try_trivial_answers() {
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      const auto trivial = trivial_answer(*specs_[i], accepted_[i], data_.inputs);
      if (trivial) {
        note(*trivial,
             fmt::format(
                 "the answer is right, but '{}' of output '{}' would pass too: this case proves nothing",
                 *trivial, specs_[i]->name));
      } else if (before_passes(i)) {
        note("copied_input", fmt::format("the answer is right, but what '{}' holds before the op would pass "
                                         "too: this case proves nothing",
                                         specs_[i]->name));
      } else if (copied_memory_passes(i)) {
        note("copied_input", fmt::format("the answer is right, but a copy of an input's memory would pass as "
                                         "'{}' too: this case proves nothing",
                                         specs_[i]->name));
      } else if (const auto saturation = too_saturated(*specs_[i], accepted_[i].values())) {
        note_saturated(specs_[i]->name, *saturation);
      }
    }
    mistrusted_ = !findings_.empty();
  }

  void note_saturated(const std::string& output, const Saturation& saturation) {
    note("saturated",
         fmt::format("the answer is right, but {:.0f} % of '{}' are at the ends of its range, {} "
                     "and {}, where any value beyond is right too: this case proves little",
                     100 * saturation.share, output, saturation.low, saturation.high));
  }

  /// Whether a program that writes nothing would be right.
  bool before_passes(std::size_t output) const {
    if (!specs_[output]->written_in_part) return false;
    return check_output(accepted_[output], data_before(case_, *specs_[output], data_.inputs)).pass;
  }

  bool copied_memory_passes(std::size_t output) const {
    const TensorSpec& spec = *specs_[output];
    if (!spec.copy_because.empty() || !spec.constant_because.empty()) return false;
    const std::vector<Physical> physical = physical_tensors(case_);
    const Physical& target = physical[static_cast<std::size_t>(&spec - case_.tensors->data())];
    for (std::size_t i = 0; i < case_.tensors->size(); ++i) {
      if (!case_.tensors[i].is_input() || physical[i].bytes() != target.bytes()) continue;
      const PackedInput source = experiment_.packed(i, Poison::A);
      if (accepts_copied_memory(accepted_[output], target, source.bytes)) return true;
    }
    return false;
  }

  bool has(const std::string& metric) const {
    return std::any_of(findings_.begin(), findings_.end(),
                       [&](const Finding& f) { return f.metric == metric; });
  }

  /// Adds evidence about the wrong elements.
  void explain_wrong_elements() {
    const OutputCheck check = check_output(accepted_[described_], got(described_));
    const auto tensor = static_cast<std::size_t>(specs_[described_] - case_.tensors->data());
    add_evidence({.test_case = case_,
                  .data = data_,
                  .output = described_,
                  .tensor = tensor,
                  .accepted = accepted_[described_],
                  .got = got(described_),
                  .check = check,
                  .is_unwritten = unwritten_of(described_),
                  .is_unstable =
                      [this](std::int64_t i) {
                        return !same_bytes(got(described_), (*b_.outputs)[described_], i, i + 1);
                      }},
                 result_);
  }

  AccuracyOutcome finish() {
    if (described_wrong_) explain_wrong_elements();
    // Whatever the values look like, it is by what assay put into the memory.
    if (has("reads_uninitialized")) result_.diagnosis.reset();
    result_.input_hash = data_.input_hash;
    result_.output_hash = answer_hash_of(*a_.outputs);
    result_.hash_is_portable = std::all_of(specs_.begin(), specs_.end(), [](const TensorSpec* spec) {
      return spec->output_class == OutputClass::Exact;
    });
    result_.guards = guards_seen(experiment_.executable().program(), case_.tensors, case_.forms);
    result_.matrix_extension = experiment_.executable().matrix_extension();
    result_.tolerance = to_string(case_.tolerance);
    result_.tolerance_reason = case_.tolerance->reason;
    result_.reference_ms = data_.reference_ms;
    result_.memory_bytes = static_cast<std::int64_t>(experiment_.memory_bytes());
    AccuracyOutcome assessment;
    if (!findings_.empty()) {
      assessment.status = mistrusted_ ? Status::Mistrusted : Status::Fail;
      result_.metric = findings_.front().metric;
      std::vector<std::string> reasons;
      for (const Finding& finding : findings_) reasons.push_back(finding.reason);
      if (const std::string& shader = experiment_.executable().guardless_shader(); !shader.empty()) {
        reasons.push_back(
            fmt::format("'{}' does not skip the guard before each buffer's data: add guard_words "
                        "(common/guards.glslh) to its indices",
                        shader));
      }
      assessment.reason = fmt::format("{}", fmt::join(reasons, "; "));
    }
    assessment.result = std::move(result_);
    assessment.outputs = std::move(a_.outputs);
    return assessment;
  }

  Experiment& experiment_;
  const Case& case_;
  const DataSet& data_;
  std::vector<const TensorSpec*> specs_;
  const std::vector<Acceptance>& accepted_;
  RunResult a_, b_;
  std::vector<Finding> findings_;
  AccuracyResult result_;
  bool described_wrong_ = false;
  std::size_t described_ = 0;  ///< index of the output that the result describes
  /// For each output with unwritten elements: whether an element is one of them.
  std::vector<std::function<bool(std::int64_t)>> unwritten_;
  bool mistrusted_ = false;
};

}  // namespace

AccuracyOutcome assess(Experiment& experiment, const Case& test_case, const DataSet& data,
                       const std::vector<Acceptance>& accepted) {
  return Investigation(experiment, test_case, data, accepted).conclude();
}

std::vector<Acceptance> acceptances(const Case& test_case, const DataSet& data,
                                    std::optional<UnitError> unit_error) {
  const std::vector<const TensorSpec*> specs = output_specs(test_case);
  std::vector<Acceptance> accepted;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const std::optional<HostTensor>& file = data.from_files[i];
    accepted.emplace_back(
        *specs[i], data.expected[i],
        AcceptanceTerms{checked_unit_error(test_case, *specs[i], data.expected[i], unit_error),
                        test_case.tolerance, file ? &*file : nullptr});
  }
  return accepted;
}

}  // namespace assay
