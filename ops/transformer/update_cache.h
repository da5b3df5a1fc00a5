#pragma once

#include "harness/op/op.h"
#include "harness/op/program.h"
#include "references/transformer/update_cache.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace assay::ops {

// What the ops that write into an int8 cache have in common: shaders/transformer/update_cache_q8.comp.

/// The largest magnitude of x of which int8 rows are made: their scales, and what turns, are finite.
inline constexpr double largest_cached_value = 0x1p60;

/// The int8 cache and the scales of its rows, as inputs.
std::vector<TensorSpec> q8_cache(const references::UpdateCache& op);

/// An output that begins as `before`, the tensor `index`, and of which the tokens' rows are written.
TensorSpec updated(const TensorSpec& before, std::uint32_t index);

/// Why a row's codes may be at the end of their range (TensorSpec::ends_because).
inline constexpr const char* ends_of_cached_rows = "the largest value of a row is at an end";

/// How the rows are read that become int8.
struct CachedRows {
  std::string label;
  /// The rows of rotary_embedding: the op adds INTERLEAVED, the push constant `turned` and the bindings of
  /// the tables.
  bool turned = false;
  bool in_quads = true;  ///< whether a quad of a row turns as a whole
};

/// The dispatch over the rows of x, the op's first tensor. The cache and its scales are the op's last two
/// tensors.
Dispatch quantizing_dispatch(const BuildContext& context, const references::UpdateCache& op,
                             const CachedRows& rows);

/// The impl `quantize` that makes this dispatch.
Impl quantizing_impl(Program (*build)(const BuildContext&),
                     std::optional<std::string> (*invalid_reason)(const ImplPoint&),
                     double (*unit_error)(const BuildContext&));

/// Bytes that the cache and the scales of x's rows have.
std::int64_t bytes_of_q8_rows(const references::UpdateCache& op);

/// Operations of a value that becomes int8: the largest magnitude, a product, rounding and a limit.
inline constexpr std::int64_t operations_of_cached_value = 4;

/// The parameter `cache_dtype`.
ParamSpec cache_dtype_param();

}  // namespace assay::ops
