#pragma once

#include <cstdint>
#include <string>

namespace assay {

/// Describes the machine that this process runs on; "unknown" where the system does not say.
struct HostInfo {
  std::string name;  ///< the machine's
  std::string os;    ///< such as "Debian GNU/Linux 12 (bookworm)"
  std::string cpu;   ///< such as "AMD EPYC 9654 96-Core Processor"
  int cores = 0;     ///< hardware threads
};
HostInfo host_info();

/// Returns the bytes of memory of the machine, or of this process's control group if that is limited to
/// fewer; 0 if the system does not say.
std::uint64_t host_memory_bytes();

/// Measures from its construction on how busy the machine's processors are, from /proc/stat.
class ProcessorUse {
 public:
  ProcessorUse();

  /// Returns the share of all processors' time that other processes used, from 0 to 1; 0 if the system does
  /// not report it, or if less time has passed than it counts (10 ms).
  double by_others() const;

 private:
  /// Times in seconds, summed over processors.
  struct Times {
    double busy = 0;
    double idle = 0;
    double own = 0;
  };
  static Times now();

  Times start_;
};

}  // namespace assay
