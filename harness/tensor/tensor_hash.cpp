#include "harness/tensor/tensor_hash.h"

#include "harness/base/hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace assay {
namespace {

void feed_head(Hasher& hasher, const HostTensor& tensor) {
  hasher.feed(fmt::format("{}[{}]", name_of(tensor.dtype()), to_string(tensor.shape())));
}

void feed(Hasher& hasher, const HostTensor& tensor) {
  feed_head(hasher, tensor);
  hasher.feed(tensor.bytes());
}

std::uint32_t canonical_float(std::uint32_t bits) {
  const std::uint32_t exponent = bits & 0x7f800000U;
  if (exponent == 0) return bits & 0x80000000U;
  return exponent == 0x7f800000U && (bits & 0x007fffffU) != 0 ? 0x7fc00000U : bits;
}

std::uint16_t canonical_half(std::uint16_t bits) {
  return (bits & 0x7c00U) == 0x7c00U && (bits & 0x03ffU) != 0 ? std::uint16_t{0x7e00U} : bits;
}

/// Feeds a float tensor in pieces, with every element made canonical.
template <class Bits, Bits (*Canonical)(Bits)>
void feed_canonical(Hasher& hasher, const HostTensor& tensor) {
  constexpr std::size_t piece = 4096;
  std::array<Bits, piece> bits{};
  feed_head(hasher, tensor);
  const std::span<const std::byte> bytes = tensor.bytes();
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t size = std::min(bytes.size() - done, sizeof(bits));
    std::memcpy(bits.data(), bytes.data() + done, size);
    for (Bits& element : bits) element = Canonical(element);
    hasher.feed(std::as_bytes(std::span(bits)).first(size));
    done += size;
  }
}

}  // namespace

std::string hash_of(const HostTensor& tensor) {
  return hash_of(std::span(&tensor, 1));
}

std::string hash_of(std::span<const HostTensor> tensors) {
  Hasher hasher;
  for (const HostTensor& tensor : tensors) feed(hasher, tensor);
  return hasher.result();
}

std::string answer_hash_of(std::span<const HostTensor> tensors) {
  Hasher hasher;
  for (const HostTensor& tensor : tensors) {
    if (tensor.dtype() == DType::F32) {
      feed_canonical<std::uint32_t, canonical_float>(hasher, tensor);
    } else if (tensor.dtype() == DType::F16) {
      feed_canonical<std::uint16_t, canonical_half>(hasher, tensor);
    } else {
      feed(hasher, tensor);
    }
  }
  return hasher.result();
}

}  // namespace assay
