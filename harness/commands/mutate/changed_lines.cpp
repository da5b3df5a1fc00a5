#include "harness/commands/mutate/changed_lines.h"

#include "harness/base/child_process.h"
#include "harness/base/clock.h"
#include "harness/base/error.h"
#include "harness/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <unistd.h>

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

ChangedLines changed_since(const std::string& commit, const std::filesystem::path& folder) {
  ChildProcess git({"git", "-C", folder.string(), "diff", "--unified=0", "--no-color", "--no-ext-diff",
                    "--relative", "--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", commit, "--",
                    "."});
  std::string diff;
  std::string errors;
  for (auto end = git.end();; end = git.end()) {
    while (take_output(git.output(), diff) || take_output(git.errors(), errors)) {
    }
    if (end && end->exit_code == 0 && end->signal == 0) return parse_diff(diff);
    if (end)
      throw Error(fmt::format("finding the lines of {} that changed since '{}': git {}: {}", folder.string(),
                              shortened(commit, 60), to_string(*end), first_line(errors)));
    sleep_for_seconds(0.01);
  }
}

}  // namespace assay::app
