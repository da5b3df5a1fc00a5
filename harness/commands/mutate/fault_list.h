#pragma once

#include "harness/commands/mutate/changed_lines.h"
#include "harness/commands/mutate/options.h"
#include "harness/gpu/shaders/shader_sources.h"
#include "harness/mutation/faults.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace assay::app {

/// The faults of those of the shaders `paths` that a choice names (empty: all), file after file: what a list
/// of equivalent faults refers to. Throws Error if a name matches no shader.
std::vector<mutation::Fault> all_faults(const gpu::ShaderSources& sources, const std::set<std::string>& paths,
                                        const std::vector<std::string>& choice);

/// The faults that a run tries, in their order: of each file as many as the choice allows, only those on
/// changed lines if lines are given, all files mixed, the shard's part.
std::vector<mutation::Fault> drawn_faults(std::vector<mutation::Fault> all,
                                          const MutateOptions::Choice& choice,
                                          const std::optional<ChangedLines>& changed);

}  // namespace assay::app
