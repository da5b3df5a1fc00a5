#pragma once

#include "harness/core/form.h"
#include "harness/core/pack.h"
#include "harness/core/tensor.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

namespace assay {

/// The bytes of one allocation: guard, data, guard.
using AllocationBytes = std::vector<std::byte>;

/// The inputs of a group in the forms of its cases. An input is packed once for all who hold it at the same
/// time, and forgotten with the last of them: rows that differ only in impl or tuning share their bytes.
class PackedInputs {
 public:
  /// `inputs` must outlive this.
  explicit PackedInputs(std::span<const HostTensor> inputs) : inputs_(inputs) {}

  /// Input `index` in its physical form, with `guard` bytes on both sides; guards and padding are poisoned.
  /// Throws Error when dtype or shape differ.
  std::shared_ptr<const AllocationBytes> get(std::size_t index, const Physical& physical, std::uint32_t guard,
                                             Poison poison);

 private:
  using Key = std::tuple<std::size_t, Form, std::uint32_t, Poison>;

  std::span<const HostTensor> inputs_;
  std::map<Key, std::weak_ptr<const AllocationBytes>> packed_;
};

}  // namespace assay
