#pragma once

#include <algorithm>
#include <vector>

namespace assay::chain {

/// Sorts numbers and keeps each once.
inline void sort_each_once(std::vector<std::size_t>& numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace assay::chain
