#pragma once

namespace assay::app {

/// From now on a crash of a background thread (harness/base/parallel.h) ends this process with an exit code
/// of its own for the supervisor: a signal would be blamed on the row that is running. Crashes of other
/// threads end the process as before.
void exit_when_lost_ahead();

}  // namespace assay::app
