#pragma once

#include <string>

namespace assay {

/// The machine that this process runs on; "unknown" where the system does not tell.
struct HostInfo {
  std::string name;  ///< of the machine
  std::string os;    ///< "Debian GNU/Linux 12 (bookworm)"
  std::string cpu;   ///< "AMD EPYC 9654 96-Core Processor"
  int cores = 0;     ///< threads that run at the same time
};
HostInfo host_info();

}  // namespace assay
