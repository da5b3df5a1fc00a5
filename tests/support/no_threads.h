#pragma once

#include <sys/resource.h>
#include <unistd.h>

namespace assay::test {

/// Makes the system refuse new threads to this process, as `ulimit -u` does. Only for a process that ends
/// soon: as root it becomes another user, because root has no such limit. Returns whether that worked.
inline bool refuse_new_threads() {
  constexpr uid_t nobody = 65534;
  const rlimit none{0, 0};
  return (::geteuid() != 0 || ::setuid(nobody) == 0) && ::setrlimit(RLIMIT_NPROC, &none) == 0;
}

}  // namespace assay::test
