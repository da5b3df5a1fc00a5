#pragma once

#include "harness/base/shared.h"
#include "harness/cases/case.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace assay::cases {

/// Stores equal values once and shares them. `Hash` hashes a T.
template <class T, class Hash>
class Interned {
 public:
  Shared<T> of(T value) {
    const auto known = known_.find(value);
    return known != known_.end() ? *known : *known_.insert(Shared<T>(std::move(value))).first;
  }

 private:
  // Shared values are hashed and compared by what they hold.
  struct HashOfValue {
    using is_transparent = void;
    std::size_t operator()(const T& value) const { return Hash()(value); }
  };
  struct EqualValues {
    using is_transparent = void;
    bool operator()(const T& a, const T& b) const { return a == b; }
  };

  std::unordered_set<Shared<T>, HashOfValue, EqualValues> known_;
};

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

/// Appends the segments with which every id ends: the forms that are not hidden, and the impl.
void append_forms_and_impl(const Case& point, std::string& id);

/// Computes Case::data_key; `hash_of` gives the hash of an array's values.
std::uint64_t data_key(const Case& point, const std::function<std::string(const ArrayFile&)>& hash_of);

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
