#pragma once

#include "harness/app/run_options.h"
#include "harness/cases/load.h"

#include <map>
#include <optional>
#include <string>

namespace assay::app {

/// RunInfo::inputs of a run of `options` with these cases.
std::map<std::string, std::string> run_inputs(const RunOptions& options, const LoadResult& loaded);

/// "the case files", "the array in data/x.npy": which of the inputs of two runs differ, for a sentence;
/// nothing where none does. What one of them does not know is passed over.
std::optional<std::string> different_inputs(const std::map<std::string, std::string>& before,
                                            const std::map<std::string, std::string>& now);

}  // namespace assay::app
