#include "harness/core/hash.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
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
  void feed_head(const HostTensor& tensor) {
    const std::string head = fmt::format("{}[{}]", name_of(tensor.dtype()), to_string(tensor.shape()));
    feed(head.data(), head.size());
  }
  void feed(const HostTensor& tensor) {
    feed_head(tensor);
    feed(tensor.bytes().data(), tensor.bytes().size());
  }
  std::string result() const { return hex(XXH3_128bits_digest(state_.get())); }

 private:
  std::unique_ptr<XXH3_state_t, FreeState> state_;
};

std::uint32_t canonical_float(std::uint32_t bits) {
  const std::uint32_t exponent = bits & 0x7f800000U;
  if (exponent == 0) return bits & 0x80000000U;
  return exponent == 0x7f800000U && (bits & 0x007fffffU) != 0 ? 0x7fc00000U : bits;
}

std::uint16_t canonical_half(std::uint16_t bits) {
  return (bits & 0x7c00U) == 0x7c00U && (bits & 0x03ffU) != 0 ? std::uint16_t{0x7e00U} : bits;
}

/// Feeds a tensor of floats with every element made canonical, a piece at a time.
template <class Bits, Bits (*Canonical)(Bits)>
void feed_canonical(Hasher& hasher, const HostTensor& tensor) {
  constexpr std::size_t piece = 4096;
  std::array<Bits, piece> bits{};
  hasher.feed_head(tensor);
  const std::span<const std::byte> bytes = tensor.bytes();
  for (std::size_t done = 0; done < bytes.size();) {
    const std::size_t size = std::min(bytes.size() - done, sizeof(bits));
    std::memcpy(bits.data(), bytes.data() + done, size);
    for (Bits& one : bits) one = Canonical(one);
    hasher.feed(bits.data(), size);
    done += size;
  }
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
    if (tensor.dtype() == DType::F32) {
      feed_canonical<std::uint32_t, canonical_float>(hasher, tensor);
    } else if (tensor.dtype() == DType::F16) {
      feed_canonical<std::uint16_t, canonical_half>(hasher, tensor);
    } else {
      hasher.feed(tensor);
    }
  }
  return hasher.result();
}

}  // namespace assay
