#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace assay {

/// Tells the power or the energy of a device. Not thread-safe.
class EnergyMeter {
 public:
  enum class Kind : std::uint8_t {
    Power,   ///< readings are in watts
    Counter  ///< readings are in joules since some moment; they never fall
  };

  virtual ~EnergyMeter() = default;
  EnergyMeter() = default;
  EnergyMeter(const EnergyMeter&) = delete;
  EnergyMeter& operator=(const EnergyMeter&) = delete;

  /// Takes a reading. Throws Error, which says what was read and why that failed.
  virtual double read() = 0;
  virtual Kind kind() const = 0;
  /// What tells the readings, and what they cover: "RAPL package-0 (the processor)".
  virtual std::string source() const = 0;
  /// A reading of power may be the mean of so many seconds before it.
  virtual double averaged_s() const { return 0; }
};

/// The device's meter, or why it has none.
struct FoundMeter {
  std::unique_ptr<EnergyMeter> meter;  ///< null: there is none
  std::string why_not;                 ///< "NVML: ...; hwmon: ..."
};

}  // namespace assay
