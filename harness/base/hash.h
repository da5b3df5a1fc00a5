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

/// Returns SHA-256 of the bytes, as 64 lower-case hex digits: for whatever is looked up by its content and
/// may come from somebody who wants it to be mistaken for something else, such as shaders. Data are hashed
/// faster by hash_hex(), for which others of equal hash are found in seconds.
std::string source_hash(std::span<const std::byte> bytes);
std::string source_hash(std::string_view text);

/// The number of digits of source_hash().
inline constexpr std::size_t source_hash_digits = 64;

/// Appends a text to `all` so that different lists of texts never give the same bytes.
void append_counted(std::string& all, std::string_view text);

}  // namespace assay
