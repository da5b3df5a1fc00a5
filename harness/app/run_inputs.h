#pragma once

#include "harness/app/run_options.h"

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace assay::app {

/// RunInfo::inputs of a run of `options` whose cases are from `files`.
std::map<std::string, std::string> run_inputs(const RunOptions& options,
                                              std::span<const std::filesystem::path> files);

/// "the case files", "the binary": which of the inputs of two runs differ, for a sentence; nothing where none
/// does. What one of them does not know is passed over.
std::optional<std::string> different_inputs(const std::map<std::string, std::string>& before,
                                            const std::map<std::string, std::string>& now);

}  // namespace assay::app
