#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::gpu {

/// SPIR-V on disk, one file per key. An entry is trusted only when its size, key and the hash of its words
/// are right; anything else counts as absent and is overwritten. A directory that cannot be written is no
/// error: the cache then keeps nothing, and shaders are compiled once per process.
///
/// A file is the header (8 bytes "ASSAYSPV", u32 format, u32 number of words, 64 characters key, 64
/// characters SHA-256 of the words) and the words, all little endian.
class SpirvCache {
 public:
  explicit SpirvCache(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// The words stored under `key`, a hash in hexadecimal that also names the file; nothing when there are
  /// none.
  std::optional<std::vector<std::uint32_t>> load(const std::string& key) const;
  /// Stores the words, whole or not at all, even when several processes store the same key at the same time.
  void store(const std::string& key, const std::vector<std::uint32_t>& words) const;

  std::filesystem::path file_of(const std::string& key) const;

 private:
  std::filesystem::path directory_;
};

}  // namespace assay::gpu
