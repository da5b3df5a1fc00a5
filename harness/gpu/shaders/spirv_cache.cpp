#include "harness/gpu/shaders/spirv_cache.h"

#include "harness/base/file.h"
#include "harness/base/source_hash.h"

#include <array>
#include <cstring>
#include <exception>
#include <ostream>
#include <span>

namespace assay::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::array<char, 8> magic{'A', 'S', 'S', 'A', 'Y', 'S', 'P', 'V'};
constexpr std::uint32_t format = 2;
/// Far more than the SPIR-V of any shader.
constexpr std::uintmax_t most_file_bytes = std::uintmax_t{256} << 20;

struct Header {
  std::array<char, 8> magic{};
  std::uint32_t format = 0;
  std::uint32_t words = 0;
  std::array<char, source_hash_digits> key{};
  std::array<char, source_hash_digits> hash{};
};
static_assert(sizeof(Header) == 144, "the header is written as it lies in memory");

std::string hash_of_words(const std::vector<std::uint32_t>& words) {
  return source_hash(std::as_bytes(std::span(words)));
}

Header header_for(const std::string& key, const std::vector<std::uint32_t>& words) {
  Header header{.magic = magic, .format = format, .words = static_cast<std::uint32_t>(words.size())};
  std::memcpy(header.key.data(), key.data(), source_hash_digits);
  std::memcpy(header.hash.data(), hash_of_words(words).data(), source_hash_digits);
  return header;
}

}  // namespace

fs::path SpirvCache::file_of(const std::string& key) const {
  return directory_ / (key + ".spv");
}

std::optional<std::vector<std::uint32_t>> SpirvCache::load(const std::string& key) const {
  const std::optional<std::string> bytes = whole_regular_file(file_of(key), most_file_bytes);
  if (!bytes || bytes->size() <= sizeof(Header)) {
    return std::nullopt;
  }
  const std::string_view content = std::string_view(*bytes).substr(sizeof(Header));
  if (content.size() % sizeof(std::uint32_t) != 0) {
    return std::nullopt;
  }
  std::vector<std::uint32_t> words(content.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), content.data(), content.size());
  const Header expected = header_for(key, words);
  if (std::memcmp(bytes->data(), &expected, sizeof expected) != 0) {
    return std::nullopt;
  }
  return words;
}

void SpirvCache::store(const std::string& key, const std::vector<std::uint32_t>& words) const try {
  fs::create_directories(directory_);
  const Header header = header_for(key, words);
  replace_file(file_of(key), [&](std::ostream& stream) {
    stream.write(reinterpret_cast<const char*>(&header), sizeof header);
    stream.write(reinterpret_cast<const char*>(words.data()),
                 static_cast<std::streamsize>(words.size() * sizeof(std::uint32_t)));
  });
} catch (const std::exception&) {
  // Ignored: the shader is then compiled again.
}

}  // namespace assay::gpu
