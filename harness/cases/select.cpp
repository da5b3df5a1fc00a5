#include "harness/cases/select.h"

#include <algorithm>
#include <unordered_map>

namespace assay {
namespace {

/// Returns whether one of the ':'-separated globs matches.
bool any_glob_matches(std::string_view globs, std::string_view text) {
  for (std::size_t begin = 0; begin <= globs.size();) {
    const std::size_t end = std::min(globs.find(':', begin), globs.size());
    const std::string_view glob = globs.substr(begin, end - begin);
    if (!glob.empty() && glob_matches(glob, text)) return true;
    begin = end + 1;
  }
  return false;
}

bool names_match(const std::vector<std::string>& globs, std::string_view name) {
  return globs.empty() || std::any_of(globs.begin(), globs.end(),
                                      [&](const std::string& glob) { return glob_matches(glob, name); });
}

bool has_mode(const Case& test_case, std::optional<Mode> mode) {
  if (!mode || *mode == Mode::Both || test_case.mode == Mode::Both) return true;
  return test_case.mode == *mode;
}

bool has_tier(const Case& test_case, const std::vector<Tier>& tiers) {
  return tiers.empty() || std::find(tiers.begin(), tiers.end(), test_case.tier) != tiers.end();
}

}  // namespace

// On a mismatch the last star takes one more character; earlier stars never need another try.
bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0;
  std::size_t after_star = std::string_view::npos, star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (after_star != std::string_view::npos) {
      p = after_star;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool filter_matches(std::string_view filter, std::string_view id) {
  const std::size_t dash = std::min(filter.find('-'), filter.size());
  const std::string_view positive = filter.substr(0, dash);
  const std::string_view negative = dash < filter.size() ? filter.substr(dash + 1) : std::string_view();
  return (positive.empty() || any_glob_matches(positive, id)) && !any_glob_matches(negative, id);
}

std::vector<const Case*> select(std::span<const Case> cases, const Selection& selection) {
  std::vector<const Case*> selected;
  for (const Case& test_case : cases) {
    const bool matches = filter_matches(selection.filter, test_case.id) &&
                         names_match(selection.impls, test_case.impl->name) &&
                         names_match(selection.ops, test_case.op->name) &&
                         has_mode(test_case, selection.mode) && has_tier(test_case, selection.tiers);
    if (matches) selected.push_back(&test_case);
  }
  return selected;
}

std::vector<Group> group_by_data(std::span<const Case* const> cases) {
  std::vector<Group> groups;
  std::unordered_map<std::uint64_t, std::size_t> index_of_key;
  index_of_key.reserve(cases.size());
  for (const Case* test_case : cases) {
    const auto [found, is_new] = index_of_key.emplace(test_case->data_key, groups.size());
    if (is_new) groups.emplace_back();
    groups[found->second].cases.push_back(test_case);
  }
  return groups;
}

}  // namespace assay
