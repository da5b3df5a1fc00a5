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

/// Why ceilings that were measured under such circumstances are good for the run that measured them and for
/// no other, with the numbers, or nothing: the device's clock was down, or (a device of type "cpu") its host
/// had other work to do.
std::optional<std::string> disturbed(const Ceilings& ceilings, const DeviceInfo& device);

/// Which ceilings a store keeps and gives.
enum class KeptCeilings : std::uint8_t {
  Undisturbed,  ///< what later runs may be held against, however much later
  All           ///< the store is that of one night, whose runs are to be held against the same ones
};

/// Ceilings on disk, a JSON file a key with a checksum. What does not name the key that it is asked for, is
/// damaged or cannot be true (a rate that is not positive, footprints out of order) counts as absent. A
/// folder that cannot be written is no error: the store then keeps nothing.
class CeilingStore {
 public:
  /// An empty path: a store that keeps nothing.
  explicit CeilingStore(std::filesystem::path directory, KeptCeilings kept = KeptCeilings::Undisturbed)
      : directory_(std::move(directory)), kept_(kept) {}

  /// Whether these are kept, and taken where they are found.
  bool takes(const Ceilings& ceilings, const DeviceInfo& device) const {
    return kept_ == KeptCeilings::All || !disturbed(ceilings, device);
  }

  std::optional<Ceilings> load(const CeilingKey& key) const;
  /// Under the key that the ceilings name; whole or not at all, also when several processes store at once.
  void store(const Ceilings& ceilings) const;

  std::filesystem::path file_of(const CeilingKey& key) const;
  bool exists() const;  ///< whether anything was ever kept in it

 private:
  std::filesystem::path directory_;
  KeptCeilings kept_;
};

/// $XDG_CACHE_HOME/assay/ceilings or ~/.cache/assay/ceilings; empty without either.
std::filesystem::path default_ceiling_directory();

enum class CeilingPolicy : std::uint8_t {
  Stored,  ///< those in the store when there are any, else as Measure
  Measure  ///< measured now, and stored if the store takes them
};

/// Those in the store that hold for the device with these kernels and that it takes; nothing is measured,
/// and nothing compiled where the store is empty.
std::optional<Ceilings> stored_ceilings(const DeviceInfo& device, gpu::ShaderLibrary& shaders,
                                        const CeilingStore& store);

/// The ceilings of the tools' device with these kernels. What a low clock disturbed is measured once more,
/// and the larger of both is taken. Throws as measure_ceilings().
Ceilings ceilings_for(TimingTools& tools, gpu::ShaderLibrary& shaders, const CeilingStore& store,
                      CeilingPolicy policy, const CeilingOptions& options = {});

}  // namespace assay
