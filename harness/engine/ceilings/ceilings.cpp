#include "harness/engine/ceilings/ceilings.h"

#include "harness/base/clock.h"
#include "harness/base/file.h"
#include "harness/base/hash.h"
#include "harness/base/host_info.h"
#include "harness/device/driver_name.h"
#include "harness/engine/ceilings/ceilings_bench.h"
#include "harness/report/journal/codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <system_error>
#include <vector>

namespace assay {
namespace {

constexpr std::size_t least_points = 4;
constexpr double least_gain = 1.25;  ///< bandwidth of a cache over the bandwidth beyond it
constexpr double level = 1.08;       ///< a curve that rises less over an octave is flat

double median_of_3(double a, double b, double c) {
  std::array<double, 3> all{a, b, c};
  std::sort(all.begin(), all.end());
  return all[1];
}

/// GB/s by footprint, without single outliers, and never less than at a larger footprint.
std::vector<double> envelope(std::span<const BandwidthPoint> curve) {
  std::vector<double> mean;
  for (const BandwidthPoint& point : curve) {
    mean.push_back(std::cbrt(point.copy_gbps * point.read_gbps * point.write_gbps));
  }
  std::vector<double> smooth = mean;
  for (std::size_t i = 1; i + 1 < mean.size(); ++i) {
    smooth[i] = median_of_3(mean[i - 1], mean[i], mean[i + 1]);
  }
  smooth.back() = median_of_3(mean.back(), mean[mean.size() - 2], mean[mean.size() - 3]);
  for (std::size_t i = smooth.size() - 1; i-- > 0;) smooth[i] = std::max(smooth[i], smooth[i + 1]);
  return smooth;
}

/// Whether the bandwidth still rises from point i to half its footprint.
bool rises_below(std::span<const BandwidthPoint> curve, const std::vector<double>& gbps, std::size_t i) {
  std::size_t half = i;
  while (half > 0 && curve[half].footprint_bytes > curve[i].footprint_bytes / 2) --half;
  return gbps[half] > level * gbps[i];
}

}  // namespace

std::uint64_t last_level_cache_bytes(std::span<const BandwidthPoint> curve) {
  if (curve.size() < least_points) return 0;
  const std::vector<double> gbps = envelope(curve);
  const double far = gbps.back();
  std::size_t i = curve.size() - 1;
  while (i > 0 && gbps[i] < least_gain * far) --i;
  if (gbps[i] < least_gain * far) return 0;
  while (i > 0 && rises_below(curve, gbps, i)) --i;
  const double middle = (gbps[i] + far) / 2;
  while (i + 1 < curve.size() && gbps[i + 1] >= middle) ++i;
  return curve[i].footprint_bytes;
}

namespace {

using ceiling::Access;
using ceiling::Bench;
using ceiling::Grid;
using ceiling::Walk;

/// Increased when a change in the way of timing changes the figures.
constexpr int method_version = 5;

constexpr std::uint64_t mib = 1ULL << 20;
constexpr std::uint64_t least_footprint = 64 << 10;
constexpr std::uint64_t fine_from = 1 * mib;  ///< on GPUs footprints grow by sqrt(2) from here on, by 2 below
/// For smaller footprints, launching a kernel that visits its footprint once takes longer than the visit on
/// any GPU.
constexpr std::uint64_t once_from = 8 * mib;
/// A visit that takes this many times as long as a launch is repeated by dispatches, as in real programs.
/// Rounds inside a dispatch do not stay in step: some workgroups would find data that others have just read
/// in a cache that does not hold the whole footprint.
constexpr double launches_per_visit = 8;

/// Kernels that visit the footprint once; the best one counts.
std::vector<Walk> once_walks(const DeviceInfo& device, std::uint64_t footprint_bytes) {
  if (footprint_bytes < once_from && !device.is_cpu()) return {};
  if (device.is_cpu()) return {{.vectors = 1, .rounds = false}};  // only one, to save time
  return {{.vectors = 1, .rounds = false}, {.vectors = 4, .rounds = false}};
}

/// Kernels that visit the footprint repeatedly.
std::vector<Walk> round_walks(const DeviceInfo& device) {
  if (device.is_cpu()) return {{.vectors = 1, .rounds = true}};
  return {{.vectors = 4, .rounds = true}, {.vectors = 2, .rounds = true}};
}

std::uint64_t largest_footprint(const DeviceInfo& device, const CeilingOptions& options) {
  const std::uint64_t wish = device.type == "discrete" ? 1024 * mib : 256 * mib;
  return std::min({options.max_footprint_bytes != 0 ? options.max_footprint_bytes : wish,
                   device.device_memory_bytes / 4, 2 * device.max_storage_buffer_range});
}

/// The footprints to measure: multiples of `chunk`, ascending.
std::vector<std::uint64_t> footprints(const DeviceInfo& device, std::uint64_t largest, std::uint64_t chunk) {
  std::vector<std::uint64_t> all;
  const bool cpu = device.is_cpu();
  double bytes = least_footprint;
  while (bytes < static_cast<double>(largest) * 1.01) {
    const auto chunks = static_cast<std::uint64_t>(std::round(bytes / static_cast<double>(chunk)));
    all.push_back(std::max<std::uint64_t>(chunks, 1) * chunk);
    const bool fine = bytes > 0.99 * fine_from;
    bytes *= cpu ? 4 : fine ? std::sqrt(2.0) : 2;
  }
  return all;
}

/// The input of one point of the curve.
struct BandwidthRun {
  double expected = 0;  ///< GB/s at the previous point
  double dispatch_ns = 0;
};

double rate_of(Bench& bench, Access access, const Walk& walk, std::uint64_t footprint, double expected) {
  const Grid& grid = bench.grid();
  const auto make = [&](std::uint32_t rounds) {
    return ceiling::bandwidth_kernel(access, walk, grid, footprint, rounds);
  };
  const std::uint64_t chunks = footprint / ceiling::chunk_bytes(walk, grid);
  const auto one_pass = static_cast<std::uint32_t>((chunks + grid.workgroups - 1) / grid.workgroups);
  return walk.rounds ? bench.rate(make, one_pass, expected) : bench.rate_repeated(make(1));
}

double best_of_walks(Bench& bench, const DeviceInfo& device, Access access, std::uint64_t footprint,
                     const BandwidthRun& run) {
  double best = 0;
  for (const Walk& walk : once_walks(device, footprint)) {
    best = std::max(best, rate_of(bench, access, walk, footprint, run.expected));
  }
  // A CPU runs a dispatch's workgroups one after the other: its rounds stay in step and save dispatches.
  const bool outlasts_launch = !device.is_cpu() && best > 0 &&
                               static_cast<double>(footprint) / best >= launches_per_visit * run.dispatch_ns;
  if (outlasts_launch) return best;
  for (const Walk& walk : round_walks(device)) {
    best = std::max(best, rate_of(bench, access, walk, footprint, run.expected));
  }
  return best;
}

std::vector<BandwidthPoint> bandwidth_curve(Bench& bench, const DeviceInfo& device, double dispatch_ns) {
  std::vector<BandwidthPoint> curve;
  BandwidthPoint point;
  const std::uint64_t chunk = ceiling::chunk_bytes({.vectors = 4}, bench.grid());
  for (const std::uint64_t footprint : footprints(device, bench.footprint_bytes(), chunk)) {
    point.footprint_bytes = footprint;
    point.copy_gbps = best_of_walks(bench, device, Access::Copy, footprint, {point.copy_gbps, dispatch_ns});
    point.read_gbps = best_of_walks(bench, device, Access::Read, footprint, {point.read_gbps, dispatch_ns});
    point.write_gbps =
        best_of_walks(bench, device, Access::Write, footprint, {point.write_gbps, dispatch_ns});
    // Points that were not measured at full clock are left out, not guessed.
    if (point.copy_gbps > 0 && point.read_gbps > 0 && point.write_gbps > 0) curve.push_back(point);
  }
  return curve;
}

double gops(Bench& bench, const ceiling::Arithmetic& arithmetic) {
  const auto make = [&](std::uint32_t rounds) {
    return ceiling::arithmetic_kernel(arithmetic, bench.arithmetic_grid(), rounds);
  };
  return bench.rate(make, 1, 0);
}

/// The best rate of several kernels, and the kernel that reached it.
struct Best {
  double& gops;
  std::string& kernel;

  void take(double rate, const std::string& name) const {
    if (rate <= gops) return;
    gops = rate;
    kernel = name;
  }
};

/// The shapes whose rates count for these factors. One extension is enough, since both reach the same units.
std::vector<CooperativeShape> counted_shapes(const DeviceInfo& device, DType factors) {
  std::vector<CooperativeShape> counted;
  for (const CooperativeShape& shape : device.cooperative_shapes) {
    const bool has_sums = factors == DType::F16 || shape.sums == DType::I32;
    if (shape.factors == factors && has_sums && !shape.saturates) counted.push_back(shape);
  }
  const auto is_khr = [](const CooperativeShape& shape) { return shape.extension == MatrixExtension::Khr; };
  if (std::ranges::any_of(counted, is_khr))
    std::erase_if(counted, [&](const auto& one) { return !is_khr(one); });
  return counted;
}

void measure_cooperative(Bench& bench, const DeviceInfo& device, DType factors, const Best& best) {
  const std::uint32_t local_size = bench.arithmetic_grid().local_size;
  if (local_size % device.subgroup_size != 0 || !device.knows_subgroup_size({local_size, 1, 1})) return;
  for (const CooperativeShape& shape : counted_shapes(device, factors)) {
    ceiling::Arithmetic arithmetic = ceiling::cooperative(shape, device.subgroup_size);
    arithmetic.subgroup_size = ceiling::demanded_subgroup_size(device, local_size);
    best.take(gops(bench, arithmetic),
              to_string(shape) + (shape.extension == MatrixExtension::Khr ? " by KHR" : " by NV"));
  }
}

void measure_arithmetic(Bench& bench, const DeviceInfo& device, Ceilings& ceilings) {
  using ceiling::Addition;
  using ceiling::Real;
  ceilings.fp32_gops = gops(bench, ceiling::fma(Real::Single));
  if (device.has(Feature::Float16)) {
    ceilings.fp16_gops = gops(bench, ceiling::fma(Real::Half));
    measure_cooperative(bench, device, DType::F16, {ceilings.coop_fp16_gops, ceilings.coop_fp16_kernel});
  }
  if (device.has(Feature::DotProduct)) {
    const Best best{ceilings.dot4x8_gops, ceilings.dot4x8_kernel};
    best.take(gops(bench, ceiling::dot4x8(Addition::Plain)), "dot product and addition");
    best.take(gops(bench, ceiling::dot4x8(Addition::Saturating)), "dot product with saturating addition");
  }
  if (device.has(Feature::Int8)) {
    measure_cooperative(bench, device, DType::I8, {ceilings.coop_int8_gops, ceilings.coop_int8_kernel});
  }
}

}  // namespace

Ceilings measure_ceilings(TimingTools& tools, gpu::ShaderLibrary& shaders, const CeilingOptions& options) {
  const DeviceInfo& info = tools.device.info();
  Ceilings ceilings;
  ceilings.device_uuid = info.uuid;
  ceilings.driver = ceilings_driver(info);
  ceilings.kernels = ceilings_kernels(shaders);
  ceilings.measured_utc = utc_text(std::chrono::system_clock::now());
  const ProcessorUse use;
  Bench bench(tools, shaders, options, largest_footprint(info, options));
  const double dispatch_ns = bench.dispatch_ns();
  ceilings.dispatch_us = dispatch_ns / 1e3;
  ceilings.bandwidth = bandwidth_curve(bench, info, dispatch_ns);
  ceilings.cache_bytes = last_level_cache_bytes(ceilings.bandwidth);
  measure_arithmetic(bench, info, ceilings);
  ceilings.clock_ratio = bench.clock_ratio();
  ceilings.host_load = use.by_others();
  return ceilings;
}

std::string ceilings_driver(const DeviceInfo& device) {
  std::string driver = driver_of(device);
  if (!device.as_if.empty()) driver += " as " + device.as_if;  // it lacks features whose rates are measured
  if (!device.is_cpu()) return driver;
  const HostInfo host = host_info();
  return fmt::format("{} on {} cores of {}", driver, host.cores, host.cpu);
}

std::string ceilings_kernels(gpu::ShaderLibrary& shaders) {
  std::string all = fmt::format("method {}", method_version);
  for (const Program& program : ceiling::all_programs()) {
    for (const Dispatch& dispatch : program.dispatches) {
      all += ' ' + shaders.compile(dispatch.shader, dispatch.defines).hash;
    }
  }
  return hash_hex(all);
}

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
  std::error_code ignored;
  fs::create_directories(directory_, ignored);
  const std::string text = encode_ceilings(ceilings);
  try {
    replace_file(file, checksum_line(text) + '\n' + text);
  } catch (const Error&) {  // they are measured again by the next run
  }
}

fs::path default_ceiling_directory() {
  return cache_directory("ceilings");
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
