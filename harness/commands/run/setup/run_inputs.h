#pragma once

#include "harness/cases/expansion/load.h"
#include "harness/commands/run_options.h"

#include <map>
#include <optional>
#include <string>

namespace assay::app {

/// Computes RunInfo::inputs for a run of `options` with these cases.
std::map<std::string, std::string> run_inputs(const RunOptions& options, const LoadResult& loaded);

/// The inputs that differ between two runs, for a sentence: "the case files", "the array in data/x.npy";
/// nullopt if none does. Inputs that only one of the runs has are ignored.
std::optional<std::string> different_inputs(const std::map<std::string, std::string>& before,
                                            const std::map<std::string, std::string>& now);

/// The inputs of one run that another does not have, likewise; nullopt if nothing is known about the other's.
std::optional<std::string> inputs_of_one_only(const std::map<std::string, std::string>& one,
                                              const std::map<std::string, std::string>& other);

}  // namespace assay::app
