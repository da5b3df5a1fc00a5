#include "harness/engine/diagnosis/wrong_output.h"

#include "harness/tensor/dtype.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>
#include <utility>

namespace assay {
namespace {

constexpr std::int64_t most_right = 1 << 12;
constexpr double large_integer_error = 8;
constexpr double last_places = 4;     ///< ULPs by which a prediction of a float may be off
constexpr double much_nearer = 0.25;  ///< share of the error

std::vector<std::int64_t> thinned(std::vector<std::int64_t> all, std::int64_t most) {
  const auto count = static_cast<std::int64_t>(all.size());
  if (count <= most) return all;
  std::vector<std::int64_t> some;
  for (std::int64_t i = 0; i < most; ++i) some.push_back(all[static_cast<std::size_t>(i * count / most)]);
  return some;
}

/// Elements that are not in `wrong`, which holds all wrong elements or a sample.
std::vector<std::int64_t> right_ones(std::int64_t numel, std::span<const std::int64_t> wrong,
                                     const std::function<bool(std::int64_t)>& is_right) {
  std::vector<std::int64_t> right;
  const std::int64_t step = std::max<std::int64_t>(1, numel / most_right);
  for (std::int64_t i = 0; i < numel; i += step) {
    if (is_right(i) && !std::ranges::binary_search(wrong, i)) right.push_back(i);
  }
  return right;
}

double collision_bits(std::span<const std::int64_t> wrong, const HostTensor& got) {
  std::unordered_map<std::uint64_t, double> counts;
  for (const std::int64_t i : wrong) ++counts[std::bit_cast<std::uint64_t>(got.at(i))];
  double collisions = 0;
  for (const auto& [value, count] : counts) collisions += count * count;
  const auto all = static_cast<double>(wrong.size());
  return wrong.empty() ? 0 : -std::log2(collisions / (all * all));
}

}  // namespace

WrongOutput::WrongOutput(Parts parts) : parts_(std::move(parts)) {
  parts_.wrong = thinned(std::move(parts_.wrong), most_looked_at);
  const auto is_right = [this](std::int64_t i) {
    return absolute_error(expected(i), got(i)) <= (parts_.bound ? parts_.bound(i) : 0);
  };
  right_ = right_ones(numel(), parts_.wrong, is_right);
  bits_of_element_ = collision_bits(parts_.wrong, parts_.got);
  if (!is_integer()) return;
  const FillDomain& domain = spec().domain;
  const bool has_range = domain.lo < domain.hi;
  lowest_ = has_range ? domain.lo : static_cast<double>(assay::lowest(parts_.got.dtype()));
  highest_ = has_range ? domain.hi : static_cast<double>(assay::highest(parts_.got.dtype()));
}

bool WrongOutput::explains(std::int64_t i, double predicted) const {
  const double value = got(i);
  if (std::isnan(value) || std::isnan(predicted)) return std::isnan(value) && std::isnan(predicted);
  if (value == predicted) return std::signbit(value) == std::signbit(predicted) || is_integer();
  const double distance = std::fabs(value - predicted);
  const double error = absolute_error(expected(i), value);
  if (is_integer()) return distance <= 1 && error >= large_integer_error;
  const double bound = parts_.bound ? parts_.bound(i) : 0;
  const double places = last_places * unit_in_last_place(parts_.got.dtype(), predicted);
  return distance <= std::max(bound, places) && distance <= much_nearer * error;
}

double WrongOutput::share_explained(const std::function<double(std::int64_t)>& predict) const {
  const std::span<const std::int64_t> all = wrong();
  if (all.empty()) return 0;
  constexpr std::size_t few = 64;
  std::size_t looked_at = 0, explained = 0;
  // A hypothesis that does not explain a few does not explain all, so a sample is tried first.
  const std::size_t stride = all.size() / few + 1;
  for (std::size_t k = 0; k < all.size(); k += stride, ++looked_at)
    explained += explains(all[k], predict(all[k]));
  if (stride == 1 || static_cast<double>(explained) < least_share / 2 * static_cast<double>(looked_at))
    return static_cast<double>(explained) / static_cast<double>(looked_at);
  explained = 0;
  for (const std::int64_t i : all) explained += explains(i, predict(i));
  return static_cast<double>(explained) / static_cast<double>(all.size());
}

double WrongOutput::evidence_bits(double explained, double candidates) const {
  return explained * bits_of_element_ - std::log2(std::max(1.0, candidates));
}

}  // namespace assay
