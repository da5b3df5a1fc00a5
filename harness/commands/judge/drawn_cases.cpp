#include "harness/commands/judge/drawn_cases.h"

#include "harness/base/file.h"
#include "harness/commands/judge/variation.h"
#include "harness/commands/points/draw.h"
#include "harness/commands/points/random_point.h"
#include "harness/commands/points/written_cases.h"
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

bool needs_at_most(const Case& one, std::int64_t operations) {
  const std::optional<Work> work = known_work(one);
  return work && work->operations <= operations;
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
    use_.stop_if_asked();
    if (bases_.empty()) return std::nullopt;
    std::optional<Case> made = varied(*draw.one_of(bases_), fills_, draw);
    if (made) made->mode = Mode::Accu;
    return made;
  }

  std::vector<Case> drawn_small(std::size_t count, Draw& draw) const {
    std::vector<Case> drawn;
    for (std::size_t i = 0; i < count * candidates_each; ++i) {
      const std::optional<Case> made = one_drawn(draw);
      if (made && elements_of(*made) <= most_elements && needs_at_most(*made, most_operations))
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
      if (large && needs_at_most(*large, most)) drawn.push_back(*large);
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

constexpr std::size_t attempts = 60;

bool is_half_to_twice(std::int64_t now, std::int64_t before) {
  return now <= 2 * before && 2 * now >= before;
}

bool costs_about_as_much(const Case& one, const Case& as) {
  const std::optional<Work> now = known_work(one);
  const std::optional<Work> before = known_work(as);
  return now && before && is_half_to_twice(now->operations, before->operations) &&
         is_half_to_twice(now->bytes_read + now->bytes_written, before->bytes_read + before->bytes_written);
}

using Shapes = std::vector<Shape>;

/// The size is what a submission would most easily know a public case by.
Shapes shapes_of(const Case& one) {
  Shapes shapes;
  for (const TensorSpec& tensor : *one.tensors) shapes.push_back(tensor.shape);
  return shapes;
}

/// What the repository's cases have.
struct Known {
  std::set<std::uint64_t> data_keys;
  std::map<std::string, std::set<Shapes>> timed_shapes;  ///< by the op's name

  bool has(const Case& one) const {
    const auto of_op = timed_shapes.find(one.op->name);
    return data_keys.contains(one.data_key) ||
           (of_op != timed_shapes.end() && of_op->second.contains(shapes_of(one)));
  }
};

Known known_from(std::span<const Case> all) {
  Known known;
  for (const Case& one : all) {
    known.data_keys.insert(one.data_key);
    if (one.mode != Mode::Accu && !one.invalid) known.timed_shapes[one.op->name].insert(shapes_of(one));
  }
  return known;
}

/// A timed case, and the case of another impl that it is compared with; null: of the same.
struct PublicPoint {
  const Case* timed = nullptr;
  const Case* baseline = nullptr;
};

/// Draws the timed points of one op.
class OpPoints {
 public:
  OpPoints(const Registry& registry, ShaderUse& use, Known& known, const fs::path& file)
      : use_(use), known_(known), file_(registry, file) {}

  std::vector<Case> write(const std::vector<PublicPoint>& points, Draw& draw) {
    std::vector<Case> kept;
    std::vector<const Case*> timed;
    for (const PublicPoint& point : points) timed.push_back(point.timed);
    for (const PublicPoint& point : points) add_near(point, timed, draw, kept);
    const bool pairs = !points.empty() && points.front().baseline != nullptr;
    std::vector<Case> written = file_.keep(kept, "drawn", pairs);
    if (pairs)
      std::erase_if(written, [&](const Case& one) { return one.impl == points.front().baseline->impl; });
    return written;
  }

 private:
  static Case with_impl_of(const Case& drawn, const Case& baseline) {
    Case made = drawn;
    made.impl = baseline.impl;
    made.tune = baseline.tune;
    return made;
  }

  void add_near(const PublicPoint& point, std::span<const Case* const> timed, Draw& draw,
                std::vector<Case>& kept) {
    if (!has_secret_data(*point.timed)) return;
    std::vector<Case> candidates;
    for (std::size_t i = 0; i < attempts; ++i) {
      use_.stop_if_asked();
      std::optional<Case> made =
          nearby(*point.timed, point.baseline == nullptr ? timed : without_others, draw);
      if (!made || !costs_about_as_much(*made, *point.timed)) continue;
      made->mode = Mode::Perf;
      candidates.push_back(*std::move(made));
    }
    for (const Candidates::Loaded& one : file_.valid(candidates)) {
      if (known_.has(one.loaded) || !use_.changes(one.loaded)) continue;
      const Case& drawn = candidates[one.number];
      if (point.baseline != nullptr) {
        const Case other = with_impl_of(drawn, *point.baseline);
        if (file_.valid(std::span(&other, 1)).empty()) continue;
        kept.push_back(drawn);
        kept.push_back(other);
      } else {
        kept.push_back(drawn);
      }
      known_.data_keys.insert(one.loaded.data_key);
      return;
    }
  }

  static constexpr std::span<const Case* const> without_others{};

  ShaderUse& use_;
  Known& known_;
  Candidates file_;
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

DrawnCases drawn_points(const JudgedCases& judged, std::span<const Case> all, const Registry& registry,
                        ShaderUse& use, std::uint64_t seed, const fs::path& folder) {
  std::map<std::string, std::vector<PublicPoint>> by_op;
  for (std::size_t i = 0; i < judged.performance.size(); ++i) {
    const Case* const one = judged.performance[i];
    by_op[one->op->name].push_back({one, judged.baselines.empty() ? nullptr : judged.baselines[i]});
  }
  DrawnCases made;
  if (by_op.empty()) return made;
  Known known = known_from(all);
  make_directories(folder);
  Draw draw(seed);
  for (const auto& [op, points] : by_op) {
    const fs::path file = folder / (op + ".yaml");
    std::vector<Case> kept = OpPoints(registry, use, known, file).write(points, draw);
    if (kept.empty()) continue;
    made.files.push_back(file);
    std::ranges::move(kept, std::back_inserter(made.cases));
  }
  return made;
}

}  // namespace assay::app
