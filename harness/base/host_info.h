#pragma once

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

}  // namespace assay
