#pragma once

#include "harness/base/byte_buffer.h"
#include "harness/tensor/form.h"
#include "harness/tensor/pack.h"
#include "harness/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>

namespace assay {

/// The bytes of one input as laid out in device memory, without guards.
struct PackedInput {
  std::span<const std::byte> bytes;
  std::shared_ptr<const ByteBuffer> owner;  ///< keeps the bytes alive; null: they belong to the tensor
};

/// The inputs of a group, packed in the forms of its cases. All users that hold an input at the same time
/// share one packed copy, which is freed with the last of them; so rows that differ only in impl or tuning
/// share their bytes. An input whose device layout equals its tensor's is never packed.
class PackedInputs {
 public:
  /// `inputs` must outlive this.
  explicit PackedInputs(std::span<const HostTensor> inputs) : inputs_(inputs) {}

  /// Input `index` in its physical form, its padding poisoned (offsets count from the first byte). Throws
  /// Error when dtype or shape differ.
  PackedInput get(std::size_t index, const Physical& physical, Poison poison);

 private:
  using Key = std::tuple<std::size_t, Form, Poison>;

  std::span<const HostTensor> inputs_;
  std::map<Key, std::weak_ptr<const ByteBuffer>> packed_;
};

}  // namespace assay
