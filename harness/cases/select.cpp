#include "harness/cases/select.h"

#include "harness/base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace assay {
namespace {

std::vector<std::string_view> globs_of(std::string_view text) {
  std::vector<std::string_view> globs;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    if (end > begin) globs.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return globs;
}

bool any_glob_matches(std::span<const std::string_view> globs, std::string_view text) {
  return std::ranges::any_of(globs, [&](std::string_view glob) { return glob_matches(glob, text); });
}

/// Whether `matches` is true of an id of the case's rows. Most cases have their own id alone, which is not
/// copied.
template <class Matches>
bool any_row_id(const Case& test_case, const Matches& matches) {
  const bool has_cold_rows = test_case.mode != Mode::Accu && test_case.caches != Caches::Hot;
  return matches(test_case.id) || (has_cold_rows && matches(test_case.id + "/cold"));
}

/// A GoogleTest filter.
struct Filter {
  explicit Filter(std::string_view text) {
    const std::size_t dash = std::min(text.find('-'), text.size());
    is_positive = dash > 0;
    positive = globs_of(text.substr(0, dash));
    if (dash < text.size()) negative = globs_of(text.substr(dash + 1));
  }

  bool passes(std::string_view id) const {
    return (!is_positive || any_glob_matches(positive, id)) && !any_glob_matches(negative, id);
  }
  bool passes(const Case& test_case) const {
    const auto any_matches = [&](const std::vector<std::string_view>& globs) {
      return any_row_id(test_case, [&](std::string_view id) { return any_glob_matches(globs, id); });
    };
    return (!is_positive || any_matches(positive)) && !any_matches(negative);
  }

  bool is_positive = false;  ///< "" passes all ids, ":" none
  std::vector<std::string_view> positive, negative;
};

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

constexpr std::size_t most_named = 3;
constexpr std::size_t longest_glob = 200;
constexpr std::size_t fewest_letters = 3;  // shorter globs are near to everything

/// Returns the number of letters that must match exactly.
std::size_t literal_letters(std::string_view glob) {
  return static_cast<std::size_t>(std::ranges::count_if(glob, [](char c) { return c != '*' && c != '?'; }));
}

std::vector<std::string_view> matched(std::string_view glob, std::span<const std::string_view> ids) {
  std::vector<std::string_view> found;
  std::ranges::copy_if(ids, std::back_inserter(found),
                       [&](std::string_view id) { return glob_matches(glob, id); });
  return found;
}

/// Returns the ids at the least distance, which is at most a third of the glob's letters.
std::vector<std::string_view> nearest_ids(std::string_view glob, std::span<const std::string_view> ids) {
  std::vector<std::string_view> found;
  std::size_t least = std::max<std::size_t>(1, literal_letters(glob) / 3);
  for (const std::string_view id : ids) {
    const std::size_t distance = glob_distance(glob, id, least);
    if (distance > least) continue;
    if (distance < least) found.clear();
    least = distance;
    found.push_back(id);
  }
  return found;
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
  return Filter(filter).passes(id);
}

bool filter_matches(std::string_view filter, const Case& test_case) {
  return Filter(filter).passes(test_case);
}

std::vector<std::string_view> unmatched_globs(std::string_view filter, std::span<const Case> cases) {
  std::vector<std::string_view> left = Filter(filter).positive;
  const std::size_t all = left.size();
  for (const Case& test_case : cases) {
    if (left.empty()) break;
    std::erase_if(left, [&](std::string_view glob) {
      return any_row_id(test_case, [&](std::string_view id) { return glob_matches(glob, id); });
    });
  }
  return left.size() == all ? std::vector<std::string_view>{} : left;
}

std::vector<const Case*> select(std::span<const Case> cases, const Selection& selection) {
  const Filter filter(selection.filter);
  std::vector<const Case*> selected;
  for (const Case& test_case : cases) {
    const bool matches = filter.passes(test_case) && names_match(selection.impls, test_case.impl->name) &&
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

// Computes the optimal string alignment as edit_distance() does, except that a star matches any text at no
// cost. It proceeds through the glob row by row.
std::size_t glob_distance(std::string_view glob, std::string_view text, std::size_t most) {
  std::vector<std::size_t> before(text.size() + 1), last(text.size() + 1), row(text.size() + 1);
  for (std::size_t j = 0; j <= text.size(); ++j) last[j] = j;
  for (std::size_t i = 0; i < glob.size(); ++i) {
    const char letter = glob[i];
    const bool is_star = letter == '*';
    row[0] = last[0] + (is_star ? 0 : 1);
    for (std::size_t j = 1; j <= text.size(); ++j) {
      if (is_star) {
        row[j] = std::min(last[j], row[j - 1]);
      } else {
        const bool is_same = letter == '?' || letter == text[j - 1];
        row[j] = std::min({last[j - 1] + (is_same ? 0 : 1), last[j] + 1, row[j - 1] + 1});
        const bool is_swapped = i > 0 && j > 1 && letter == text[j - 2] && glob[i - 1] == text[j - 1];
        if (is_swapped) row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    if (*std::ranges::min_element(row) > most) return most + 1;
    std::swap(before, last);
    std::swap(last, row);
  }
  return std::min(last[text.size()], most + 1);
}

std::string near_ids_text(std::string_view glob, std::span<const std::string_view> ids) {
  if (literal_letters(glob) < fewest_letters || glob.size() > longest_glob) return "";
  const std::string inside = fmt::format("*{}*", glob);
  if (const auto found = matched(inside, ids); !found.empty())
    return fmt::format("; '{}' would match {}, such as {}", printable(inside), found.size(), found.front());
  std::vector<std::string_view> found = nearest_ids(glob, ids);
  if (found.empty()) found = nearest_ids(inside, ids);
  return found.empty() ? "" : "; the nearest: " + first_names({found.begin(), found.end()}, most_named);
}

std::string near_filter_text(std::string_view filter, std::span<const std::string_view> ids) {
  std::string text;
  for (const std::string_view glob : Filter(filter).positive) text += near_ids_text(glob, ids);
  return text;
}

}  // namespace assay
