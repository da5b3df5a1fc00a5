#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

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

}  // namespace assay::app
