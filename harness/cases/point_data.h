#pragma once

#include "harness/cases/case.h"
#include "harness/cases/interned.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace assay::cases {

/// What a point has whatever its forms, impl, tuning, tolerance and model are.
struct PointData {
  Shared<Params> params;
  Shared<std::vector<TensorSpec>> tensors;
  Shared<std::map<std::string, FillSpec>> fills;
  Shared<std::map<std::string, ArrayFile>> expected_files;
  std::uint64_t data_key = 0;
};

/// Whether settings of that key may change a point's data.
bool is_data_key(std::string_view key);

struct HashOfTensors {
  std::size_t operator()(const std::vector<TensorSpec>& tensors) const;
};
struct HashOfFills {
  std::size_t operator()(const std::map<std::string, FillSpec>& fills) const;
};

/// Parts of data that are the same for points of other data too: most tensors differ in their shape alone,
/// fills in little.
struct CommonData {
  Interned<std::vector<TensorSpec>, HashOfTensors> tensors;
  Interned<std::map<std::string, FillSpec>, HashOfFills> fills;
};

}  // namespace assay::cases
