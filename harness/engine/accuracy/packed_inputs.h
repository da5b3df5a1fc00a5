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

/// One input as it lies in memory, without guards.
struct PackedInput {
  std::span<const std::byte> bytes;
  std::shared_ptr<const ByteBuffer> owner;  ///< of the bytes; null: they are the tensor's own
};

/// The inputs of a group in the forms of its cases. An input is packed once for all who hold it at the same
/// time, and forgotten with the last of them: rows that differ only in impl or tuning share their bytes. One
/// that lies in memory as it does in its tensor is never packed.
class PackedInputs {
 public:
  /// `inputs` must outlive this.
  explicit PackedInputs(std::span<const HostTensor> inputs) : inputs_(inputs) {}

  /// Input `index` in its physical form, padding poisoned with offsets from its first byte. Throws Error when
  /// dtype or shape differ.
  PackedInput get(std::size_t index, const Physical& physical, Poison poison);

 private:
  using Key = std::tuple<std::size_t, Form, Poison>;

  std::span<const HostTensor> inputs_;
  std::map<Key, std::weak_ptr<const ByteBuffer>> packed_;
};

}  // namespace assay
