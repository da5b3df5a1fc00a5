#define XXH_INLINE_ALL
#define OPENSSL_SUPPRESS_DEPRECATED

#include "harness/base/hash.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <array>
#include <openssl/sha.h>

namespace assay {
namespace {

std::string hex(XXH128_hash_t hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace

struct Hasher::State {
  XXH3_state_t xxh;
};

Hasher::Hasher() : state_(std::make_unique<State>()) {
  XXH3_INITSTATE(&state_->xxh);
  XXH3_128bits_reset(&state_->xxh);
}

Hasher::~Hasher() = default;

void Hasher::feed(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

void Hasher::feed(std::string_view text) {
  feed(std::as_bytes(std::span(text)));
}

std::string Hasher::result() const {
  return hex(XXH3_128bits_digest(&state_->xxh));
}

std::string hash_hex(std::span<const std::byte> bytes) {
  return hex(XXH3_128bits(bytes.data(), bytes.size()));
}

std::string hash_hex(std::string_view text) {
  return hex(XXH3_128bits(text.data(), text.size()));
}

std::uint64_t hash64(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

// The functions for one algorithm are deprecated in favour of those for any, which would link all of OpenSSL
// and read its configuration file.

std::string source_hash(std::span<const std::byte> bytes) {
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, bytes.data(), bytes.size());
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_Final(digest.data(), &state);
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

std::string source_hash(std::string_view text) {
  return source_hash(std::as_bytes(std::span(text)));
}

void append_counted(std::string& all, std::string_view text) {
  all += fmt::format("{}:", text.size());
  all += text;
}

}  // namespace assay
