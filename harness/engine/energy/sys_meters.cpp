#include "harness/engine/energy/sys_meters.h"

#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr double micro = 1e-6;
constexpr std::size_t most_bytes = 4096;  // a file of /sys has a page at most

std::string text_in(const fs::path& file) {
  const std::optional<std::string> text = whole_file(file, most_bytes);
  if (!text) throw_file_error("read", file, errno);
  const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
  const auto end = std::find_if_not(text->rbegin(), text->rend(), is_space).base();
  return {text->begin(), end};
}

/// The text of a file that may be missing.
std::string text_or_empty(const fs::path& file) try { return text_in(file); } catch (const Error&) {
  return "";
}

std::int64_t number_in_file(const fs::path& file) {
  const std::string text = text_in(file);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size())
    throw Error(fmt::format("{} has '{}' where a whole number is due", file.string(), printable_line(text)));
  return value;
}

double not_negative(const fs::path& file) {
  const std::int64_t value = number_in_file(file);
  if (value < 0) throw Error(fmt::format("{} has {}, which is negative", file.string(), value));
  return static_cast<double>(value);
}

/// A meter whose reading is a function of files.
class FileMeter : public EnergyMeter {
 public:
  FileMeter(std::string source, Kind kind, std::function<double()> reading)
      : source_(std::move(source)), kind_(kind), reading_(std::move(reading)) {}

  double read() override { return reading_(); }
  Kind kind() const override { return kind_; }
  std::string source() const override { return source_; }

 private:
  std::string source_;
  Kind kind_;
  std::function<double()> reading_;
};

/// The meter if a first reading succeeds. Nothing takes 0 W: a sensor that says so does not measure.
FoundMeter tried(std::string source, EnergyMeter::Kind kind, std::function<double()> reading) try {
  auto meter = std::make_unique<FileMeter>(std::move(source), kind, std::move(reading));
  const double first = meter->read();
  if (kind == EnergyMeter::Kind::Power && first == 0)
    return {nullptr, fmt::format("{} reads 0 W", meter->source())};
  return {std::move(meter), ""};
} catch (const Error& error) {
  return {nullptr, error.what()};
}

/// A counter of a package in microjoules, which begins again after its largest value.
class RaplZone {
 public:
  explicit RaplZone(fs::path folder) : folder_(std::move(folder)) {}

  double joules() {
    const double now = not_negative(folder_ / "energy_uj");
    if (last_ && now < *last_) before_ += range();
    last_ = now;
    return (before_ + now) * micro;
  }

 private:
  double range() const {
    const double range = not_negative(folder_ / "max_energy_range_uj");
    if (*last_ <= range) return range;
    throw Error(fmt::format("{} fell from {:.0f}, which is more than the {:.0f} of max_energy_range_uj",
                            (folder_ / "energy_uj").string(), *last_, range));
  }

  fs::path folder_;
  std::optional<double> last_;
  double before_ = 0;  ///< what the counter had reached each time it began again
};

/// "package-0": the zones of other names (psys, dram, core) are parts of these or more than these.
std::vector<fs::path> rapl_packages(const fs::path& sys) {
  std::vector<fs::path> packages;
  for (const fs::path& zone : sorted_entries(sys / "class/powercap")) {
    const std::string folder = zone.filename().string();
    // intel-rapl-mmio has the same counters once more.
    if (!folder.starts_with("intel-rapl:") || folder.find(':') != folder.rfind(':')) continue;
    if (text_or_empty(zone / "name").starts_with("package")) packages.push_back(zone);
  }
  return packages;
}

double battery_watts(const fs::path& battery) {
  const std::string status = text_in(battery / "status");
  if (status != "Discharging") {
    throw Error(fmt::format("{} is '{}', so that it does not tell what the machine takes",
                            battery.filename().string(), printable_line(status)));
  }
  // Drivers differ in the sign of what flows out.
  std::error_code error;
  if (fs::exists(battery / "power_now", error))
    return std::abs(static_cast<double>(number_in_file(battery / "power_now"))) * micro;
  const double amperes = std::abs(static_cast<double>(number_in_file(battery / "current_now"))) * micro;
  return amperes * not_negative(battery / "voltage_now") * micro;
}

}  // namespace

FoundMeter hwmon_meter(const DeviceInfo& device, const fs::path& sys) {
  if (device.pci_address.empty()) return {nullptr, "the driver does not report the device's PCI address"};
  const fs::path folder = sys / "bus/pci/devices" / device.pci_address / "hwmon";
  constexpr std::array files{"energy1_input", "power1_average", "power1_input"};
  std::vector<std::string> why_not;
  for (const fs::path& sensor : sorted_entries(folder)) {
    for (const std::string file : files) {
      std::error_code error;
      if (!fs::exists(sensor / file, error)) continue;
      FoundMeter found = tried(fmt::format("hwmon {} {} (what the driver's sensor covers)",
                                           printable_line(text_or_empty(sensor / "name")), file),
                               file == files[0] ? EnergyMeter::Kind::Counter : EnergyMeter::Kind::Power,
                               [path = sensor / file] { return not_negative(path) * micro; });
      if (found.meter) return found;
      why_not.push_back(found.why_not);
    }
  }
  if (!why_not.empty()) return {nullptr, fmt::format("{}", fmt::join(why_not, ", "))};
  return {nullptr, fmt::format("{} has no {}", folder.string(), fmt::join(files, ", "))};
}

FoundMeter rapl_meter(const fs::path& sys) {
  const std::vector<fs::path> packages = rapl_packages(sys);
  if (packages.empty())
    return {nullptr, fmt::format("{} has no zone of a package", (sys / "class/powercap").string())};
  std::vector<std::string> names;
  std::vector<RaplZone> zones;
  for (const fs::path& package : packages) {
    names.push_back(printable_line(text_or_empty(package / "name")));
    zones.emplace_back(package);
  }
  return tried(fmt::format("RAPL {} (the processor, with all that runs on it)", fmt::join(names, " + ")),
               EnergyMeter::Kind::Counter, [zones]() mutable {
                 double joules = 0;
                 for (RaplZone& zone : zones) joules += zone.joules();
                 return joules;
               });
}

FoundMeter battery_meter(const fs::path& sys) {
  std::vector<std::string> why_not;
  for (const fs::path& supply : sorted_entries(sys / "class/power_supply")) {
    // A battery of a mouse or a keyboard is one of a device.
    if (text_or_empty(supply / "type") != "Battery" || text_or_empty(supply / "scope") == "Device") continue;
    FoundMeter found =
        tried(fmt::format("battery {} (the whole machine)", printable_line(supply.filename().string())),
              EnergyMeter::Kind::Power, [supply] { return battery_watts(supply); });
    if (found.meter) return found;
    why_not.push_back(found.why_not);
  }
  if (!why_not.empty()) return {nullptr, fmt::format("{}", fmt::join(why_not, ", "))};
  return {nullptr, fmt::format("{} has no battery", (sys / "class/power_supply").string())};
}

}  // namespace assay
