#include "harness/core/hash.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace assay {
namespace {

std::string hex(XXH128_hash_t hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

/// XXH3-128 of what is fed to it.
class Hasher {
 public:
  Hasher() : state_(XXH3_createState()) {
    if (!state_) throw std::bad_alloc();
    XXH3_128bits_reset(state_.get());
  }
  void feed(const void* data, std::size_t size) {
    if (size != 0) XXH3_128bits_update(state_.get(), data, size);
  }
  void feed(const HostTensor& tensor) {
    const std::string head = fmt::format("{}[{}]", name_of(tensor.dtype()), to_string(tensor.shape()));
    feed(head.data(), head.size());
    feed(tensor.bytes().data(), tensor.bytes().size());
  }
  std::string result() const { return hex(XXH3_128bits_digest(state_.get())); }

 private:
  std::unique_ptr<XXH3_state_t, FreeState> state_;
};

template <class Bits>
void replace_bits(HostTensor& tensor, Bits (*canonical)(Bits)) {
  for (std::size_t at = 0; at < tensor.bytes().size(); at += sizeof(Bits)) {
    Bits bits{};
    std::memcpy(&bits, tensor.bytes().data() + at, sizeof(Bits));
    const Bits replaced = canonical(bits);
    if (replaced != bits) std::memcpy(tensor.bytes().data() + at, &replaced, sizeof(Bits));
  }
}

std::uint32_t canonical_float(std::uint32_t bits) {
  const std::uint32_t exponent = bits & 0x7f800000U;
  if (exponent == 0) return bits & 0x80000000U;
  return exponent == 0x7f800000U && (bits & 0x007fffffU) != 0 ? 0x7fc00000U : bits;
}

std::uint16_t canonical_half(std::uint16_t bits) {
  return (bits & 0x7c00U) == 0x7c00U && (bits & 0x03ffU) != 0 ? std::uint16_t{0x7e00U} : bits;
}

}  // namespace

std::string hash_hex(std::span<const std::byte> bytes) {
  return hex(XXH3_128bits(bytes.data(), bytes.size()));
}

std::string hash_hex(std::string_view text) {
  return hex(XXH3_128bits(text.data(), text.size()));
}

std::uint64_t hash64(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

std::string hash_of(const HostTensor& tensor) {
  return hash_of(std::span(&tensor, 1));
}

std::string hash_of(std::span<const HostTensor> tensors) {
  Hasher hasher;
  for (const HostTensor& tensor : tensors) hasher.feed(tensor);
  return hasher.result();
}

std::string answer_hash_of(std::span<const HostTensor> tensors) {
  Hasher hasher;
  for (const HostTensor& tensor : tensors) {
    if (!is_float(tensor.dtype())) {
      hasher.feed(tensor);
      continue;
    }
    HostTensor canonical = tensor;
    if (tensor.dtype() == DType::F32) replace_bits<std::uint32_t>(canonical, canonical_float);
    if (tensor.dtype() == DType::F16) replace_bits<std::uint16_t>(canonical, canonical_half);
    hasher.feed(canonical);
  }
  return hasher.result();
}

}  // namespace assay
