#include "harness/engine/diagnosis/diagnose.h"

#include "harness/engine/diagnosis/counterfactual.h"
#include "harness/engine/diagnosis/displacement.h"
#include "harness/engine/diagnosis/evidence.h"
#include "harness/engine/diagnosis/value_hypotheses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace assay {
namespace {

using Plain = std::optional<Explanation> (*)(const WrongOutput&);

/// The share of a region's elements that must be wrong; some may be right by chance.
constexpr double least_wrong_inside = 0.5;

std::int64_t element_stride(const Shape& shape, std::size_t dim) {
  std::int64_t stride = 1;
  for (std::size_t d = dim + 1; d < shape.size(); ++d) stride *= shape[d];
  return stride;
}

std::int64_t index_along(const Shape& shape, std::size_t dim, std::int64_t i) {
  return i / element_stride(shape, dim) % shape[dim];
}

/// A region with a larger share of the tensor says little about where errors are.
constexpr double largest_part = 0.5;
/// The share of a large region's elements that must be wrong.
constexpr double nearly_all_places = 0.9;

/// The value from which on the largest values make up the share that a hypothesis has to explain; smaller
/// values are outliers.
std::int64_t begin_of_last(std::vector<std::int64_t> values) {
  const auto outliers = static_cast<std::ptrdiff_t>((1 - least_share) * static_cast<double>(values.size()));
  std::ranges::nth_element(values, values.begin() + outliers);
  return values[static_cast<std::size_t>(outliers)];
}

struct Region {
  std::string text;
  double elements = 0;  ///< number of its elements
  std::function<bool(std::int64_t)> has;
  double share = 0;  ///< of the wrong elements that are in it
};

bool is_mostly_wrong(const WrongOutput& output, const Region& region) {
  const double wrong_inside = region.share * static_cast<double>(output.all_wrong());
  const bool is_small = region.elements <= largest_part * static_cast<double>(output.numel());
  const double least = is_small ? least_wrong_inside : nearly_all_places;
  // If the region is most of the tensor, a single wrong element outside of it refutes it.
  return region.share >= (is_small ? least_share : 1) && wrong_inside >= least * region.elements;
}

Region region(const WrongOutput& output, std::string text, double elements,
              std::function<bool(std::int64_t)> has) {
  const auto inside = std::ranges::count_if(output.wrong(), has);
  const double share = static_cast<double>(inside) / static_cast<double>(output.wrong().size());
  return {std::move(text), elements, std::move(has), share};
}

std::string last_text(const WrongOutput& output, std::size_t dim, std::int64_t begin) {
  const std::int64_t size = output.shape()[dim];
  const std::string name = dim_name(output.shape(), dim);
  if (size - begin == 1) return fmt::format("only the last {} ({} of {}) is wrong", name, size - 1, size);
  if (begin == 1) return fmt::format("all but the first {} of {} are wrong", name, size);
  return fmt::format("only the last {} of {}, counted by {}, are wrong", size - begin, size, name);
}

/// The region from an index of a dim on.
Region from_index(const WrongOutput& output, std::size_t dim, std::int64_t begin) {
  const Shape& shape = output.shape();
  const auto is_inside = [shape, dim, begin](std::int64_t i) { return index_along(shape, dim, i) >= begin; };
  const auto part = static_cast<double>(shape[dim] - begin) / static_cast<double>(shape[dim]);
  return region(output, last_text(output, dim, begin), part * static_cast<double>(output.numel()), is_inside);
}

/// The last indices of a dim that hold all wrong elements, else all but outliers.
std::optional<Region> last_of_dim(const WrongOutput& output, std::size_t dim) {
  std::vector<std::int64_t> along;
  for (const std::int64_t i : output.wrong()) along.push_back(index_along(output.shape(), dim, i));
  const std::int64_t first = std::ranges::min(along);
  if (first > 0) {
    Region whole = from_index(output, dim, first);
    if (is_mostly_wrong(output, whole)) return whole;
  }
  const std::int64_t begin = begin_of_last(std::move(along));
  if (begin == 0) return std::nullopt;
  return from_index(output, dim, begin);
}

std::optional<Region> last_lane(const WrongOutput& output, std::size_t dim) {
  const Shape& shape = output.shape();
  if (shape[dim] <= 4) return std::nullopt;
  const auto is_inside = [shape, dim](std::int64_t i) { return index_along(shape, dim, i) % 4 == 3; };
  const std::int64_t elements = output.numel() / shape[dim] * (shape[dim] / 4);
  return region(output, fmt::format("only the last lane of every four {}s is wrong", dim_name(shape, dim)),
                static_cast<double>(elements), is_inside);
}

std::optional<Region> last_of_all(const WrongOutput& output) {
  const std::int64_t begin = output.wrong().front();
  const std::int64_t count = output.numel() - begin;
  if (begin < output.numel() / 2) return std::nullopt;
  return region(output,
                count == 1 ? std::string("only the last element is wrong")
                           : fmt::format("only the last {} elements are wrong", count),
                static_cast<double>(count), [begin](std::int64_t i) { return i >= begin; });
}

/// The region as an explanation, if right elements outside of it could have contradicted that.
std::optional<Explanation> named(const WrongOutput& output, ErrorKind kind, const Region& region) {
  const PlaceEvidence evidence = place_evidence(output, region.has);
  if (evidence.bits() < least_place_bits) return std::nullopt;
  return Explanation{kind, region.text + evidence.text(), region.share};
}

std::int64_t from_the_edge(const Shape& shape, std::size_t dim, std::int64_t i) {
  const std::int64_t along = index_along(shape, dim, i);
  return std::min(along, shape[dim] - 1 - along);
}

std::int64_t from_any_edge(const Shape& shape, std::int64_t i) {
  const std::size_t rank = shape.size();
  return std::min(from_the_edge(shape, rank - 1, i), from_the_edge(shape, rank - 2, i));
}

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

std::string dim_name(const Shape& shape, std::size_t dim) {
  constexpr std::array<const char*, 4> names{"batch", "channel", "row", "column"};
  const std::size_t from_end = shape.size() - dim;
  const bool is_named = shape.size() == 4 || from_end <= 2;
  return is_named ? names[4 - from_end] : fmt::format("index along dim {}", dim);
}

std::optional<Explanation> explain_tail(const WrongOutput& output) {
  if (output.wrong().empty() || output.numel() < 2) return std::nullopt;
  std::vector<Region> regions;
  const auto add = [&](std::optional<Region> region) {
    if (region && is_mostly_wrong(output, *region)) regions.push_back(std::move(*region));
  };
  for (std::size_t dim = 0; dim < output.shape().size(); ++dim) {
    add(last_of_dim(output, dim));
    add(last_lane(output, dim));
  }
  add(last_of_all(output));
  if (regions.empty()) return std::nullopt;
  // The smallest region is the most specific.
  const auto best = std::ranges::min_element(regions, {}, &Region::elements);
  return named(output, ErrorKind::Tail, *best);
}

std::optional<Explanation> explain_edge(const WrongOutput& output) {
  const Shape& shape = output.shape();
  if (shape.size() < 3) return std::nullopt;
  constexpr std::int64_t widest = 3;
  constexpr double largest_edge = 0.7;
  for (std::int64_t width = 1; width <= widest; ++width) {
    const auto is_inside = [&](std::int64_t i) { return from_any_edge(shape, i) < width; };
    const auto inner = static_cast<double>(std::max<std::int64_t>(0, shape.end()[-1] - 2 * width)) *
                       static_cast<double>(std::max<std::int64_t>(0, shape.end()[-2] - 2 * width));
    const double part = 1 - inner / static_cast<double>(shape.end()[-1] * shape.end()[-2]);
    const Region edge =
        region(output,
               fmt::format("only the outermost {} of images are wrong",
                           width == 1 ? "rows and columns" : fmt::format("{} rows and columns", width)),
               part * static_cast<double>(output.numel()), is_inside);
    const double wrong_inside = edge.share * static_cast<double>(output.all_wrong());
    if (part <= largest_edge && edge.share >= least_share &&
        wrong_inside >= least_wrong_inside * edge.elements)
      return named(output, ErrorKind::Edge, edge);
  }
  return std::nullopt;
}

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
