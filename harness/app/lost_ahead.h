#pragma once

namespace assay::app {

/// From now on a crash of a background thread (harness/base/parallel.h) ends this process with the exit code
/// that tells a supervisor so: a signal would tell of the row that runs meanwhile. Crashes of other threads
/// end it as before.
void exit_when_lost_ahead();

}  // namespace assay::app
