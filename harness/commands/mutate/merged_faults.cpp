#include "harness/commands/mutate/merged_faults.h"

#include "harness/base/error.h"
#include "harness/base/text.h"
#include "harness/commands/run_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace assay::app {
namespace {

namespace fs = std::filesystem;

Error wrong_shard(const fs::path& folder, const std::string& what) {
  return Error(fmt::format("merging shards of assay mutate: {}: {}", printable_line(folder.string()), what));
}

/// What shards of one run have in common, by name, in the order in which it is compared.
std::vector<std::pair<const char*, std::string>> shared_by_shards(const FaultRun& run) {
  const MutateOptions::Choice& choice = run.choice;
  std::vector<std::string> cases;
  for (const fs::path& path : choice.cases) cases.push_back(path.string());
  return {{"the binary", run.version},
          {"the device", run.device},
          {"the driver", run.driver},
          {"the shaders on the command line", fmt::format("{}", fmt::join(choice.shaders, " "))},
          {"--shaders", choice.folder.string()},
          {"--ops", choice.op_folder.string()},
          {"--seed", std::to_string(choice.seed)},
          {"--limit", std::to_string(choice.per_file)},
          {"--since", choice.since},
          {"--rows", std::to_string(choice.rows)},
          {"--cases", fmt::format("{}", fmt::join(cases, " "))},
          {"the hash of the shaders", run.sources},
          {"the hash of the rows", run.rows}};
}

/// Throws Error with the first difference.
void check_one_run(const FaultRun& first, const fs::path& folder, const FaultRun& other) {
  const auto ours = shared_by_shards(first);
  const auto theirs = shared_by_shards(other);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].second == theirs[i].second) continue;
    throw wrong_shard(folder, fmt::format("it is no part of the first one's run: {} is '{}', and '{}' there",
                                          ours[i].first, shortened(printable_line(theirs[i].second), 80),
                                          shortened(printable_line(ours[i].second), 80)));
  }
}

/// Reads a shard, which must be one of `count` (0: of any number).
std::pair<Shard, FaultJournalContent> read_shard(const fs::path& folder, int count) {
  FaultJournalContent content = read_fault_journal(fault_journal_in(folder));
  if (content.run.choice.shard.empty())
    throw wrong_shard(folder, "its run is a whole one, as it had no --shard");
  const Shard shard = parse_shard(content.run.choice.shard);
  if (count != 0 && shard.count != count)
    throw wrong_shard(folder, fmt::format("it is one of {} shards, the first one of {}", shard.count, count));
  return {shard, std::move(content)};
}

}  // namespace

FaultJournalContent merged_faults(std::span<const fs::path> folders, std::ostream& log) {
  FaultJournalContent merged;
  std::map<int, fs::path> seen;
  int count = 0;
  for (const fs::path& folder : folders) {
    auto [shard, content] = read_shard(folder, count);
    const auto [place, is_new] = seen.emplace(shard.index, folder);
    if (!is_new) {
      throw wrong_shard(folder, fmt::format("{} has shard {} too", printable_line(place->second.string()),
                                            content.run.choice.shard));
    }
    if (count == 0) {
      count = shard.count;
      merged.run = content.run;
    }
    check_one_run(merged.run, folder, content.run);
    std::move(content.results.begin(), content.results.end(), std::back_inserter(merged.results));
  }
  for (int index = 1; index <= count; ++index) {
    if (!seen.contains(index))
      log << fmt::format("shard {}/{} is missing: its faults, if it has any, were not run\n", index, count);
  }
  merged.run.choice.shard.clear();
  return merged;
}

}  // namespace assay::app
