#include "harness/commands/judge/fuzz.h"

#include "harness/base/file.h"
#include "harness/commands/judge/variation.h"
#include "harness/commands/points/case_cost.h"
#include "harness/commands/points/case_yaml.h"
#include "harness/commands/points/draw.h"
#include "harness/engine/accuracy/data_set.h"

#include <algorithm>
#include <map>
#include <set>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t most_elements = 1 << 18;  ///< of most cases
constexpr std::int64_t most_operations = std::int64_t{1} << 25;
constexpr std::int64_t large_elements = 300'001;
constexpr std::int64_t very_large_elements = 2'000'000;
constexpr std::int64_t most_operations_of_large = std::int64_t{1} << 28;
constexpr std::int64_t most_operations_of_large_on_cpus = std::int64_t{1} << 26;
constexpr std::size_t candidates_each = 40;  ///< drawn for each case that is wanted
constexpr std::size_t fewest_of_an_op = 2;

/// Whether cases may be derived from this one: tolerances and files are valid only for its own shape.
bool is_base(const Case& one) {
  return has_secret_data(one) && is_writable(one) && one.tolerance->scale <= 1 &&
         !one.tolerance->has_allowance();
}

/// Draws the fuzzed cases of one op.
class OpFuzz {
 public:
  OpFuzz(const std::vector<const Case*>& bases, const Registry& registry, ShaderUse& use,
         const fs::path& file)
      : fills_(fill_pool(bases)), use_(use), file_(registry, file) {
    for (const Case* base : bases) {
      known_.insert(base->data_key);
      if (elements_of(*base) <= 64 * most_elements) bases_.push_back(base);
    }
  }

  /// Writes at most `count` cases to the file.
  std::vector<Case> write(std::size_t count, Draw& draw) {
    const std::size_t large = count < 2 ? 0 : (count + 3) / 4;
    std::vector<Case> kept = accepted(drawn_large(large, draw), large);
    const std::vector<Case> small = accepted(drawn_small(count - kept.size(), draw), count - kept.size());
    kept.insert(kept.begin(), small.begin(), small.end());
    return file_.keep(kept, "fuzz");
  }

 private:
  std::optional<Case> one_drawn(Draw& draw) const {
    if (bases_.empty()) return std::nullopt;
    std::optional<Case> made = varied(*draw.one_of(bases_), fills_, draw);
    if (made) made->mode = Mode::Accu;
    return made;
  }

  std::vector<Case> drawn_small(std::size_t count, Draw& draw) const {
    std::vector<Case> drawn;
    for (std::size_t i = 0; i < count * candidates_each; ++i) {
      const std::optional<Case> made = one_drawn(draw);
      if (made && elements_of(*made) <= most_elements && operations_of(*made) <= most_operations)
        drawn.push_back(*made);
    }
    return drawn;
  }

  std::vector<Case> drawn_large(std::size_t count, Draw& draw) const {
    const std::int64_t most =
        use_.device().is_cpu() ? most_operations_of_large_on_cpus : most_operations_of_large;
    std::vector<Case> drawn;
    for (std::size_t i = 0; i < count * candidates_each; ++i) {
      const std::optional<Case> made = one_drawn(draw);
      const std::int64_t least = draw.one_in(3) ? very_large_elements : large_elements;
      if (!made) continue;
      const std::optional<Case> large = enlarged(*made, least, draw);
      if (large && operations_of(*large) <= most) drawn.push_back(*large);
    }
    return drawn;
  }

  std::vector<Case> accepted(const std::vector<Case>& drawn, std::size_t count) {
    std::vector<Case> kept;
    for (const Candidates::Loaded& one : file_.valid(drawn)) {
      if (kept.size() == count) break;
      if (known_.contains(one.loaded.data_key) || !use_.changes(one.loaded)) continue;
      known_.insert(one.loaded.data_key);
      kept.push_back(drawn[one.number]);
    }
    return kept;
  }

  std::vector<const Case*> bases_;
  FillPool fills_;
  ShaderUse& use_;
  Candidates file_;
  std::set<std::uint64_t> known_;
};

}  // namespace

DrawnCases fuzzed_cases(std::span<const Case* const> judged, const Registry& registry, ShaderUse& use,
                        std::size_t count, std::uint64_t seed, const fs::path& folder) {
  std::map<std::string, std::vector<const Case*>> bases;
  for (const Case* one : judged) {
    if (is_base(*one)) bases[one->op->name].push_back(one);
  }
  DrawnCases made;
  if (bases.empty()) return made;
  Draw draw(seed);
  make_directories(folder);
  std::size_t number = 0;
  for (const auto& [op, cases] : bases) {
    const fs::path file = folder / (op + ".yaml");
    const std::size_t share = std::max((count + number++) / bases.size(), fewest_of_an_op);
    std::vector<Case> kept = OpFuzz(cases, registry, use, file).write(share, draw);
    if (kept.empty()) continue;
    made.files.push_back(file);
    std::ranges::move(kept, std::back_inserter(made.cases));
  }
  return made;
}

}  // namespace assay::app
