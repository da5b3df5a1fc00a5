#pragma once

#include "harness/engine/ceilings/ceilings.h"

#include <filesystem>
#include <optional>
#include <string>

namespace assay {

/// What ceilings hold for: the same device, driver and kernels.
struct CeilingKey {
  std::string device_uuid;
  std::string driver;   ///< ceilings_driver()
  std::string kernels;  ///< ceilings_kernels()
};

/// Ceilings on disk, a JSON file a key. What does not name the key that it is asked for, is damaged or cannot
/// be true (a rate that is not positive, footprints out of order) counts as absent. A folder that cannot be
/// written is no error: the store then keeps nothing.
class CeilingStore {
 public:
  /// An empty path: a store that keeps nothing.
  explicit CeilingStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

  std::optional<Ceilings> load(const CeilingKey& key) const;
  /// Under the key that the ceilings name; whole or not at all, also when several processes store at once.
  void store(const Ceilings& ceilings) const;

  std::filesystem::path file_of(const CeilingKey& key) const;

 private:
  std::filesystem::path directory_;
};

/// $XDG_CACHE_HOME/assay/ceilings or ~/.cache/assay/ceilings; empty without either.
std::filesystem::path default_ceiling_directory();

enum class CeilingPolicy : std::uint8_t {
  Stored,  ///< those in the store when there are any, else as Measure
  Measure  ///< measured now, and stored
};

/// The ceilings of `device` with these kernels. Throws as measure_ceilings().
Ceilings ceilings_for(gpu::Device& device, gpu::ShaderLibrary& shaders, const CeilingStore& store,
                      CeilingPolicy policy, const CeilingOptions& options = {});

}  // namespace assay
