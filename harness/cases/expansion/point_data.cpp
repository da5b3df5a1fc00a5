#include "harness/cases/expansion/point_data.h"

#include "harness/base/hash.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/cases/expansion/id_text.h"

#include <fmt/format.h>

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

void append_forms_and_impl(const Case& point, std::string& id) {
  char separator = '/';
  for (std::size_t i = 0; i < point.tensors->size(); ++i) {
    const std::string form = id_of_form(point, i);
    if (form.empty()) continue;
    id.append(1, separator).append(form);
    separator = '.';
  }
  id.append(1, '/').append(id_text(point.impl->name));
}

// Builds a text before hashing it. Every part is named and terminated, so that two different data sets never
// give the same text.
std::uint64_t data_key(const Case& point, const std::function<std::string(const ArrayFile&)>& hash_of) {
  std::string text =
      fmt::format("op {}\nparams {}\nseed {}\n", point.op->name, point.params->canonical(), point.seed);
  if (!point.op->definition.empty())
    text += fmt::format("definition {}\n{}", point.op->definition.size(), point.op->definition);
  for (const auto& [tensor, fill] : point.fills) {
    text += fmt::format("fill {} {}", tensor, name_of(fill.kind));
    if (fill.value) text += fmt::format(" {}", *fill.value);
    if (fill.kind == FillKind::Npy) text += " " + hash_of(fill.file);
    text += '\n';
  }
  for (const auto& [tensor, file] : point.expected_files)
    text += fmt::format("expected {} {}\n", tensor, hash_of(file));
  return hash64(text);
}

}  // namespace assay::cases
