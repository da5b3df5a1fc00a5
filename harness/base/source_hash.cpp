#include "harness/base/source_hash.h"

// The functions for one algorithm are deprecated in favour of those for any, which would link all of OpenSSL
// and read its configuration file.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <openssl/sha.h>

namespace assay {

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
