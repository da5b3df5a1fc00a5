#include "harness/engine/ceilings/ceiling_store.h"

#include "harness/base/file.h"
#include "harness/base/hash.h"
#include "harness/report/journal/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <unistd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t most_file_bytes = std::uintmax_t{1} << 20;  ///< a thousand times what is written
constexpr double least_clock_ratio = 0.97;
/// On a large machine one or two processors may be busy; on a machine with two, none may.
constexpr double most_host_load = 0.1;

bool is_rate(double value) {
  return std::isfinite(value) && value > 0;
}

/// Zero stands for a device without the feature.
bool is_rate_or_none(double value) {
  return std::isfinite(value) && value >= 0;
}

bool possible(const BandwidthPoint& point) {
  return point.footprint_bytes > 0 && is_rate(point.copy_gbps) && is_rate(point.read_gbps) &&
         is_rate(point.write_gbps);
}

bool possible(const Ceilings& ceilings) {
  const std::vector<BandwidthPoint>& curve = ceilings.bandwidth;
  const auto not_larger = [](const BandwidthPoint& a, const BandwidthPoint& b) {
    return b.footprint_bytes <= a.footprint_bytes;
  };
  return ceilings.measured() &&
         std::all_of(curve.begin(), curve.end(), [](const auto& point) { return possible(point); }) &&
         std::adjacent_find(curve.begin(), curve.end(), not_larger) == curve.end() &&
         is_rate(ceilings.fp32_gops) && is_rate(ceilings.dispatch_us) &&
         is_rate_or_none(ceilings.fp16_gops) && is_rate_or_none(ceilings.dot4x8_gops) &&
         is_rate_or_none(ceilings.coop_int8_gops) && is_rate_or_none(ceilings.coop_fp16_gops);
}

bool holds_for(const Ceilings& ceilings, const CeilingKey& key) {
  return ceilings.device_uuid == key.device_uuid && ceilings.driver == key.driver &&
         ceilings.kernels == key.kernels;
}

/// The line comes before the ceilings, so that a truncated file fails the check, too.
std::string checksum_line(const std::string& ceilings) {
  return "checksum " + hash_hex(ceilings);
}

std::optional<Ceilings> read(const fs::path& file) {
  const std::string text = whole_regular_file(file, most_file_bytes).value_or("");
  const std::size_t end = text.find('\n');
  if (end == std::string::npos || text.substr(0, end) != checksum_line(text.substr(end + 1)))
    return std::nullopt;
  try {
    return decode_ceilings(text.substr(end + 1));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<std::string> disturbed(const Ceilings& ceilings, const DeviceInfo& device) {
  if (device.is_cpu() && ceilings.host_load > most_host_load) {
    return fmt::format(
        "other processes used {:.0f} % of the host's processors during the measurement, more than {:.0f} %",
        100 * ceilings.host_load, 100 * most_host_load);
  }
  // A CPU's clock probe shows the load, which is known more precisely.
  if (!device.is_cpu() && ceilings.clock_ratio > 0 && ceilings.clock_ratio < least_clock_ratio) {
    return fmt::format("the device's clock was at {:.1f} % of its full clock, less than {:.0f} %",
                       100 * ceilings.clock_ratio, 100 * least_clock_ratio);
  }
  return std::nullopt;
}

fs::path CeilingStore::file_of(const CeilingKey& key) const {
  // Separated by line ends, which no part has, so that no two keys give the same text.
  return directory_ / (hash_hex(key.device_uuid + '\n' + key.driver + '\n' + key.kernels) + ".json");
}

std::optional<Ceilings> CeilingStore::load(const CeilingKey& key) const {
  if (directory_.empty()) return std::nullopt;
  std::optional<Ceilings> found = read(file_of(key));
  if (!found || !holds_for(*found, key) || !possible(*found)) return std::nullopt;
  return found;
}

bool CeilingStore::exists() const {
  std::error_code error;
  return !directory_.empty() && fs::exists(directory_, error);
}

void CeilingStore::store(const Ceilings& ceilings) const {
  if (directory_.empty()) return;
  const fs::path file = file_of({ceilings.device_uuid, ceilings.driver, ceilings.kernels});
  const fs::path temporary = file.string() + ".tmp" + std::to_string(::getpid());
  std::error_code error;
  fs::create_directories(directory_, error);
  std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
  const std::string text = encode_ceilings(ceilings);
  stream << checksum_line(text) << '\n' << text;
  stream.close();
  if (stream) fs::rename(temporary, file, error);
  if (!stream || error) fs::remove(temporary, error);
}

fs::path default_ceiling_directory() {
  const fs::path shaders = gpu::default_cache_directory();
  return shaders.empty() ? fs::path() : shaders.parent_path() / "ceilings";
}

std::optional<Ceilings> stored_ceilings(const DeviceInfo& device, gpu::ShaderLibrary& shaders,
                                        const CeilingStore& store) {
  if (!store.exists()) return std::nullopt;
  std::optional<Ceilings> found =
      store.load({device.uuid, ceilings_driver(device), ceilings_kernels(shaders)});
  if (found && !store.takes(*found, device)) return std::nullopt;
  return found;
}

Ceilings ceilings_for(TimingTools& tools, gpu::ShaderLibrary& shaders, const CeilingStore& store,
                      CeilingPolicy policy, const CeilingOptions& options) {
  const DeviceInfo& info = tools.device.info();
  if (policy == CeilingPolicy::Stored) {
    if (auto stored = stored_ceilings(info, shaders, store)) return *std::move(stored);
  }
  Ceilings measured = measure_ceilings(tools, shaders, options);
  // A low clock may be up a moment later; other work on the host lasts longer.
  if (!info.is_cpu() && disturbed(measured, info)) {
    measured = larger_of(measured, measure_ceilings(tools, shaders, options));
  }
  if (store.takes(measured, info)) store.store(measured);
  return measured;
}

}  // namespace assay
