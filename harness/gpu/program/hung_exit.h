#pragma once

namespace assay::gpu {

/// Call this when a device hangs. From then on std::exit() and a return from main() flush the standard
/// streams and exit immediately with their exit code. Static destructors and exit handlers that were
/// registered before this call do not run: some drivers register handlers that wait for the GPU forever (seen
/// with NVIDIA 580; the kernel ends a hung context within seconds once the process is gone). Needs glibc;
/// does nothing elsewhere.
void leave_at_once_on_exit();

}  // namespace assay::gpu
