#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace assay::gpu {

/// The driver's pipeline cache on disk: one file per device and driver. A file is trusted only when its size,
/// its identity and the hash of its data are right; anything else counts as absent and is overwritten. A
/// folder that cannot be written is no error. When several processes write at the same time, the last one's
/// file stays, whole.
///
/// A file is the header (8 bytes "ASSAYPLC", u32 format, u32 unused, u64 bytes of data, 32 characters hash of
/// the identity, 32 characters hash of the data) and the data, all little endian.
class DriverCacheFile {
 public:
  static constexpr std::uint64_t usual_limit = std::uint64_t{256} << 20;

  /// `identity` names the device and its driver. Data of more than `most` bytes are neither read nor kept.
  DriverCacheFile(std::filesystem::path directory, const std::string& identity,
                  std::uint64_t most = usual_limit);

  std::optional<std::vector<std::byte>> load() const;
  /// Data above the size limit are not stored, and the existing file is removed: the next run starts anew.
  void store(std::span<const std::byte> data) const;

  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
  std::string identity_hash_;
  std::uint64_t most_;
};

}  // namespace assay::gpu
