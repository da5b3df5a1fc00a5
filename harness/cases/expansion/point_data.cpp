#include "harness/cases/expansion/point_data.h"

#include <algorithm>
#include <array>
#include <functional>

namespace assay::cases {
namespace {

/// Mixes one more value into a hash.
template <class T>
void mix(std::size_t& hash, const T& value) {
  constexpr std::size_t golden = 0x9E3779B97F4A7C15;
  hash ^= std::hash<T>()(value) + golden + (hash << 6U) + (hash >> 2U);
}

}  // namespace

bool is_data_key(std::string_view key) {
  constexpr std::array<std::string_view, 7> others{"forms", "impl",  "tolerance", "tune",
                                                   "model", "layer", "calls"};
  return std::ranges::find(others, key) == others.end();
}

std::size_t HashOfTensors::operator()(const std::vector<TensorSpec>& tensors) const {
  std::size_t hash = tensors.size();
  for (const TensorSpec& tensor : tensors) {
    mix(hash, tensor.dtype);
    for (const std::int64_t dim : tensor.shape) mix(hash, dim);
  }
  return hash;
}

std::size_t HashOfFills::operator()(const std::map<std::string, FillSpec>& fills) const {
  std::size_t hash = fills.size();
  for (const auto& [tensor, fill] : fills) {
    mix(hash, tensor);
    mix(hash, fill.kind);
    mix(hash, fill.value.value_or(0));
    mix(hash, fill.file.path);
    mix(hash, fill.file.member);
  }
  return hash;
}

}  // namespace assay::cases
