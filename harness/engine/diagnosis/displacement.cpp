#include "harness/engine/diagnosis/displacement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>

namespace assay {
namespace {

double predicted(const WrongOutput& output, const ElementMap& map, std::int64_t i) {
  const std::int64_t from = map.from(i);
  // A missing element explains nothing: the expected value never equals a wrong one.
  return from < 0 ? output.expected(i) : output.expected(from);
}

/// Which lane each of four lanes along an axis holds.
using Lanes = std::array<std::int64_t, 4>;

Lanes best_lanes(const WrongOutput& output, std::int64_t size, std::int64_t stride) {
  std::array<std::array<std::size_t, 4>, 4> counts{};
  for (const std::int64_t i : output.wrong()) {
    const std::int64_t along = i / stride % size;
    const std::int64_t first = along - along % 4;
    for (std::int64_t lane = 0; lane < 4 && first + lane < size; ++lane) {
      const bool is_it = output.explains(i, output.expected(i + (first + lane - along) * stride));
      counts[static_cast<std::size_t>(along % 4)][static_cast<std::size_t>(lane)] += is_it;
    }
  }
  Lanes lanes{0, 1, 2, 3};
  for (std::size_t to = 0; to < 4; ++to) {
    for (std::size_t from = 0; from < 4; ++from) {
      if (counts[to][from] > counts[to][static_cast<std::size_t>(lanes[to])])
        lanes[to] = static_cast<std::int64_t>(from);
    }
  }
  return lanes;
}

std::optional<Explanation> lanes_along(const WrongOutput& output, std::int64_t size, std::int64_t stride,
                                       const std::string& where) {
  if (size < 2) return std::nullopt;
  const Lanes lanes = best_lanes(output, size, stride);
  const auto predict = [&](std::int64_t i) {
    const std::int64_t along = i / stride % size;
    const std::int64_t to = along - along % 4 + lanes[static_cast<std::size_t>(along % 4)];
    return to < size ? output.expected(i + (to - along) * stride) : output.expected(i);
  };
  const double share = output.share_explained(predict);
  if (output.evidence_bits(share * static_cast<double>(output.wrong().size()), 256) < least_bits)
    return std::nullopt;
  return if_enough({ErrorKind::Packing,
                    fmt::format("lanes 0 to 3 of every four {} hold lanes {}", where, fmt::join(lanes, ", ")),
                    share});
}

}  // namespace

ErrorKind kind_of(ElementMap::Kind kind) {
  switch (kind) {
    case ElementMap::Kind::Neighbour:
      return ErrorKind::Index;
    case ElementMap::Kind::Lanes:
      return ErrorKind::Packing;
    case ElementMap::Kind::Transposed:
      return ErrorKind::Layout;
  }
  return ErrorKind::Index;
}

std::optional<Explanation> explain_displacement(const WrongOutput& output) {
  const Form form = output.test_case().forms[output.tensor()];
  const std::vector<ElementMap> maps = likely_maps(output.shape(), output.spec().dtype, form);
  std::optional<Explanation> best;
  for (const ElementMap& map : maps) {
    const double share = output.share_explained([&](std::int64_t i) { return predicted(output, map, i); });
    if (share < least_share || (best && share <= best->share)) continue;
    const double explained = share * static_cast<double>(output.wrong().size());
    if (output.evidence_bits(explained, static_cast<double>(maps.size())) < least_bits) continue;
    best =
        Explanation{kind_of(map.kind), "the answer is what is expected at another place: " + map.text, share};
  }
  return best;
}

std::optional<Explanation> explain_lanes(const WrongOutput& output) {
  const Shape& shape = output.shape();
  if (auto found = lanes_along(output, shape.back(), 1, "columns")) return found;
  const auto packed = packed_dim(shape, output.test_case().forms[output.tensor()].layout);
  if (packed && *packed + 1 < shape.size()) {
    std::int64_t stride = 1;
    for (std::size_t d = *packed + 1; d < shape.size(); ++d) stride *= shape[d];
    if (auto found = lanes_along(output, shape[*packed], stride, fmt::format("along dim {}", *packed)))
      return found;
  }
  return lanes_along(output, output.numel(), 1, "elements");
}

}  // namespace assay
