#include "harness/engine/diagnosis/diagnose.h"

#include "harness/engine/diagnosis/counterfactual.h"
#include "harness/engine/diagnosis/displacement.h"
#include "harness/engine/diagnosis/place_hypotheses.h"
#include "harness/engine/diagnosis/value_hypotheses.h"

#include <array>
#include <utility>

namespace assay {
namespace {

using Plain = std::optional<Explanation> (*)(const WrongOutput&);

std::optional<Explanation> first_of(const WrongOutput& output, std::initializer_list<Plain> hypotheses) {
  for (const Plain& hypothesis : hypotheses) {
    if (auto found = hypothesis(output)) return found;
  }
  return std::nullopt;
}

std::optional<Explanation> rounding(const WrongOutput& output, ReferenceProbe& probe) {
  const std::optional<HostTensor> zeros = zeros_of_output(output.test_case(), probe);
  if (!zeros) return explain_rounding(output, {});
  return explain_rounding(output, [&](std::int64_t i) { return zeros->at(i); });
}

/// The explanation found with the reference: integers off by one are rounding, unless a changed parameter
/// explains all wrong elements and keeps the right ones right.
std::optional<Explanation> by_the_reference(const WrongOutput& output, ReferenceProbe& probe) {
  if (auto ties = explain_ties(output, probe)) return ties;
  constexpr double certain = 0.9;
  const std::optional<Explanation> rounded = rounding(output, probe);
  const std::optional<CounterfactualResult> changed = explain_by_counterfactuals(output, probe);
  const bool is_certain = changed && changed->explanation.share >= certain && changed->right >= certain;
  if (rounded && !is_certain) return rounded;
  if (changed) return changed->explanation;
  return explain_by_any_block(output, probe);
}

std::optional<Explanation> likeliest(const WrongOutput& output, ReferenceProbe& probe) {
  if (auto found = first_of(output, {explain_unwritten, explain_overwritten, explain_nan, explain_sign,
                                     explain_clamp, explain_lanes, explain_displacement}))
    return found;
  if (auto found = by_the_reference(output, probe)) return found;
  return first_of(output, {explain_difference, explain_ratio, explain_tail, explain_edge});
}

}  // namespace

std::optional<Diagnosis> diagnose(const WrongOutput& output, ReferenceProbe& probe) {
  if (output.wrong().empty()) return std::nullopt;
  std::optional<Explanation> found = likeliest(output, probe);
  if (!found) return std::nullopt;
  if (found->kind != ErrorKind::Tail && found->kind != ErrorKind::Edge) {
    if (const auto tail = explain_tail(output)) found->text += "; " + tail->text;
  }
  return Diagnosis{std::string(name_of(found->kind)), std::move(found->text), found->share};
}

}  // namespace assay
