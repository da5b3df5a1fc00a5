#pragma once

#include "harness/chain/node_times.h"

#include <filesystem>
#include <memory>

namespace assay::app {

/// Reads the times of a report's rows that passed with assay's own kernels, hot and untuned; `report` is a
/// path as for journals_of(), with one device. Throws Error if there is no such report, it is damaged, its
/// device checked memory accesses, or no row of it has such a time.
std::shared_ptr<const chain::NodeTimes> read_node_times(const std::filesystem::path& report);

}  // namespace assay::app
