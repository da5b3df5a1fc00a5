#pragma once

#include "harness/base/shared.h"

#include <unordered_set>
#include <utility>

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

}  // namespace assay::cases
