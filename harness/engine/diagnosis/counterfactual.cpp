#include "harness/engine/diagnosis/counterfactual.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace assay {
namespace {

/// A change that explains this share, and leaves this share of the right elements right, ends the search.
constexpr double nearly_all = 0.99;

double share_right(const WrongOutput& output, const HostTensor& values) {
  if (output.right().empty()) return 1;
  const auto agrees = [&](std::int64_t i) {
    const double value = values.at(i), got = output.got(i);
    return value == got || output.explains(i, value) || std::fabs(value - got) <= 1e-6 * std::fabs(got);
  };
  return static_cast<double>(std::ranges::count_if(output.right(), agrees)) /
         static_cast<double>(output.right().size());
}

bool is_better(const CounterfactualResult& a, const CounterfactualResult& b) {
  return std::pair(a.explanation.share >= nearly_all, a.right) >
         std::pair(b.explanation.share >= nearly_all, b.right);
}

/// The outputs for scales that are slightly larger and slightly smaller.
std::vector<HostTensor> beside_ties(const WrongOutput& output, ReferenceProbe& probe) {
  std::vector<HostTensor> answers;
  const Point here = probe.here();
  for (const double factor : {1 + 1e-5, 1 - 1e-5}) {
    for (const Counterfactual& change : scaled_by(output.test_case(), here, factor)) {
      Point other = here;
      change.change(other);
      if (auto answer = probe.ask(other)) answers.push_back(std::move(*answer));
    }
  }
  return answers;
}

}  // namespace

std::optional<Explanation> explain_ties(const WrongOutput& output, ReferenceProbe& probe) {
  constexpr std::size_t fewest = 3;
  if (!output.is_integer() || output.wrong().size() < fewest || !probe.can_afford(1)) return std::nullopt;
  const std::vector<HostTensor> answers = beside_ties(output, probe);
  const auto is_tie = [&](std::int64_t i) {
    const auto is_it = [&](const HostTensor& answer) { return answer.at(i) == output.got(i); };
    return std::fabs(output.got(i) - output.expected(i)) == 1 && std::ranges::any_of(answers, is_it);
  };
  const auto ties = static_cast<double>(std::ranges::count_if(output.wrong(), is_tie));
  return if_enough({ErrorKind::Rounding, "integers are off by one at exact ties",
                    ties / static_cast<double>(output.wrong().size())});
}

std::vector<Counterfactual> counterfactuals(const Case& test_case, const Point& point) {
  std::vector<Counterfactual> all;
  for (const auto& list : {other_zero_points, other_scales, other_activations, other_blocks, other_padding,
                           other_geometry, missing_terms, misread_inputs}) {
    std::ranges::move(list(test_case, point), std::back_inserter(all));
  }
  return all;
}

std::optional<CounterfactualResult> explain_by_counterfactuals(const WrongOutput& output,
                                                               ReferenceProbe& probe) {
  if (!probe.can_afford(1)) return std::nullopt;
  const Point here = probe.here();
  const std::vector<Counterfactual> changes = counterfactuals(output.test_case(), here);
  std::optional<CounterfactualResult> best;
  for (const Counterfactual& change : changes) {
    if (!probe.can_afford(1)) break;
    Point other = here;
    change.change(other);
    const std::optional<HostTensor> values = probe.ask(other);
    if (!values) continue;
    const double share = output.share_explained([&](std::int64_t i) { return values->at(i); });
    if (share < least_share) continue;
    const double explained = share * static_cast<double>(output.wrong().size());
    if (output.evidence_bits(explained, static_cast<double>(changes.size())) < least_bits) continue;
    CounterfactualResult result{{change.kind, "as if " + change.text, share}, share_right(output, *values)};
    if (!best || is_better(result, *best)) best = std::move(result);
    if (best->explanation.share >= nearly_all && best->right >= nearly_all) break;
  }
  return best;
}

}  // namespace assay
