#pragma once

#include "harness/commands/mutate/options.h"
#include "harness/gpu/shaders/shader_sources.h"
#include "harness/mutation/faults.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::app {

/// The lines of each file that a commit did not have, by path.
using ChangedLines = std::map<std::string, std::set<int>>;

bool is_changed(const ChangedLines& changed, const std::string& file, int line);

/// The lines that a diff without context ("git diff --unified=0") adds.
ChangedLines parse_diff(std::string_view diff);

/// The hash of the commit that a name stands for now, in the repository that holds `folder`. Throws Error if
/// there is none.
std::string commit_named(const std::string& name, const std::filesystem::path& folder);

/// The lines of a folder's files that changed since a commit, by path below the folder; changes that are not
/// committed count. Throws Error if git cannot say.
ChangedLines changed_since(const std::string& commit, const std::filesystem::path& folder);

/// The faults of those of the shaders `paths` that a choice names (empty: all), file after file: what a list
/// of equivalent faults refers to. Throws Error if a name matches no shader.
std::vector<mutation::Fault> all_faults(const gpu::ShaderSources& sources, const std::set<std::string>& paths,
                                        const std::vector<std::string>& choice);

/// The faults that a run tries, in their order: of each file as many as the choice allows, only those on
/// changed lines if lines are given, all files mixed, the shard's part.
std::vector<mutation::Fault> drawn_faults(std::vector<mutation::Fault> all,
                                          const MutateOptions::Choice& choice,
                                          const std::optional<ChangedLines>& changed);

/// Why drawn_faults() gives none of these faults, as a sentence: no line can have one, nothing changed since
/// the commit, or the shard got none.
std::string why_nothing_to_try(std::span<const mutation::Fault> all, const MutateOptions::Choice& choice,
                               const std::optional<ChangedLines>& changed);

}  // namespace assay::app
