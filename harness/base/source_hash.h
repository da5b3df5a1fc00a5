#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace assay {

/// Returns SHA-256 of the bytes, as 64 lower-case hex digits: for whatever is looked up by its content and
/// may come from somebody who wants it to be mistaken for something else, such as shaders. Data are hashed
/// faster by hash_hex() (harness/base/hash.h), for which others of equal hash are found in seconds.
std::string source_hash(std::span<const std::byte> bytes);
std::string source_hash(std::string_view text);

/// The number of digits of source_hash().
inline constexpr std::size_t source_hash_digits = 64;

/// Appends a text to `all` so that different lists of texts never give the same bytes.
void append_counted(std::string& all, std::string_view text);

}  // namespace assay
