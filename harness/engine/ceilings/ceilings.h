#pragma once

#include "harness/device/device_info.h"
#include "harness/engine/ceilings/ceilings_bench.h"
#include "harness/engine/timing/timing_tools.h"
#include "harness/gpu/gpu.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace assay {

/// Measures the device's ceilings with our own kernels (shaders/ceilings): about 4 s on a GPU, 6 s on a CPU.
/// Every figure is the best of several kernels and repetitions, since a ceiling is a maximum. A figure is 0
/// when the device does not have the feature or it could not be measured at full clock. Throws what running
/// programs throws: Timeout, DeviceLost, OutOfMemory when not even a small footprint can be allocated. A
/// device whose timestamps are distrusted is timed by the CPU's clock.
Ceilings measure_ceilings(TimingTools& tools, gpu::ShaderLibrary& shaders,
                          const CeilingOptions& options = {});

/// The value of `Ceilings::driver`: name and version of the driver; when the device is the host's CPU, also
/// that CPU, since such a driver's UUID is the same on every host.
std::string ceilings_driver(const DeviceInfo& device);

/// The value of `Ceilings::kernels`: a hash of all measuring kernels and of how they are timed.
std::string ceilings_kernels(gpu::ShaderLibrary& shaders);

/// Size of the last-level cache: the largest footprint whose bandwidth (geometric mean of copy, read and
/// write) is nearer to the cache's than to that of the far end, which has to lie well beyond the cache and to
/// be slower by a quarter. 0: there is no such footprint. Inner caches and noise of a few percent do not
/// count.
std::uint64_t last_level_cache_bytes(std::span<const BandwidthPoint> curve);

/// Ceilings are valid for one device, driver and set of kernels.
struct CeilingKey {
  std::string device_uuid;
  std::string driver;   ///< ceilings_driver()
  std::string kernels;  ///< ceilings_kernels()
};

/// Why ceilings are valid only for the run that measured them, with the numbers: the device's clock was down,
/// or (for a device of type "cpu") its host had other work to do. Nothing when neither was so.
std::optional<std::string> disturbed(const Ceilings& ceilings, const DeviceInfo& device);

/// Which ceilings a store keeps and returns.
enum class KeptCeilings : std::uint8_t {
  Undisturbed,  ///< only undisturbed ones, with which any later run may be compared
  All           ///< disturbed ones too: for the store of one night, whose runs share their ceilings
};

/// Ceilings on disk: one JSON file per key, with a checksum. A file that names another key, is damaged or
/// cannot be true (a rate that is not positive, footprints out of order) counts as absent. A folder that
/// cannot be written is no error: the store then keeps nothing.
class CeilingStore {
 public:
  /// With an empty path the store keeps nothing.
  explicit CeilingStore(std::filesystem::path directory, KeptCeilings kept = KeptCeilings::Undisturbed)
      : directory_(std::move(directory)), kept_(kept) {}

  /// Whether the store keeps these ceilings, and uses them when it finds them.
  bool takes(const Ceilings& ceilings, const DeviceInfo& device) const {
    return kept_ == KeptCeilings::All || !disturbed(ceilings, device);
  }

  std::optional<Ceilings> load(const CeilingKey& key) const;
  /// Stores ceilings under the key that they name, whole or not at all, even when several processes store at
  /// the same time.
  void store(const Ceilings& ceilings) const;

  std::filesystem::path file_of(const CeilingKey& key) const;
  bool exists() const;  ///< whether anything was ever stored

 private:
  std::filesystem::path directory_;
  KeptCeilings kept_;
};

/// $XDG_CACHE_HOME/assay/ceilings or ~/.cache/assay/ceilings; empty without either.
std::filesystem::path default_ceiling_directory();

enum class CeilingPolicy : std::uint8_t {
  Stored,  ///< use those in the store if there are any, else Measure
  Measure  ///< measure now, and store them if the store takes them
};

/// The stored ceilings that are valid for the device and these kernels, if the store takes them. Measures
/// nothing, and compiles nothing when the store is empty.
std::optional<Ceilings> stored_ceilings(const DeviceInfo& device, gpu::ShaderLibrary& shaders,
                                        const CeilingStore& store);

/// The ceilings of the tools' device with these kernels. Figures that a low clock disturbed are measured once
/// more, and the larger of both is used. Throws as measure_ceilings().
Ceilings ceilings_for(TimingTools& tools, gpu::ShaderLibrary& shaders, const CeilingStore& store,
                      CeilingPolicy policy, const CeilingOptions& options = {});

}  // namespace assay
