#include "harness/engine/ceilings/ceiling_store.h"

#include "harness/base/hash.h"
#include "harness/report/record/codec.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <unistd.h>

namespace assay {
namespace {

namespace fs = std::filesystem;

bool is_rate(double value) {
  return std::isfinite(value) && value > 0;
}

/// What a device without the feature has.
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

std::optional<Ceilings> read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return std::nullopt;
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  try {
    return decode_ceilings(text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

fs::path CeilingStore::file_of(const CeilingKey& key) const {
  // Lines: no part of a key has one, so that no two keys give the same text.
  return directory_ / (hash_hex(key.device_uuid + '\n' + key.driver + '\n' + key.kernels) + ".json");
}

std::optional<Ceilings> CeilingStore::load(const CeilingKey& key) const {
  if (directory_.empty()) return std::nullopt;
  std::optional<Ceilings> found = read(file_of(key));
  if (!found || !holds_for(*found, key) || !possible(*found)) return std::nullopt;
  return found;
}

void CeilingStore::store(const Ceilings& ceilings) const {
  if (directory_.empty()) return;
  const fs::path file = file_of({ceilings.device_uuid, ceilings.driver, ceilings.kernels});
  const fs::path temporary = file.string() + ".tmp" + std::to_string(::getpid());
  std::error_code error;
  fs::create_directories(directory_, error);
  std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
  stream << encode_ceilings(ceilings) << '\n';
  stream.close();
  if (stream) fs::rename(temporary, file, error);
  if (!stream || error) fs::remove(temporary, error);
}

fs::path default_ceiling_directory() {
  const fs::path shaders = gpu::default_cache_directory();
  return shaders.empty() ? fs::path() : shaders.parent_path() / "ceilings";
}

Ceilings ceilings_for(gpu::Device& device, gpu::ShaderLibrary& shaders, const CeilingStore& store,
                      CeilingPolicy policy, const CeilingOptions& options) {
  if (policy == CeilingPolicy::Stored) {
    const DeviceInfo& info = device.info();
    std::optional<Ceilings> stored =
        store.load({info.uuid, ceilings_driver(info), ceilings_kernels(shaders)});
    if (stored) return *std::move(stored);
  }
  Ceilings measured = measure_ceilings(device, shaders, options);
  store.store(measured);
  return measured;
}

}  // namespace assay
