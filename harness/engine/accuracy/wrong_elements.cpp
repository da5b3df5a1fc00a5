#include "harness/engine/accuracy/wrong_elements.h"

#include "harness/engine/diagnosis/diagnose.h"
#include "harness/engine/diagnosis/made_from.h"
#include "harness/tensor/dtype.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace assay {

namespace {

constexpr std::int64_t most_kept = 1'000'000;

/// The wrong elements: all of them, or every n-th if there are more than `most_kept`.
struct Found {
  std::vector<std::int64_t> wrong;
  std::int64_t count = 0;
  std::optional<std::int64_t> first, worst;
  double largest_error = -1;
};

bool is_wrong(const WrongElements& of, ElementVerdict verdict) {
  return of.check.is_bad(verdict) || (of.check.too_many_flips && verdict == ElementVerdict::Flip);
}

void add(Found& found, const WrongElements& of, std::int64_t i, std::int64_t step) {
  if (!found.first) found.first = i;
  if (found.count++ % step == 0) found.wrong.push_back(i);
  if (of.is_unwritten && of.is_unwritten(i)) return;  // its value is poison, not an error
  const double error = absolute_error(of.accepted.expected(i), of.got.at(i));
  if (error <= found.largest_error) return;
  found.largest_error = error;
  found.worst = i;
}

Found find(const WrongElements& of) {
  const std::int64_t all = of.check.too_many_flips ? of.check.flips : of.check.mismatches;
  const std::int64_t step = std::max<std::int64_t>(1, div_up(all, most_kept));
  const HostTensor& values = of.accepted.values();
  const bool same_dtype = values.dtype() == of.got.dtype();
  Found found;
  for (std::int64_t i = 0; i < of.got.numel(); ++i) {
    if (same_dtype && same_bytes(values, of.got, i, i + 1)) continue;
    if (is_wrong(of, of.accepted.judge(i, of.got.at(i)))) add(found, of, i, step);
  }
  return found;
}

/// Whether more of the wrong elements differ between the runs, though they were written, than a diagnosis may
/// leave unexplained. The metric then says what they depend on.
bool are_unstable(const WrongElements& of, const Found& found) {
  if (!of.is_unstable) return false;
  const auto unstable = std::ranges::count_if(found.wrong, [&](std::int64_t i) {
    return of.is_unstable(i) && !(of.is_unwritten && of.is_unwritten(i));
  });
  return static_cast<double>(unstable) > (1 - least_share) * static_cast<double>(found.wrong.size());
}

WrongElement describe(const WrongElements& of, std::int64_t index, ReferenceProbe& probe) {
  WrongElement element;
  element.at = coordinates(of.got.shape(), index);
  element.expected = of.accepted.expected(index);
  element.got = of.got.at(index);
  element.bound = of.accepted.bound(index);
  element.unwritten = of.is_unwritten && of.is_unwritten(index);
  const double error = absolute_error(element.expected, element.got);
  const double ulp = unit_in_last_place(of.got.dtype(), element.expected);
  if (element.unwritten) {
    element.got = 0;
  } else if (std::isfinite(error)) {
    element.relative = element.expected == 0 ? 0 : error / std::fabs(element.expected);
    element.ulp = ulp > 0 ? error / ulp : 0;
  }
  const std::vector<double>& unrounded = of.data.expected[of.output].unrounded;
  if (!unrounded.empty()) element.before_rounding = unrounded[static_cast<std::size_t>(index)];
  element.made_from = made_from(of.test_case, probe, index);
  return element;
}

}  // namespace

void add_evidence(const WrongElements& of, AccuracyResult& result) {
  Found found = find(of);
  if (!found.first) return;
  // Each probe has its own budget, so that the result does not depend on earlier findings.
  ReferenceProbe of_first(of.test_case, of.data.inputs, of.output);
  result.first = describe(of, *found.first, of_first);
  if (found.worst && found.worst != found.first) {
    ReferenceProbe of_worst(of.test_case, of.data.inputs, of.output);
    result.worst = describe(of, *found.worst, of_worst);
  }
  if (are_unstable(of, found)) return;
  const WrongOutput output({.test_case = of.test_case,
                            .inputs = of.data.inputs,
                            .tensor = of.tensor,
                            .expected = of.accepted.values(),
                            .got = of.got,
                            .wrong = std::move(found.wrong),
                            .all_wrong = found.count,
                            .bound = [&](std::int64_t i) { return of.accepted.bound(i); },
                            .is_unwritten = of.is_unwritten});
  ReferenceProbe probe(of.test_case, of.data.inputs, of.output);
  result.diagnosis = diagnose(output, probe);
}

namespace {

constexpr std::int64_t max_across = 64;
constexpr std::int64_t max_down = 16;

struct Tile {
  std::int64_t elements = 0;
  std::int64_t bad = 0;
};

char symbol(const Tile& tile) {
  if (tile.bad == 0) return '.';
  if (tile.bad == tile.elements) return '#';
  const std::int64_t tenths = tile.bad * 10 / tile.elements;
  return static_cast<char>('0' + std::clamp<std::int64_t>(tenths, 1, 9));
}

}  // namespace

std::string tile_map(const Shape& shape, const std::function<bool(std::int64_t)>& is_bad) {
  const std::int64_t width = shape.back();
  const std::int64_t rows = numel(shape) / width;
  const std::int64_t tile_width = div_up(width, max_across);
  const std::int64_t tile_height = div_up(rows, max_down);
  const std::int64_t across = div_up(width, tile_width);
  std::vector<Tile> tiles(static_cast<std::size_t>(across * div_up(rows, tile_height)));
  for (std::int64_t i = 0; i < rows * width; ++i) {
    Tile& tile = tiles[static_cast<std::size_t>(i / width / tile_height * across + i % width / tile_width)];
    ++tile.elements;
    if (is_bad(i)) ++tile.bad;
  }
  std::string text =
      fmt::format("errors by tile of {} row{} x {} column{} of {} x {}", tile_height,
                  tile_height == 1 ? "" : "s", tile_width, tile_width == 1 ? "" : "s", rows, width);
  text += " ('.' none wrong, '1'-'9' tenths wrong, '#' all)";
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (static_cast<std::int64_t>(i) % across == 0) text += "\n";
    text += symbol(tiles[i]);
  }
  return text;
}

}  // namespace assay
