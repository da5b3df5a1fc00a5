#include "harness/commands/judge/judged_cases.h"

#include "harness/base/error.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/cases/select.h"
#include "harness/commands/points/draw.h"
#include "harness/commands/points/random_point.h"
#include "harness/engine/accuracy/data_set.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace assay::app {
namespace {

/// Limits for the work of rows that are drawn without a filter, so that ten of them are judged in a minute.
struct Bounds {
  std::int64_t operations = 0;
  std::int64_t bytes = 0;
};
constexpr Bounds accuracy_bounds{std::int64_t{1} << 28, std::int64_t{1} << 23};
constexpr Bounds timed_bounds{std::int64_t{1} << 33, std::int64_t{1} << 28};
constexpr Bounds timed_bounds_of_cpus{std::int64_t{1} << 27, std::int64_t{1} << 25};

bool is_within(const Case& test_case, const Bounds& bounds) {
  const Work work = known_work(test_case).value();
  return work.operations <= bounds.operations && work.bytes_read + work.bytes_written <= bounds.bytes;
}

bool has_mode(const Case& test_case, Mode mode) {
  return test_case.mode == mode || test_case.mode == Mode::Both;
}

using Cases = std::vector<const Case*>;

/// Removes large cases of each op, unless all of them are; then the smallest few stay. All have a known work.
Cases without_large(const Cases& cases, const Bounds& bounds, std::size_t count) {
  std::map<const Op*, Cases> by_op;
  for (const Case* one : cases) by_op[one->op].push_back(one);
  std::set<const Case*> kept;
  for (auto& [op, of_op] : by_op) {
    Cases small;
    std::ranges::copy_if(of_op, std::back_inserter(small),
                         [&](const Case* one) { return is_within(*one, bounds); });
    if (small.empty()) {
      std::ranges::stable_sort(of_op, {}, [](const Case* one) { return operations_of(*one); });
      small.assign(of_op.begin(), of_op.begin() + static_cast<std::ptrdiff_t>(std::min(of_op.size(), count)));
    }
    kept.insert(small.begin(), small.end());
  }
  Cases left;
  std::ranges::copy_if(cases, std::back_inserter(left), [&](const Case* one) { return kept.contains(one); });
  return left;
}

bool has_own_secret_data(const Case* one) {
  return has_secret_data(*one) && one->seed == 0;
}

/// Shuffles the cases so that the first of each op, impl and name come before the second ones, those that can
/// be judged on secret data too first.
void put_in_turns(Cases& cases, Draw& draw) {
  draw.shuffle(cases);
  std::stable_partition(cases.begin(), cases.end(), has_own_secret_data);
  std::map<std::string, std::size_t> taken;
  std::vector<std::pair<std::size_t, const Case*>> by_turn;
  for (const Case* one : cases)
    by_turn.emplace_back(taken[one->op->name + '/' + one->name + '/' + one->impl->name]++, one);
  std::ranges::stable_sort(by_turn, {}, [](const auto& entry) { return entry.first; });
  std::ranges::transform(by_turn, cases.begin(), [](const auto& entry) { return entry.second; });
}

/// Draws cases whose SPIR-V differs: one of each op, and others up to `count`.
Cases drawn(Cases cases, std::size_t count, Draw& draw, ShaderUse& use) {
  put_in_turns(cases, draw);
  Cases chosen;
  std::set<const Op*> ops;
  for (const Case* one : cases) {
    if (ops.contains(one->op) || !use.changes(*one)) continue;
    ops.insert(one->op);
    chosen.push_back(one);
  }
  const std::set<const Case*> firsts(chosen.begin(), chosen.end());
  for (const Case* one : cases) {
    if (chosen.size() >= count) break;
    if (!firsts.contains(one) && ops.contains(one->op) && use.changes(*one)) chosen.push_back(one);
  }
  std::ranges::sort(chosen);  // in the order of the case files
  return chosen;
}

/// The ops of which some case runs other SPIR-V than the baseline's.
std::vector<std::string> changed_ops(const Cases& cases, ShaderUse& use) {
  std::set<std::string> ops;
  for (const Case* one : cases) {
    if (!ops.contains(one->op->name) && use.changes(*one)) ops.insert(one->op->name);
  }
  return {ops.begin(), ops.end()};
}

/// The timed case with impl `impl` that is the baseline of `one`; null if there is none.
const Case* baseline_of(const Case& one, std::span<const Case> cases, const std::string& impl) {
  const Case* best = nullptr;
  for (const Case& other : cases) {
    if (other.data_key != one.data_key || other.impl->name != impl || !has_mode(other, Mode::Perf) ||
        other.invalid || !ask_for_same_forms(one, other))
      continue;
    if (best == nullptr || (other.name == one.name && best->name != one.name)) best = &other;
  }
  return best;
}

[[noreturn]] void throw_unchanged(const Submission& submission, const Cases& mattering) {
  throw Error(
      fmt::format("judging a submission: there is nothing to judge: the {} selected cases that use its files "
                  "run the same SPIR-V as the baseline, apart from debug information: {}",
                  mattering.size(), fmt::join(submission.files, ", ")));
}

[[noreturn]] void throw_unused(const Submission& submission, const Cases& selected) {
  std::set<std::string> ops;
  for (const Case* one : selected) ops.insert(one->op->name);
  throw Error(
      fmt::format("judging a submission: none of the {} selected cases (of {}) runs a shader that uses its "
                  "files on this device: {}. A kernel is found by its file name in any folder, an include by "
                  "its path, as below shaders/ of the source tree; `assay ops NAME` shows an op's",
                  selected.size(), fmt::join(ops, ", "), fmt::join(submission.files, ", ")));
}

Cases selected_cases(std::span<const Case> cases, const JudgeOptions& options) {
  Selection selection{.filter = options.filter, .impls = {}, .ops = options.ops, .mode = {}, .tiers = {}};
  if (options.filter.empty()) selection.tiers = {Tier::Smoke, Tier::Ci};
  Cases selected = select(cases, selection);
  // A chain is judged by the ops that it consists of.
  std::erase_if(selected, [](const Case* one) { return one->op->chain != nullptr; });
  if (!selected.empty()) return selected;
  throw Error(fmt::format(
      "judging a submission: none of {} cases is selected{}{}; `assay ops` shows the ops, `assay list` all "
      "ids",
      cases.size(), options.ops.empty() ? "" : fmt::format(" by --op {}", fmt::join(options.ops, " --op ")),
      options.filter.empty() ? "" : fmt::format(" by --filter '{}'", options.filter)));
}

void add_baselines(JudgedCases& judged, Cases& timed, std::span<const Case> cases,
                   const JudgeOptions& options) {
  if (options.baseline_impl.empty()) return;
  std::erase_if(timed,
                [&](const Case* one) { return baseline_of(*one, cases, options.baseline_impl) == nullptr; });
  if (!timed.empty() || judged.accuracy_of == 0) return;
  throw Error(
      fmt::format("choosing a baseline: no timed row that the submission matters for has a row of impl '{}' "
                  "on the same data and in the same forms",
                  options.baseline_impl));
}

}  // namespace

JudgedCases choose_judged_cases(std::span<const Case> cases, const JudgeOptions& options, ShaderUse& use,
                                const Submission& submission, std::uint64_t draw_seed) {
  const Cases selected = selected_cases(cases, options);
  JudgedCases judged{.all = cases.size(), .selected = selected.size()};
  for (const Case* one : selected) {
    if (!one->invalid && use.uses_files(*one)) judged.mattering.push_back(one);
  }
  if (judged.mattering.empty()) throw_unused(submission, selected);
  judged.ops = changed_ops(judged.mattering, use);
  if (judged.ops.empty()) throw_unchanged(submission, judged.mattering);
  // Without its work a case cannot be planned or timed. An op that has no other case stays in `ops`, so that
  // the judgement says that nothing was judged of it.
  std::erase_if(judged.mattering, [&](const Case* one) {
    return !std::ranges::binary_search(judged.ops, one->op->name) || !known_work(*one);
  });
  Cases accuracy;
  Cases timed;
  for (const Case* one : judged.mattering) {
    if (has_mode(*one, Mode::Accu)) accuracy.push_back(one);
    if (has_mode(*one, Mode::Perf)) timed.push_back(one);
  }
  judged.accuracy_of = accuracy.size();
  add_baselines(judged, timed, cases, options);
  judged.performance_of = timed.size();
  const auto count = static_cast<std::size_t>(options.rows);
  if (options.filter.empty()) {
    accuracy = without_large(accuracy, accuracy_bounds, count);
    timed = without_large(timed, use.device().is_cpu() ? timed_bounds_of_cpus : timed_bounds, count);
  }
  Draw draw(draw_seed);
  judged.accuracy = drawn(accuracy, count, draw, use);
  judged.performance = drawn(timed, count, draw, use);
  std::ranges::copy_if(judged.accuracy, std::back_inserter(judged.secret), has_own_secret_data);
  if (options.baseline_impl.empty()) return judged;
  for (const Case* one : judged.performance)
    judged.baselines.push_back(baseline_of(*one, cases, options.baseline_impl));
  return judged;
}

}  // namespace assay::app
