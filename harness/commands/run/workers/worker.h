#pragma once

#include "harness/commands/context.h"

#include <string>

namespace assay::app {

/// Limits this process's memory for data (heap, stacks, private mappings; not the mappings of devices by
/// drivers) to `gib` GiB: "0.5". Larger allocations fail. Throws Error(Usage) if `gib` is not a number above
/// 0.
void limit_memory(const std::string& gib);

/// `assay worker`: reads a supervisor's requests on stdin and sends events on stdout, in the protocol of
/// harness/engine/supervision/protocol.h. Output of libraries and drivers to stdout goes to stderr. Ends the
/// process on a stop request, and when stdin ends.
[[noreturn]] void serve_worker(const Context& context);

}  // namespace assay::app
