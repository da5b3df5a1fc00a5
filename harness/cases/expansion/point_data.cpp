#include "harness/cases/expansion/point_data.h"

#include "harness/base/error.h"
#include "harness/base/hash.h"
#include "harness/base/text.h"
#include "harness/cases/conv2d_alias.h"
#include "harness/cases/expansion/expand.h"
#include "harness/cases/fit_array.h"
#include "harness/op/data_text.h"
#include "harness/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace assay::cases {
namespace {

NpyInfo inspect(const ArrayFile& file) {
  NpyInfo info;
  try {
    const HostTensor tensor = read_array(file);
    info.dtype = tensor.dtype();
    info.shape = tensor.shape();
    info.hash = hash_of(tensor);
    info.lowest = info.highest = tensor.at(0);
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
      const double value = tensor.at(i);
      info.finite = info.finite && std::isfinite(value);
      info.has_nan = info.has_nan || std::isnan(value);
      info.whole = info.whole && value == std::trunc(value);
      info.lowest = std::min(info.lowest, value);
      if (std::isfinite(value)) info.lowest_finite = std::min(info.lowest_finite, value);
      info.highest = std::max(info.highest, value);
    }
  } catch (const std::exception& error) {
    info.error = error.what();
  }
  return info;
}

std::optional<std::string> try_to_fit(const ArrayFile& file, const TensorSpec& tensor) try {
  fit_array(read_array(file), tensor);
  return std::nullopt;
} catch (const Error& error) {
  return error.what();
}

/// Returns whether any value of the dtype is allowed: for float data, and for tensors whose op gives no
/// range.
bool is_unlimited(const TensorSpec& tensor) {
  const FillDomain& domain = tensor.domain;
  if (domain.role == FillRole::Data && is_float(tensor.dtype)) return true;
  return domain.role != FillRole::Index && domain.lo == domain.hi;
}

/// Returns what is wrong with float data that exceed the largest magnitude of their domain; NaN does not.
std::optional<std::string> beyond_magnitude(const TensorSpec& tensor, const NpyInfo& values) {
  const double most = tensor.domain.most;
  const double found = std::fmax(std::fabs(values.lowest), std::fabs(values.highest));
  if (most == 0 || !(found > most)) return std::nullopt;
  return fmt::format("magnitudes of '{}' must be at most {}, the largest is {}", tensor.name, most, found);
}

/// Returns what is wrong with values that are added to scores, or nothing.
std::optional<std::string> not_of_a_mask(const TensorSpec& tensor, const NpyInfo& values) {
  const double most = tensor.domain.most;
  const bool is_infinite = std::isinf(values.highest) && values.highest > 0;
  const bool within = most == 0 || (values.lowest_finite >= -most && values.highest <= most);
  if (!values.has_nan && !is_infinite && within) return std::nullopt;
  return fmt::format("each value of '{}' must be -infinity or a number{}", tensor.name,
                     most == 0 ? "" : fmt::format(" of magnitude {} at most", most));
}

/// Mixes one more value into a hash.
template <class T>
void mix(std::size_t& hash, const T& value) {
  constexpr std::size_t golden = 0x9E3779B97F4A7C15;
  hash ^= std::hash<T>()(value) + golden + (hash << 6U) + (hash >> 2U);
}

}  // namespace

const NpyInfo& NpyFiles::get(const ArrayFile& file) {
  const auto found = known_.find(file);
  return found != known_.end() ? found->second : known_.emplace(file, inspect(file)).first->second;
}

std::optional<std::string> NpyFiles::misfit_by_outline(const ArrayFile& file,
                                                       const TensorSpec& tensor) const {
  if (known_.contains(file)) return std::nullopt;
  ArrayOutline outline;
  try {
    outline = outline_of_array(file);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  constexpr std::uint64_t most_header = 1 << 17;
  const auto most = static_cast<std::uint64_t>(numel(tensor.shape)) * size_of(DType::F64) + most_header;
  if (outline.bytes > most) {
    return fmt::format("holds {}, but '{}' is {} [{}]", bytes_text(outline.bytes), tensor.name,
                       name_of(tensor.dtype), to_string(tensor.shape));
  }
  if (!outline.header) return std::nullopt;
  try {
    check_fit(outline.header->dtype, outline.header->shape, tensor);
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

std::optional<std::string> NpyFiles::misfit(const ArrayFile& file, const TensorSpec& tensor) {
  const NpyInfo& info = get(file);
  if (info.dtype == tensor.dtype && info.shape == tensor.shape) return std::nullopt;
  const std::string fit =
      fmt::format("{} for {} {} {} {}", to_string(file), tensor.name, name_of(tensor.dtype),
                  to_string(tensor.shape), name_of(tensor.output_class));
  const auto found = misfits_.find(fit);
  return found != misfits_.end() ? found->second
                                 : misfits_.emplace(fit, try_to_fit(file, tensor)).first->second;
}

std::map<std::string, std::string> NpyFiles::hashes() const {
  std::map<std::string, std::string> hashes;
  for (const auto& [file, info] : known_) {
    if (info.error.empty()) hashes.emplace(to_string(file), info.hash);
  }
  return hashes;
}

std::optional<std::string> outside_domain(const TensorSpec& tensor, const NpyInfo& values) {
  if (is_integer(tensor.dtype) && !values.whole) return fmt::format("'{}' holds integers", tensor.name);
  if (tensor.domain.role == FillRole::Scale) {
    if (values.finite && values.lowest > 0) return beyond_magnitude(tensor, values);
    return fmt::format("'{}' is a scale: every value must be finite and greater than 0, the smallest is {}",
                       tensor.name, values.lowest);
  }
  double low = tensor.domain.lo, high = tensor.domain.hi;
  if (is_unlimited(tensor)) {
    if (tensor.domain.hides) return not_of_a_mask(tensor, values);
    if (is_float(tensor.dtype)) return beyond_magnitude(tensor, values);
    low = static_cast<double>(lowest(tensor.dtype));
    high = static_cast<double>(highest(tensor.dtype));
  }
  if (values.finite && values.lowest >= low && values.highest <= high) return std::nullopt;
  if (values.lowest == values.highest) {
    return fmt::format("values of '{}' must be between {} and {}, got {}", tensor.name, low, high,
                       values.lowest);
  }
  return fmt::format("values of '{}' must be between {} and {}, but these are between {} and {}", tensor.name,
                     low, high, values.lowest, values.highest);
}

std::optional<std::string> outside_dtype(const TensorSpec& tensor, double constant) {
  if (tensor.dtype != DType::F16 && tensor.dtype != DType::F32) return std::nullopt;
  const bool is_half = tensor.dtype == DType::F16;
  const double largest = is_half ? 65504 : 0x1.fffffep127;
  const double smallest = is_half ? 0x1p-24 : 0x1p-149;
  // What is rounded to them may be written: 3.4028235e38, 1e-45.
  const double first_infinite = is_half ? 65520 : 0x1.ffffffp127;
  if (std::fabs(constant) >= first_infinite) {
    return fmt::format("values of '{}' are {}, whose largest is {}, got {}", tensor.name,
                       name_of(tensor.dtype), largest, constant);
  }
  if (tensor.domain.role == FillRole::Scale && constant <= smallest / 2) {
    return fmt::format("'{}' is a scale: as {} every value must be at least {}, got {}", tensor.name,
                       name_of(tensor.dtype), smallest, constant);
  }
  return std::nullopt;
}

bool is_data_key(std::string_view key) {
  constexpr std::array<std::string_view, 8> others{"forms", "impl",  "tolerance", "tune",
                                                   "model", "layer", "calls",     "step_tokens"};
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
  std::string text = fmt::format("op {}\nparams {}\nseed {}\n", point.op->name,
                                 data_text(*point.op, *point.params), point.seed);
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
