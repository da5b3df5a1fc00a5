#include "harness/gpu/device/driver_cache.h"

#include "harness/base/file.h"
#include "harness/base/hash.h"

#include <array>
#include <cstring>
#include <exception>
#include <ostream>
#include <system_error>

namespace assay::gpu {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t cache_hash_length = 32;

struct CacheHeader {
  std::array<char, 8> magic{'A', 'S', 'S', 'A', 'Y', 'P', 'L', 'C'};
  std::uint32_t format = 1;
  std::uint32_t unused = 0;
  std::uint64_t bytes = 0;
  std::array<char, cache_hash_length> identity{};
  std::array<char, cache_hash_length> hash{};
};
static_assert(sizeof(CacheHeader) == 88, "the header is written as it lies in memory");

CacheHeader header_of(const std::string& identity_hash, std::span<const std::byte> data) {
  CacheHeader header{.bytes = data.size()};
  std::memcpy(header.identity.data(), identity_hash.data(), cache_hash_length);
  std::memcpy(header.hash.data(), hash_hex(data).data(), cache_hash_length);
  return header;
}

}  // namespace

DriverCacheFile::DriverCacheFile(fs::path directory, const std::string& identity, std::uint64_t most)
    : file_(std::move(directory) / (hash_hex(identity) + ".pipelines")),
      identity_hash_(hash_hex(identity)),
      most_(most) {}

std::optional<std::vector<std::byte>> DriverCacheFile::load() const {
  const std::optional<std::string> bytes = whole_regular_file(file_, sizeof(CacheHeader) + most_);
  if (!bytes || bytes->size() <= sizeof(CacheHeader)) {
    return std::nullopt;
  }
  const auto data = std::as_bytes(std::span(*bytes)).subspan(sizeof(CacheHeader));
  const CacheHeader expected = header_of(identity_hash_, data);
  if (std::memcmp(bytes->data(), &expected, sizeof expected) != 0) {
    return std::nullopt;
  }
  return std::vector(data.begin(), data.end());
}

void DriverCacheFile::store(std::span<const std::byte> data) const try {
  if (data.size() > most_) {
    fs::remove(file_);
    return;
  }
  fs::create_directories(file_.parent_path());
  const CacheHeader header = header_of(identity_hash_, data);
  replace_file(file_, [&](std::ostream& stream) {
    stream.write(reinterpret_cast<const char*>(&header), sizeof header);
    stream.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
  });
} catch (const std::exception&) {
  // Ignored: pipelines are then compiled again.
}

}  // namespace assay::gpu
