#pragma once

#include "harness/report/record/record.h"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace assay {

/// Ascending numbers as few ranges: each {first, last, step} is first, first + step, ..., last.
std::vector<std::array<std::size_t, 3>> number_ranges(std::span<const std::size_t> ascending);

/// The places of the shard's groups in the whole plan, ascending. Throws Error where the ranges are none, as
/// a journal that was changed by hand may have it.
std::vector<std::size_t> groups_of(const ShardInfo& shard);

}  // namespace assay
