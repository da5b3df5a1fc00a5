#include "harness/commands/mutate/fault_list.h"

#include "harness/base/child_process.h"
#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/cases/select.h"
#include "harness/cases/yaml/nearest.h"
#include "harness/commands/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace assay::app {
namespace {

/// "@@ -10,2 +12,3 @@ ..." adds lines 12 to 14; without a second number one line.
void add_hunk(std::string_view line, std::set<int>& lines) {
  const std::size_t plus = line.find('+');
  if (plus == std::string_view::npos) return;
  const char* const end = line.data() + line.size();
  int first = 0;
  int count = 1;
  const auto [after, error] = std::from_chars(line.data() + plus + 1, end, first);
  if (error != std::errc{}) return;
  if (after != end && *after == ',') std::from_chars(after + 1, end, count);
  for (int i = 0; i < count; ++i) lines.insert(first + i);
}

bool take_output(int from, std::string& to) {
  std::array<char, 1 << 16> buffer;
  const ssize_t count = ::read(from, buffer.data(), buffer.size());
  if (count > 0) to.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0;
}

/// What git prints. Throws Error, beginning with `what`, if it fails.
std::string output_of_git(const std::filesystem::path& folder, const std::string& what,
                          std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"git", "-C", folder.string()});
  ChildProcess git(arguments);
  std::string output;
  std::string errors;
  for (auto end = git.end();; end = git.end()) {
    while (take_output(git.output(), output) || take_output(git.errors(), errors)) {
    }
    if (end && end->exit_code == 0 && end->signal == 0) return output;
    if (end) throw Error(fmt::format("{}: git {}: {}", what, to_string(*end), first_line(errors)));
    sleep_for_seconds(0.01);
  }
}

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

bool is_changed(const ChangedLines& changed, const std::string& file, int line) {
  const auto found = changed.find(file);
  return found != changed.end() && found->second.contains(line);
}

ChangedLines parse_diff(std::string_view diff) {
  ChangedLines changed;
  std::set<int>* lines = nullptr;
  while (!diff.empty()) {
    const std::size_t end = std::min(diff.find('\n'), diff.size());
    const std::string_view line = diff.substr(0, end);
    diff.remove_prefix(std::min(end + 1, diff.size()));
    if (line.starts_with("+++ b/")) {
      lines = &changed[std::string(line.substr(6))];
    } else if (line.starts_with("+++ ")) {
      lines = nullptr;  // the file is gone
    } else if (line.starts_with("@@ ") && lines != nullptr) {
      add_hunk(line, *lines);
    }
  }
  return changed;
}

std::string commit_named(const std::string& name, const std::filesystem::path& folder) {
  std::string commit = output_of_git(folder, fmt::format("finding the commit '{}'", shortened(name, 60)),
                                     {"rev-parse", "--verify", "--end-of-options", name + "^{commit}"});
  while (commit.ends_with('\n')) commit.pop_back();
  return commit;
}

ChangedLines changed_since(const std::string& commit, const std::filesystem::path& folder) {
  const std::string what =
      fmt::format("finding the lines of {} that changed since '{}'", folder.string(), shortened(commit, 60));
  ChangedLines changed = parse_diff(
      output_of_git(folder, what,
                    {"diff", "--unified=0", "--no-color", "--no-ext-diff", "--relative", "--src-prefix=a/",
                     "--dst-prefix=b/", "--end-of-options", commit, "--", "."}));
  const std::string files =
      output_of_git(folder, what, {"ls-files", "-z", "--others", "--exclude-standard", "--", "."});
  for (std::size_t at = 0; at < files.size(); at = files.find('\0', at) + 1) {
    const std::string name = files.c_str() + at;
    const auto count = std::ranges::count(whole_file(folder / name).value_or(""), '\n');
    for (int line = 1; line <= count + 1; ++line) changed[name].insert(line);
  }
  return changed;
}

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

std::string why_nothing_to_try(std::span<const mutation::Fault> all, const MutateOptions::Choice& choice,
                               const std::optional<ChangedLines>& changed) {
  constexpr std::size_t letters_of_commit = 12;
  if (all.empty()) return "no line of the shaders that were chosen can have a fault: there is nothing to try";
  const auto is_new = [&](const mutation::Fault& fault) {
    return changed && is_changed(*changed, fault.file, fault.line);
  };
  if (changed && std::ranges::none_of(all, is_new)) {
    const std::string where = choice.shaders.empty() ? fmt::format("'{}'", printable(choice.folder.string()))
                                                     : "the shaders that were chosen";
    return fmt::format(
        "nothing changed since {}: no line of {} that can have a fault; there is nothing to try",
        choice.since.substr(0, letters_of_commit), where);
  }
  return fmt::format("shard {} has no fault: there are fewer faults than shards; there is nothing to try",
                     choice.shard);
}

}  // namespace assay::app
