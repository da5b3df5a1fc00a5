#pragma once

namespace assay::gpu {

/// To be called when a device hangs. From then on std::exit() and a return from main() flush the standard
/// streams and leave at once with their exit code, without the static destructors and exit handlers that
/// were there before this call: among those are the driver's, and some wait for the GPU for ever (seen with
/// NVIDIA 580; the kernel itself ends a hung context within seconds once the process is gone). Needs glibc;
/// does nothing elsewhere.
void leave_at_once_on_exit();

}  // namespace assay::gpu
