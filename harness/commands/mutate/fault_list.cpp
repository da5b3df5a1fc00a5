#include "harness/commands/mutate/fault_list.h"

#include "harness/base/error.h"
#include "harness/cases/select.h"
#include "harness/cases/yaml/nearest.h"
#include "harness/commands/shard_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace assay::app {
namespace {

/// A path, or the name of a file in whatever folder it is.
bool is_named(const std::string& path, const std::string& pattern) {
  const std::string name = std::filesystem::path(path).filename();
  return glob_matches(pattern, path) || glob_matches(pattern, name);
}

std::vector<std::string> selected(const std::set<std::string>& paths,
                                  const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    if (std::ranges::any_of(paths, [&](const std::string& path) { return is_named(path, pattern); }))
      continue;
    std::vector<std::string> names(paths.begin(), paths.end());
    for (const std::string& path : paths) names.push_back(std::filesystem::path(path).filename());
    const std::string meant = cases::nearest(pattern, names);
    throw Error(fmt::format("choosing shaders: none is named '{}'{}", pattern,
                            meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant)));
  }
  std::vector<std::string> found;
  std::ranges::copy_if(paths, std::back_inserter(found), [&](const std::string& path) {
    return patterns.empty() ||
           std::ranges::any_of(patterns, [&](const std::string& pattern) { return is_named(path, pattern); });
  });
  return found;
}

std::vector<mutation::Fault> faults_in(const gpu::ShaderSources& sources, const std::string& path) {
  const auto source = sources.find(path);
  if (!source) return {};
  const auto closure = sources.closure(path);
  std::vector<std::string_view> included;
  for (const auto& [name, one] : closure) {
    if (one.path != path) included.push_back(one.text);
  }
  return mutation::faults_of(path, source->text, included);
}

}  // namespace

std::vector<mutation::Fault> all_faults(const gpu::ShaderSources& sources, const std::set<std::string>& paths,
                                        const std::vector<std::string>& choice) {
  std::vector<mutation::Fault> all;
  for (const std::string& path : selected(paths, choice))
    std::ranges::move(faults_in(sources, path), std::back_inserter(all));
  return all;
}

std::vector<mutation::Fault> drawn_faults(std::vector<mutation::Fault> all,
                                          const MutateOptions::Choice& choice,
                                          const std::optional<ChangedLines>& changed) {
  if (changed) {
    std::erase_if(
        all, [&](const mutation::Fault& fault) { return !is_changed(*changed, fault.file, fault.line); });
  }
  std::map<std::string, std::size_t> drawn;
  std::vector<mutation::Fault> kept;
  for (mutation::Fault& fault : mutation::shuffled(std::move(all), choice.seed)) {
    if (choice.per_file == 0 || drawn[fault.file]++ < choice.per_file) kept.push_back(std::move(fault));
  }
  if (choice.shard.empty()) return kept;
  const Shard shard = parse_shard(choice.shard);
  std::vector<mutation::Fault> part;
  for (std::size_t i = static_cast<std::size_t>(shard.index) - 1; i < kept.size();
       i += static_cast<std::size_t>(shard.count))
    part.push_back(std::move(kept[i]));
  return part;
}

}  // namespace assay::app
