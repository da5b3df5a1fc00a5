#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace assay {

/// Leaves what a vector makes without a value as the memory was: tensors of hundreds of megabytes are
/// written right after, by several threads.
template <class T>
struct UninitializedAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = UninitializedAllocator<U>;
  };

  template <class U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    std::construct_at(place, std::forward<Arguments>(arguments)...);
  }
};

using UninitializedBytes = std::vector<std::byte, UninitializedAllocator<std::byte>>;

}  // namespace assay
