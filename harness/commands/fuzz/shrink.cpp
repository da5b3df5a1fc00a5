#include "harness/commands/fuzz/shrink.h"

#include "harness/commands/fuzz/edits.h"
#include "harness/commands/points/case_yaml.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace assay::app {
namespace {

constexpr int most_rounds = 40;
constexpr std::size_t most_of_a_round = 80;

/// A simpler case, and the edit that made it.
struct Candidate {
  Case made;
  const Edit* edit = nullptr;
  double complexity = 0;
};

class Shrinking {
 public:
  Shrinking(const Case& failing, const StillFails& still_fails, const std::function<bool()>& must_stop)
      : still_fails_(still_fails), must_stop_(must_stop), result_{failing, 0} {}

  Shrunk run() {
    for (int round = 0; round < most_rounds && !must_stop_(); ++round) {
      const std::vector<Edit> edits = simplifications(result_.smallest);
      std::vector<Candidate> simpler = candidates(edits);
      if (simpler.empty()) break;
      const std::vector<Candidate> good = failing_among(std::move(simpler));
      if (good.empty()) continue;  // more edits are left than a round tries
      std::vector<Candidate> all = failing_among(combinations(good));
      all.insert(all.end(), good.begin(), good.end());
      result_.smallest = std::ranges::min_element(all, {}, &Candidate::complexity)->made;
    }
    return std::move(result_);
  }

 private:
  /// What the edits make of the case, if that is simpler and was not tried before.
  std::vector<Candidate> candidates(const std::vector<Edit>& edits) {
    std::vector<Candidate> all;
    for (const Edit& edit : edits) {
      if (all.size() == most_of_a_round) break;
      if (std::optional<Case> made = edit.apply(result_.smallest)) add(*std::move(made), &edit, all);
    }
    return all;
  }

  void add(Case made, const Edit* edit, std::vector<Candidate>& all) {
    const double now = complexity(made);
    if (now >= complexity(result_.smallest) || !tried_.insert(short_case_file(made, "c")).second) return;
    all.push_back({std::move(made), edit, now});
  }

  std::vector<Candidate> failing_among(std::vector<Candidate> candidates) {
    if (candidates.empty()) return {};
    std::vector<Case> cases;
    for (const Candidate& one : candidates) cases.push_back(one.made);
    const std::vector<bool> fails = still_fails_(cases);
    result_.tried += cases.size();
    std::vector<Candidate> kept;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (fails[i]) kept.push_back(std::move(candidates[i]));
    }
    return kept;
  }

  /// The best edit of each place, all at once, and halves of them.
  std::vector<Candidate> combinations(const std::vector<Candidate>& good) {
    std::map<std::string, const Candidate*> best;
    for (const Candidate& one : good) {
      const Candidate*& known = best[one.edit->place];
      if (known == nullptr || one.complexity < known->complexity) known = &one;
    }
    std::vector<const Edit*> edits;
    for (const auto& [place, one] : best) edits.push_back(one->edit);
    const std::size_t half = edits.size() / 2;
    std::vector<Candidate> all;
    add(applied(edits), nullptr, all);
    add(applied(std::span(edits).first(half)), nullptr, all);
    add(applied(std::span(edits).subspan(half)), nullptr, all);
    return all;
  }

  Case applied(std::span<const Edit* const> edits) const {
    Case made = result_.smallest;
    for (const Edit* edit : edits) {
      if (std::optional<Case> next = edit->apply(made)) made = *std::move(next);
    }
    return made;
  }

  const StillFails& still_fails_;
  const std::function<bool()>& must_stop_;
  std::set<std::string> tried_;
  Shrunk result_;
};

}  // namespace

Shrunk shrink(const Case& failing, const StillFails& still_fails, const std::function<bool()>& must_stop) {
  return Shrinking(failing, still_fails, must_stop).run();
}

}  // namespace assay::app
