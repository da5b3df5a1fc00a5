#include "harness/commands/loaded_cases.h"

#include "harness/base/error.h"
#include "harness/cases/expansion/node_cases.h"
#include "harness/commands/read_node_times.h"
#include "harness/commands/varied_cases.h"

#include <ostream>
#include <utility>

namespace assay::app {

LoadResult load(const CaseOptions& options, std::span<const std::filesystem::path> paths,
                const Registry& registry) {
  LoadOptions how{.seed = options.seed};
  if (!options.times.empty()) how.node_times = read_node_times(options.times);
  const auto load_once = [&](const LoadOptions& with) {
    LoadResult loaded = load_cases(paths, registry, with);
    loaded.node_times = with.node_times;
    if (options.nodes) loaded.cases = node_cases(loaded.cases);
    return loaded;
  };
  if (options.nodes && !options.values.empty()) {
    throw Error(
        "choosing cases: --set changes cases as their files have them, and --nodes takes the nodes of chains "
        "instead: give one of both");
  }
  VariedCases varied =
      options.values.empty() ? VariedCases{load_once(how)} : with_values(options, how, load_once);
  if (options.replays)
    varied.loaded.cases = replayed_cases(options, std::move(varied.loaded.cases), varied.are_selected);
  return std::move(varied.loaded);
}

std::vector<const Case*> selected_cases(const CaseOptions& options, std::span<const Case> loaded) {
  if (options.values.empty() && !options.replays) return select(loaded, options.selection());
  return select(loaded, {});  // load() has selected, as the ids have changed since
}

LoadResult load_and_complain(const CaseOptions& options, const Registry& registry, std::ostream& errors) {
  LoadResult loaded = load(options, options.paths(), registry);
  for (const Diagnostic& error : loaded.errors) errors << to_string(error) << '\n';
  if (!loaded.errors.empty()) {
    errors << loaded.errors.size() << (loaded.errors.size() == 1 ? " error" : " errors")
           << (options.values.empty() ? " in case files" : " in case files or --set")
           << "; the other cases are used, and the exit code will be 2\n";
  }
  return loaded;
}

}  // namespace assay::app
