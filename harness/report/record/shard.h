#pragma once

#include "harness/report/record/record.h"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace assay {

/// The largest number of shards of a run.
inline constexpr int most_shards = 1'000'000;

/// Groups ascending numbers into few ranges: each {first, last, step} stands for first, first + step, ...,
/// last.
std::vector<std::array<std::size_t, 3>> number_ranges(std::span<const std::size_t> ascending);

/// The places of the shard's groups in the whole plan, ascending. Throws Error if the shard or its ranges are
/// invalid, as in a journal that was edited by hand.
std::vector<std::size_t> groups_of(const ShardInfo& shard);

}  // namespace assay
