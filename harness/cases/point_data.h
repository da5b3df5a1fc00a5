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

/// The part of a point that does not depend on its forms, impl, tuning, tolerance and model.
struct PointData {
  Shared<Params> params;
  Shared<std::vector<TensorSpec>> tensors;
  Shared<std::map<std::string, FillSpec>> fills;
  Shared<std::map<std::string, ArrayFile>> expected_files;
  std::uint64_t data_key = 0;
};

/// Returns whether settings of that key may change a point's data.
bool is_data_key(std::string_view key);

struct HashOfTensors {
  std::size_t operator()(const std::vector<TensorSpec>& tensors) const;
};
struct HashOfFills {
  std::size_t operator()(const std::map<std::string, FillSpec>& fills) const;
};

/// Parts of data that points with different data share: most tensors differ only in their shape, and fills
/// hardly differ.
struct CommonData {
  Interned<std::vector<TensorSpec>, HashOfTensors> tensors;
  Interned<std::map<std::string, FillSpec>, HashOfFills> fills;
};

}  // namespace assay::cases
