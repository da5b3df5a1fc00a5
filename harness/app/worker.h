#pragma once

#include "harness/app/context.h"
#include "harness/app/run_options.h"

#include <functional>
#include <string>
#include <vector>

namespace assay::app {

/// Options of a command line "assay", "run", ... Throws Error(Usage).
using ParseRun = std::function<RunOptions(const std::vector<std::string>& command)>;

/// Lets this process take at most so many GiB for data (heap, stacks, private mappings; not what drivers map
/// of their devices): "0.5". What asks for more fails. Throws Error(Usage) for what is no number above 0.
void limit_memory(const std::string& gib);

/// `assay worker`: runs what a supervisor asks for on stdin and tells it on stdout, in the protocol of
/// harness/engine/workers/protocol.h. What libraries and drivers print to stdout goes to stderr. Leaves the
/// process when the supervisor has said stop, and when stdin ends.
[[noreturn]] void serve_worker(const Context& context, const ParseRun& parse);

}  // namespace assay::app
