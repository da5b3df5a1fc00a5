#include "harness/core/hash.h"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

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

}  // namespace assay
