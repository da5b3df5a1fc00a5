#pragma once

#include "harness/report/record/record.h"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace assay {

/// Groups ascending numbers into few ranges: each {first, last, step} stands for first, first + step, ...,
/// last.
std::vector<std::array<std::size_t, 3>> number_ranges(std::span<const std::size_t> ascending);

/// The places of the shard's groups in the whole plan, ascending. Throws Error if the ranges are invalid, as
/// in a journal that was edited by hand.
std::vector<std::size_t> groups_of(const ShardInfo& shard);

}  // namespace assay
