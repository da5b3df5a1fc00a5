#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace assay {

/// Returns XXH3-128 of the bytes, as 32 lower-case hex digits.
std::string hash_hex(std::span<const std::byte> bytes);
std::string hash_hex(std::string_view text);
std::uint64_t hash64(std::string_view text);

/// Computes XXH3-128 of bytes fed piece by piece; it equals the hash of the concatenated pieces.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  void feed(std::span<const std::byte> bytes);
  void feed(std::string_view text);
  /// Returns the hash of everything fed so far.
  std::string result() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay
